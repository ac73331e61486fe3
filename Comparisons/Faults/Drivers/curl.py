#!/usr/bin/env python3
"""The driver of the command curl. Consecutive calls of a case are one command with --next, so that they share connections."""
import hashlib, json, os, pathlib, select, subprocess, sys, tempfile, time

FEATURES = ["http1", "tls", "http2", "proxy", "proxy-environment", "cookies", "decode", "timeout", "retry", "concurrency",
            "fields", "redirects"]
SECONDS = 5.5


def quoted(text):
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\r", "\\r"), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def options(case, call, number, folder):
    """Returns the lines of a configuration file for a call."""
    needs, lines = case["needs"], ["silent", "location", "globoff"]
    def add(name, value):
        lines.append(f"{name} = {quoted(str(value))}")
    add("url", call["url"])
    add("output", folder / f"{number}.body")
    # Standard error has no buffer, so the time of each line is the end of its call.
    add("write-out", "%{stderr}%{json}" + ("%{header_json}" if "read" in call else "{}"))
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
    lines += [line for need, line in (("cookies", 'cookie = ""'), ("decode", "compressed")) if need in needs]
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
        command += ["--parallel", "--parallel-max", "300"]
    else:
        # curl has no pause between two calls; a rate leaves the time of the call before it and the pause.
        pauses = [before.get("deadline", 0) + call["wait"] for before, call in zip(calls, calls[1:]) if "wait" in call]
        if pauses:
            command += ["--rate", f"{max(1, int(60000 / max(pauses)))}/m"]
    configuration = ["\n".join(options(case, call, number, folder)) for number, call in enumerate(calls)]
    (folder / "config").write_bytes("\nnext\n".join(configuration).encode("latin-1"))
    results, begin = {}, time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    for seconds, entry, headers in lines(process, begin + SECONDS):
        # All parallel calls begin at once and wait for their turn; others begin one after the other.
        begins_at_once = len(calls) == 1 or "--parallel" in command
        milliseconds = round((seconds - begin if begins_at_once else entry["time_total"]) * 1000)
        file = pathlib.Path(entry["filename_effective"])
        results[int(file.stem)] = result(entry, headers, calls[int(file.stem)], file, milliseconds)
    milliseconds = round((time.monotonic() - begin) * 1000)
    if process.poll() is None and time.monotonic() >= begin + SECONDS:
        process.kill()
        process.wait()
        missing = {"outcome": "hang", "ms": milliseconds}
    else:
        # A URL that curl refuses has no line.
        missing = {"outcome": "error", "error": f"({process.wait()})", "ms": milliseconds}
    return [results.get(number, missing) for number in range(len(calls))]


def lines(process, end):
    """Yields the pairs of objects that curl writes, and when each was complete."""
    text, decoder = "", json.JSONDecoder(strict=False)
    while select.select([process.stderr], [], [], max(0, end - time.monotonic()))[0]:
        data = os.read(process.stderr.fileno(), 1 << 16)
        if not data:
            return
        text += data.decode("latin-1")
        while "{" in text:
            # In parallel, a meter of the progress is between the objects.
            text = text[text.index("{"):]
            try:
                entry, used = decoder.raw_decode(text)
                headers, more = decoder.raw_decode(text[used:])
            except ValueError:
                break
            yield time.monotonic(), entry, headers
            text = text[used + more:]


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
