"""The driver of Python's requests."""
import requests, requests.adapters, urllib3

import common

FEATURES = ["http1", "tls", "proxy", "proxy-environment", "cookies", "decode", "timeout", "retry", "concurrency", "limit", "fields", "redirects"]


def open_client(case):
    session, options = requests.Session(), {}
    if "connections" in case["client"]:
        options.update(pool_maxsize=case["client"]["connections"], pool_block=True)
    if "retry" in case["needs"]:
        options.update(max_retries=urllib3.Retry(total=3, backoff_factor=0.1, status_forcelist=[502, 503, 504]))
    if options:
        for scheme in ("http://", "https://"):
            session.mount(scheme, requests.adapters.HTTPAdapter(**options))
    if "proxy" in case["client"]:
        session.proxies = {"http": case["client"]["proxy"], "https": case["client"]["proxy"]}
    return session


def call(session, case, call):
    options = {"timeout": call["deadline"] / 1000} if "deadline" in call else {}
    if "body" in call:
        options["data"] = call["body"].encode("latin-1")
    response = session.request(call["method"], call["url"], headers=dict(call["fields"]), verify=case["authority"], **options)
    return response.status_code, response.content, response.headers


common.run_in_threads(f"requests {requests.__version__}, urllib3 {urllib3.__version__}", FEATURES, open_client, call)
