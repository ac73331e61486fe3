"""The driver of Python's aiohttp."""
import contextlib, ssl

import aiohttp

import common

FEATURES = ["http1", "tls", "proxy", "proxy-environment", "cookies", "decode", "timeout", "cancel", "concurrency", "limit", "fields", "redirects"]


@contextlib.asynccontextmanager
async def open_client(case):
    limit = {"limit_per_host": case["client"]["connections"]} if "connections" in case["client"] else {}
    connector, options = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=case["authority"]), **limit), {}
    if "cookies" in case["needs"]:
        # The documentation has this for servers with an address in place of a name.
        options["cookie_jar"] = aiohttp.CookieJar(unsafe=True)
    if "proxy-environment" in case["needs"]:
        options["trust_env"] = True
    if "proxy" in case["client"]:
        options["proxy"] = case["client"]["proxy"]
    async with aiohttp.ClientSession(connector=connector, **options) as session:
        yield session


async def call(session, case, call):
    options = {"timeout": aiohttp.ClientTimeout(total=call["deadline"] / 1000)} if "deadline" in call else {}
    if "body" in call:
        options["data"] = call["body"].encode("latin-1")
    async with session.request(call["method"], call["url"], headers=call["fields"], **options) as response:
        fields = {name.lower(): ", ".join(response.headers.getall(name)) for name in response.headers}
        return response.status, await response.read(), fields


common.run_in_tasks(f"aiohttp {aiohttp.__version__}", FEATURES, open_client, call)
