"""The driver of Python's httpx, with its client for asyncio."""
import ssl

import httpx

import common

FEATURES = ["http1", "http2", "tls", "proxy", "proxy-environment", "cookies", "decode", "timeout", "cancel", "concurrency", "limit",
            "fields", "redirects"]


def open_client(case):
    options = {"verify": ssl.create_default_context(cafile=case["authority"]), "follow_redirects": True}
    if "http2" in case["needs"]:
        options["http2"] = True
    if "connections" in case["client"]:
        options["limits"] = httpx.Limits(max_connections=case["client"]["connections"])
    if "proxy" in case["client"]:
        options["proxy"] = case["client"]["proxy"]
    return httpx.AsyncClient(**options)


async def call(client, case, call):
    options = {"timeout": call["deadline"] / 1000} if "deadline" in call else {}
    if "body" in call:
        options["content"] = call["body"].encode("latin-1")
    response = await client.request(call["method"], call["url"], headers=call["fields"], **options)
    return response.status_code, response.content, response.headers


common.run_in_tasks(f"httpx {httpx.__version__}", FEATURES, open_client, call)
