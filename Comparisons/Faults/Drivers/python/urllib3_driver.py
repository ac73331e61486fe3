"""The driver of Python's urllib3."""
import urllib3

import common

FEATURES = ["http1", "tls", "proxy", "decode", "timeout", "retry", "concurrency", "limit", "fields", "redirects"]


def open_client(case):
    options = {"ca_certs": case["authority"]}
    if "connections" in case["client"]:
        options.update(maxsize=case["client"]["connections"], block=True)
    if "proxy" not in case["client"]:
        return urllib3.PoolManager(**options)
    proxy = urllib3.util.parse_url(case["client"]["proxy"])
    if proxy.auth:
        options["proxy_headers"] = urllib3.make_headers(proxy_basic_auth=proxy.auth)
    return urllib3.ProxyManager(f"http://{proxy.netloc}", **options)


def call(pool, case, call):
    options, fields = {}, dict(call["fields"])
    if "decode" in case["needs"]:
        fields.update(urllib3.make_headers(accept_encoding=True))
    if "retry" in case["needs"]:
        options["retries"] = urllib3.Retry(total=3, backoff_factor=0.1, status_forcelist=[502, 503, 504])
    if "deadline" in call:
        options["timeout"] = urllib3.Timeout(total=call["deadline"] / 1000)
        options["pool_timeout"] = call["deadline"] / 1000
    if "body" in call:
        options["body"] = call["body"].encode("latin-1")
    response = pool.request(call["method"], call["url"], headers=fields, **options)
    return response.status, response.data, response.headers


common.run_in_threads(f"urllib3 {urllib3.__version__}", FEATURES, open_client, call)
