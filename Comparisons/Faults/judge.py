"""Judges what a driver reported and what the server saw, by the right outcome in the plan.

usage: judge.py FOLDER RESULTS

Prints the cases that went wrong, with the reason. FOLDER is that of Server/server.py, and each line of RESULTS has a case and its results.
"""
import collections, hashlib, json, pathlib, re, sys

import plan

WITHIN = 5000
# The server notices the close of a connection later than the client closes it.
CLOSE_DELAY = 100


class Wrong(Exception):
    """The reason why a result is wrong; `is_leak` if a secret reached a server that must not see it."""

    def __init__(self, text, is_leak=False):
        super().__init__(text)
        self.is_leak = is_leak


def outcome_problem(allowed, result, i, within):
    """Returns why a result differs from an allowed outcome, or nothing if it matches."""
    within = allowed.get("within", within)
    if "waiting" in allowed:
        return "has ended"
    if result["ms"] > within:
        return f"took {result['ms']} ms"
    if "error" in allowed:
        return None if result["outcome"] == "error" else "did not fail"
    if result["outcome"] != "value":
        return f"failed: {result.get('error', '')[:200]}"
    if "status" in allowed and result.get("status") != allowed["status"]:
        return f"has status {result.get('status')}, not {allowed['status']}"
    if "events" in allowed and result.get("events") != allowed["events"]:
        return f"has events {result.get('events')}"
    if "body" in allowed:
        body = plan.build(allowed["body"], {"i": i})
        if (result.get("bytes"), result.get("sha256")) != (len(body), hashlib.sha256(body).hexdigest()):
            return f"has a wrong body of {result.get('bytes')} bytes; {len(body)} are right"
    for name, pattern in allowed.get("fields", {}).items():
        value = result.get("fields", {}).get(name)
        if (value is None) != (pattern is None) or value is not None and not re.fullmatch(pattern, value):
            return f"has {name}: {value!r}"
    return None


def check_calls(case, right, results):
    """Compares each result with the outcomes that are allowed for its call."""
    calls = list(plan.calls(case))
    if any(result["outcome"] == "hang" for result in results):
        if all({"waiting": True} in outcomes for outcomes in right.get("calls", [[]])):
            return
        raise Wrong("does not end")
    if len(results) != len(calls):
        raise Wrong(f"{len(results)} results for {len(calls)} calls")
    within, distinct, allowed = right.get("within", WITHIN), [], right.get("calls")
    for (call, i), result in zip(calls, results):
        if i == 0:
            distinct.append(call)
        outcomes = allowed[len(distinct) - 1] if allowed else [{"error": True}, {}]
        if result["outcome"] not in ("value", "error"):
            raise Wrong(f"call {len(distinct)}: {result['outcome']}")
        problems = [outcome_problem(outcome, result, i, within) for outcome in outcomes]
        if all(problems):
            raise Wrong(f"call {len(distinct)}: " + "; ".join(dict.fromkeys(problems)))


def values(request, name):
    return [value for field, value in request["fields"] if field.lower() == name]


def path_of(request):
    return re.sub(r"^https?://[^/]*", "", request["target"]).split("?")[0]


def most_open(log):
    """Returns the largest number of connections that were open when one of them was opened."""
    begin = {entry["connection"]: entry["at"] for entry in log if entry["event"] == "open"}
    end = {entry["connection"]: entry["at"] - CLOSE_DELAY * (entry["by"] == "peer") for entry in log if entry["event"] == "end"}
    def count(number, moment):
        return sum(other == number or at <= moment < end.get(other, moment + 1) for other, at in begin.items())
    return max((count(number, moment) for number, moment in begin.items()), default=0)


