#!/usr/bin/env python3
"""Checks a recording with third-party software. Prints one finding per line and exits with 1 if there are any.

  check.py replay FILE TRUTH   mitmproxy responds from the file, and curl receives the same bytes
  check.py read FILE TRUTH     mitmproxy's reader accepts all entries, with the same bodies and total times
  check.py parse FILE          haralyzer parses each entry

TRUTH is a JSON file with an array of what was sent and received: method, url, contentType, body, status, received (bodies in base64).
"""
import base64
import hashlib
import json
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import capture  # noqa: E402

beside = capture.beside


def digest(data):
    return f"{len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()[:16]}"


def load(path):
    truth = json.loads(pathlib.Path(path).read_text())
    for item in truth:
        item["body"] = None if item.get("body") is None else base64.b64decode(item["body"])
        item["received"] = base64.b64decode(item["received"])
    return truth


def compare(index, item, status, received):
    """Yields the differences between a response and the truth."""
    name = f"entry {index}, {item['method']} {item['url']}"
    if status != item["status"]:
        yield f"{name}: status {status}, expected {item['status']}"
    if received != item["received"]:
        yield f"{name}: received {digest(received)}, expected {digest(item['received'])}"


def replay(file, truth):
    options = ["--server-replay", file]
    # Each response may be reused. Otherwise, mitmproxy connects to the network after the last one.
    for setting in ("server_replay_extra=kill", "server_replay_refresh=false", "server_replay_reuse=true"):
        options += ["--set", setting]
    venv = pathlib.Path(sys.prefix)
    with tempfile.TemporaryDirectory(prefix="interchange ") as name:
        folder = pathlib.Path(name)
        process, port = capture.start_mitmdump(venv, folder, options)
        try:
            for index, item in enumerate(truth):
                status, received = capture.curl(
                    port, folder, item["method"], item["url"], item["body"], item["contentType"])
                yield from compare(index, item, status, received)
        finally:
            beside.stop(process)


def read(file, truth):
    from mitmproxy import io
    with open(file, "rb") as stream:
        flows = list(io.FlowReader(stream).stream())
    entries = json.loads(pathlib.Path(file).read_text())["log"]["entries"]
    if len(flows) != len(truth):
        yield f"mitmproxy reads {len(flows)} entries, expected {len(truth)}"
    for index, (flow, item, entry) in enumerate(zip(flows, truth, entries)):
        total = 1000 * (flow.request.timestamp_end - flow.request.timestamp_start)
        parts = sum(value for name, value in entry["timings"].items() if name != "ssl" and value > 0)
        if abs(total - entry["time"]) > 0.01 or abs(parts - entry["time"]) > 0.01:
            yield f"entry {index}: a total of {total} ms, expected {entry['time']} ms, the sum of {entry['timings']}"
        if flow.request.method != item["method"] or flow.request.url != item["url"]:
            yield f"entry {index}: {flow.request.method} {flow.request.url}, expected {item['method']} {item['url']}"
        sent = flow.request.get_content(strict=False) or b""
        if sent != (item["body"] or b""):
            yield f"entry {index}: sent {digest(sent)}, expected {digest(item['body'] or b'')}"
        yield from compare(index, item, flow.response.status_code, flow.response.get_content(strict=False) or b"")


def parse(file):
    from haralyzer import HarParser
    parser = HarParser.from_file(file)
    count = len(json.loads(pathlib.Path(file).read_text())["log"]["entries"])
    entries = [entry for page in parser.pages for entry in page.entries]
    if len(entries) != count:
        yield f"haralyzer parses {len(entries)} entries, expected {count}"
    for index, entry in enumerate(entries):
        for part, names in (
            (entry, ("startTime", "time", "url", "status", "timings", "cookies", "cache")),
            (entry.request, ("method", "url", "httpVersion", "headers", "queryString", "bodySize", "headersSize")),
            (entry.response, ("status", "statusText", "httpVersion", "headers", "mimeType", "contentSize", "bodySize",
                              "textEncoding", "redirectURL")),
        ):
            for name in names:
                try:
                    if getattr(part, name) is None and name not in ("textEncoding",):
                        yield f"entry {index}: {type(part).__name__} has no {name}"
                except Exception as error:
                    yield f"entry {index}: {type(part).__name__}.{name}: {type(error).__name__} {error}"


def main():
    beside.exit_on_signals()
    match sys.argv[1:]:
        case ["replay", file, truth]: findings = replay(os.path.abspath(file), load(truth))
        case ["read", file, truth]: findings = read(file, load(truth))
        case ["parse", file]: findings = parse(file)
        case _: sys.exit(__doc__)
    count = 0
    for finding in findings:
        print(finding)
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
