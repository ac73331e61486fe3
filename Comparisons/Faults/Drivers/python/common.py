"""What the drivers of the Python clients share: the loop over the cases, and the form of a result.

A driver has `open_client(case)`, a context manager, and `call(client, case, call)`, which returns the status, the body and the fields.
"""
import asyncio, concurrent.futures, hashlib, json, sys, time

MOST_CALLS = 300  # at the same time


def cases(version, features):
    """Yields the cases that have calls; with --describe, it prints the features and yields nothing."""
    if "--describe" in sys.argv:
        print(json.dumps({"version": version, "features": features}))
        return
    for line in sys.stdin:
        case = json.loads(line)
        if case["steps"]:
            yield case
        else:
            write([])


def write(results):
    print(json.dumps({"results": results}), flush=True)


def value(call, response):
    status, body, fields = response
    return {"outcome": "value", "status": status, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest(),
            "fields": {name: fields[name] for name in call.get("read", []) if name in fields}}


def error(problem):
    # A character of a URL or of a field can be outside of the encoding of the output.
    text = f"{type(problem).__module__}.{type(problem).__name__}: {problem}"[:300]
    return {"outcome": "error", "error": text.encode("ascii", "backslashreplace").decode()}


def pause(step):
    return max(call.get("wait", 0) for call in step) / 1000


def run_in_threads(version, features, open_client, call):
    def measured(item):
        begin = time.monotonic()
        try:
            result = value(item, call(client, case, item))
        except Exception as problem:
            result = error(problem)
        return {**result, "ms": round((time.monotonic() - begin) * 1000)}

    for case in cases(version, features):
        results = []
        with open_client(case) as client:
            for step in case["steps"]:
                time.sleep(pause(step))
                with concurrent.futures.ThreadPoolExecutor(min(MOST_CALLS, len(step))) as pool:
                    results += pool.map(measured, step)
        write(results)


def run_in_tasks(version, features, open_client, call):
    async def measured(client, case, item):
        begin = time.monotonic()
        task = asyncio.create_task(call(client, case, item))
        if "cancel" in item:
            asyncio.get_running_loop().call_later(item["cancel"] / 1000, task.cancel)
        try:
            result = value(item, await task)
        except (Exception, asyncio.CancelledError) as problem:
            result = error(problem)
        return {**result, "ms": round((time.monotonic() - begin) * 1000)}

    async def perform(case):
        results = []
        async with open_client(case) as client:
            for step in case["steps"]:
                await asyncio.sleep(pause(step))
                results += await asyncio.gather(*(measured(client, case, item) for item in step))
        return results

    for case in cases(version, features):
        write(asyncio.run(perform(case)))