def check_server(check, log):
    """Checks one statement about the log of an origin."""
    log = [entry for entry in log if entry["origin"] == check["origin"]]
    requests = [entry for entry in log if entry["event"] == "request"
                and check.get("path") in (None, path_of(entry)) and check.get("method") in (None, entry["method"])]
    if "number" in check:
        requests = requests[check["number"] - 1:check["number"]]
        if not requests:
            raise Wrong(f"origin {check['origin']} got no request number {check['number']}")
    opened = [entry for entry in log if entry["event"] == "open"]
    where = f"origin {check['origin']}"
    def claim(is_right, text):
        if not is_right:
            raise Wrong(f"{where} {text}", check.get("leak", False))
    if "requests" in check:
        low, high = check["requests"]
        claim(low <= len(requests) <= high, f"got {len(requests)} requests")
    if "connections" in check:
        low, high = check["connections"]
        claim(low <= len(opened) <= high, f"got {len(opened)} connections")
    if "lacks" in check:
        for request in requests:
            seen = [name for name, value in [*request["fields"], ["the target", request["target"]]] if check["lacks"] in value]
            claim(not seen, f"got {', '.join(seen)} with {check['lacks']}")
    if "field" in check:
        for request in requests:
            found = values(request, check["field"])
            if "has" in check:
                claim(any(check["has"] in value for value in found), f"got no {check['field']} with {check['has']}")
            elif "lacks" not in check:
                claim(found == ([] if check["is"] is None else [check["is"]]), f"got {check['field']}: {found}")
        if "has" in check:
            claim(requests, "got no such request")
    if "targets" in check:
        claim([request["target"] for request in requests] == check["targets"], f"got {[r['target'] for r in requests]}")
    if "ascii" in check:
        claim(all(request["target"].isascii() for request in requests), "got a target that is not ASCII")
    if "body" in check:
        digest = hashlib.sha256(plan.build(check["body"])).hexdigest()
        claim(all(request["sha256"] == digest for request in requests), "got a wrong body")
    if "concurrent" in check:
        most = most_open(log)
        claim(most <= check["concurrent"], f"had {most} connections open at the same time")
    if "gap" in check:
        low, high = check["gap"]
        gaps = [b["at"] - a["at"] for a, b in zip(requests, requests[1:])]
        claim(all(low <= gap <= high for gap in gaps), f"got requests after {gaps} ms")
    if "sent" in check:
        sent = sum(entry.get("sent", 0) for entry in log if entry["event"] == "end")
        claim(sent <= check["sent"], f"sent {sent} bytes")
    if "closed" in check and requests:
        ends = [entry["at"] for entry in log if entry["connection"] == requests[0]["connection"]
                and (entry["event"] == "reset" or entry["event"] == "end" and entry["by"] == "peer")]
        claim(ends and ends[0] - requests[0]["at"] <= check["closed"], "still had the connection open")


def judge(case, line):
    """Returns a mark and its reason: `ok`, `wrong`, `leak`, `crash`, or `absent` for a feature that the client lacks."""
    if line.get("absent"):
        return "absent", f"without {', '.join(line['absent'])}"
    if line.get("crash"):
        return "crash", line["crash"]
    right, reasons = case["right"], []
    for choice in right.get("any", [right]):
        try:
            check_calls(case, {**right, **choice}, line["results"])
            for check in choice.get("server", []):
                check_server(check, line["log"])
            return "ok", ""
        except Wrong as wrong:
            reasons.append(wrong)
    # A leak is worse than a wrong result of the call, and is reported first.
    for check in right.get("server", []):
        if check.get("leak"):
            try:
                check_server(check, line["log"])
            except Wrong as wrong:
                return "leak", str(wrong)
    return "wrong", " or ".join(dict.fromkeys(str(reason) for reason in reasons))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cases, logs = plan.load(), collections.defaultdict(list)
    for line in pathlib.Path(sys.argv[1], "log.jsonl").read_text().splitlines():
        entry = json.loads(line)
        logs[entry["case"]].append(entry)
    for line in map(json.loads, pathlib.Path(sys.argv[2]).read_text().splitlines()):
        mark, reason = judge(cases[line["case"]], {**line, "log": logs[line["case"]]})
        if mark != "ok":
            print(f"{line['case']}: {reason}")


if __name__ == "__main__":
    main()
