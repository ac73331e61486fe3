#!/usr/bin/env python3
"""The driver of the command curl. Consecutive calls of a case are one command with --next, so that they share connections."""
import hashlib, json, pathlib, subprocess, sys, tempfile, time

FEATURES = ["http1", "tls", "http2", "proxy", "proxy-environment", "cookies", "decode", "timeout", "retry", "concurrency",
            "limit", "fields"]
SECONDS = 5.5


def quoted(text):
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\r", "\\r"), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def options(case, call, number, folder):
    """Returns the lines of a configuration file for a call."""
    needs, lines = case["needs"], ["silent", "show-error", "location", "globoff"]
    def add(name, value):
        lines.append(f"{name} = {quoted(str(value))}")
    add("url", call["url"])
    add("output", folder / f"{number}.body")
    add("write-out", "%{json}" + ("%{header_json}" if "read" in call else "{}"))
    add("cacert", case["authority"])
    for name, value in call["fields"]:
        add("header", f"{name}: {value}")
    if "body" in call:
        data = folder / f"{number}.data"
        data.write_bytes(call["body"].encode("latin-1"))
        add("data-binary", f"@{data}")
    if call["method"] == "HEAD":
        lines.append("head")
    elif call["method"] != ("POST" if "body" in call else "GET"):
        add("request", call["method"])
    if "proxy" in case["client"]:
        add("proxy", case["client"]["proxy"])
    if "cookies" in needs:
        add("cookie", "")
    if "decode" in needs:
        lines.append("compressed")
    if "deadline" in call:
        add("max-time", call["deadline"] / 1000)
    if "retry" in needs:
        add("retry", 3)
        if "deadline" in call:
            add("retry-max-time", call["deadline"] // 1000)
    return lines


def result(entry, headers, call, file, milliseconds):
    if entry["exitcode"]:
        return {"outcome": "error", "error": f"({entry['exitcode']}) {entry['errormsg']}", "ms": milliseconds}
    body = file.read_bytes() if file.exists() and call["method"] != "HEAD" else b""
    return {"outcome": "value", "status": entry["http_code"], "bytes": len(body), "ms": milliseconds,
            "sha256": hashlib.sha256(body).hexdigest(),
            "fields": {name: ", ".join(headers[name]) for name in call.get("read", []) if name in headers}}


def perform(case, folder):
    calls = [call for step in case["steps"] for call in step]
    command = ["curl", "--config", str(folder / "config")]
    if len(calls) > len(case["steps"]):
        command += ["--parallel", "--parallel-max", str(case["client"].get("connections", 50))]
    else:
        # curl has no pause between two calls; a rate leaves the time of the call before it and the pause.
        pauses = [before.get("deadline", 0) + call["wait"] for before, call in zip(calls, calls[1:]) if "wait" in call]
        if pauses:
            command += ["--rate", f"{max(1, int(60000 / max(pauses)))}/m"]
    configuration = ["\n".join(options(case, call, number, folder)) for number, call in enumerate(calls)]
    (folder / "config").write_bytes("\nnext\n".join(configuration).encode("latin-1"))
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return [{"outcome": "hang", "ms": int(SECONDS * 1000)} for _ in calls]
    whole = round((time.monotonic() - begin) * 1000)
    results, text, decoder = {}, done.stdout.decode("latin-1").strip(), json.JSONDecoder(strict=False)
    while text:
        entry, end = decoder.raw_decode(text)
        headers, more = decoder.raw_decode(text[end:].lstrip())
        text = text[end:].lstrip()[more:].lstrip()
        file = pathlib.Path(entry["filename_effective"])
        milliseconds = whole if len(calls) == 1 else round(entry["time_total"] * 1000)
        results[int(file.stem)] = result(entry, headers, calls[int(file.stem)], file, milliseconds)
    # A URL that curl refuses has no line.
    missing = {"outcome": "error", "error": f"({done.returncode}) {done.stderr.decode(errors='replace')[-300:]}", "ms": whole}
    return [results.get(number, missing) for number in range(len(calls))]


def main():
    if "--describe" in sys.argv:
        version = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
        print(json.dumps({"version": version, "features": FEATURES}))
        return
    for line in sys.stdin:
        case = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps({"results": perform(case, pathlib.Path(folder)) if case["steps"] else []}), flush=True)


main()
