#!/usr/bin/env python3
"""Checks the plan, and tests the server and the judgement.

usage: check.py               checks that each case is well-formed
       check.py --self-test   also runs a strict and a careless client through the plan: the strict one must be judged
                              right, and the careless one wrong, in each case that it makes
       check.py --format      writes the plan in its normal form
"""
import json, pathlib, re, sys, tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER / "Server")]
import judge, plan

COLUMNS = 120
SOURCES = ("https://www.rfc-editor.org/rfc/rfc", "https://fetch.spec.whatwg.org/#", "https://html.spec.whatwg.org/",
           "https://everything.curl.dev/")
NEEDS = {"http1", "tls", "http2", "proxy", "proxy-environment", "cookies", "cache", "sse", "cancel", "concurrency", "decode",
         "timeout", "retry", "limit", "fields", "redirects"}
CASE = {"id", "title", "source", "weight", "arguable", "reason", "needs", "alone", "client", "environment", "calls", "server", "right"}
CALL = {"to", "method", "fields", "body", "deadline", "wait", "cancel", "repeat", "read", "events", "for"}
ORIGIN = {"tls", "host", "refused", "full", "accept", "paths", "streams", "settings", "window"}
ACTIONS = [{"respond", "fields", "body"}, {"send"}, {"repeat", "count", "every"}, {"wait"}, {"hold"}, {"read"}, {"unread"},
           {"end"}, {"tunnel"}]
ACTIONS2 = [{"headers", "last"}, {"data", "last"}, {"reset"}, {"goaway"}, {"frame", "count"}, {"wait"}, {"hold"}, {"unread"},
            {"end"}]
OUTCOME = {"error", "waiting", "status", "body", "events", "fields", "within"}
CHECK = {"origin", "path", "method", "number", "leak", "requests", "connections", "lacks", "field", "is", "has", "targets",
         "ascii", "body", "concurrent", "gap", "sent", "closed"}
RIGHT = {"rule", "calls", "server", "any", "within"}


def layout(value, indent=0, taken=0):
    """Writes a value on one line if it fits, and on a line per element otherwise."""
    text = json.dumps(value)
    if not isinstance(value, (dict, list)) or not value or indent + taken + len(text) < COLUMNS:
        return text
    inner = " " * (indent + 2)
    if isinstance(value, list):
        lines = [inner + layout(element, indent + 2, 1) for element in value]
        return "[\n" + ",\n".join(lines) + "\n" + " " * indent + "]"
    lines = [f"{inner}{json.dumps(key)}: {layout(element, indent + 2, len(key) + 5)}" for key, element in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"


def layout_of_cases(cases):
    texts = []
    for case in cases:
        lines = [f"    {json.dumps(key)}: {layout(value, 4, len(key) + 5)}" for key, value in case.items()]
        texts.append("  {\n" + ",\n".join(lines) + "\n  }")
    return "[\n" + ",\n".join(texts) + "\n]\n"


def unknown(value, known):
    return sorted(set(value) - known)


def scripts(origin):
    lists = [*origin.get("paths", {}).values(), origin.get("streams", []), origin.get("accept", [])]
    for actions in lists:
        yield from (actions if actions and all(isinstance(action, list) for action in actions) else [actions])


def problems(case):
    """Yields what is wrong with the form of a case."""
    for key in unknown(case, CASE):
        yield f"unknown key {key}"
    for key in sorted(CASE - {"arguable", "reason", "alone", "client", "environment"} - set(case)):
        yield f"no {key}"
        return
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9.]+)*", case["id"]):
        yield "the id has other characters than a-z, 0-9, hyphen and dot"
    if not re.fullmatch(r"[A-Z].*\.", case["title"]) or not re.fullmatch(r"[A-Z0-9].*\.", case["right"].get("rule", "")):
        yield "the title or the rule is not a sentence"
    sources = case["source"] if isinstance(case["source"], list) else [case["source"]]
    if not sources or not all(source.startswith(SOURCES) for source in sources):
        yield f"unknown source {sources}"
    if case["weight"] not in ("must", "should", "may"):
        yield f"unknown weight {case['weight']}"
    if case.get("arguable", False) != ("reason" in case):
        yield "an arguable case has a reason, and no other case has one"
    if unknown(case["needs"], NEEDS):
        yield f"unknown needs {unknown(case['needs'], NEEDS)}"
    used = set(re.findall(r"\{([A-Z])(?:port)?\}", json.dumps([case["calls"], case["server"], case.get("client", {}), case.get("environment", {})])))
    if used - set(case["server"]):
        yield f"no origin {sorted(used - set(case['server']))}"
    for origin, need in (("S", "tls"), ("H", "http2")):
        if origin in case["server"] and need not in case["needs"]:
            yield f"an origin {origin} without the need {need}"
    distinct = [call for call, i in plan.calls(case) if i == 0]
    for call in distinct:
        if unknown(call, CALL) or "to" not in call:
            yield f"unknown keys {unknown(call, CALL)} in a call"
        for key, need in (("deadline", "timeout"), ("cancel", "cancel"), ("read", "fields"), ("events", "sse")):
            if key in call and need not in case["needs"]:
                yield f"a call with {key} without the need {need}"
    for name, origin in case["server"].items():
        if unknown(origin, ORIGIN) or name not in "ABCSHP":
            yield f"unknown origin {name} {unknown(origin, ORIGIN)}"
        for actions in scripts(origin):
            for action in actions:
                known = ACTIONS2 if name == "H" else ACTIONS
                if not isinstance(action, str) and not any(not unknown(action, keys) and set(action) & keys for keys in known):
                    yield f"unknown action {action}"
    yield from problems_of_right(case, distinct)


def problems_of_right(case, distinct):
    right = case["right"]
    if unknown(right, RIGHT) or "rule" not in right:
        yield f"unknown keys {unknown(right, RIGHT)} in right"
    for choice in right.get("any", [right]):
        if "calls" not in choice and "server" not in choice:
            yield "nothing is judged"
        if "calls" in choice and len(choice["calls"]) != len(distinct):
            yield f"{len(choice['calls'])} lists of outcomes for {len(distinct)} calls"
        for outcome in [outcome for outcomes in choice.get("calls", []) for outcome in outcomes]:
            if unknown(outcome, OUTCOME):
                yield f"unknown outcome {outcome}"
            plan.build(outcome.get("body", ""))
        for check in choice.get("server", []):
            if unknown(check, CHECK) or check.get("origin") not in case["server"]:
                yield f"unknown check {check}"
            if "field" in check and not set(check) & {"is", "has", "lacks"}:
                yield f"a check of a field without is, has or lacks: {check}"


def main():
    cases, findings = plan.load(), []
    for name, case in cases.items():
        bare = {key: value for key, value in case.items() if key != "kind"}
        findings += [f"{case['kind']}.json: {name}: {problem}" for problem in problems(bare)]
        count = len(list(plan.calls(case)))
        hang, failure = {"outcome": "hang", "ms": 5000}, {"outcome": "error", "ms": 1}
        value = {"outcome": "value", "status": 599, "bytes": 1, "sha256": "wrong", "ms": 1}
        def is_right(result):
            return judge.judge(case, {"results": [result] * count, "log": []})[0] == "ok"
        if is_right(hang) and '"waiting"' not in json.dumps(case["right"]):
            findings.append(f"{case['kind']}.json: {name}: a call that does not end is right")
        # Without a request, only a statement about the server can be wrong.
        if is_right(failure) and is_right(value) and not case["right"].get("server"):
            findings.append(f"{case['kind']}.json: {name}: every outcome is right")
    for path in sorted((FOLDER / "plan").glob("*.json")):
        text = path.read_text()
        formatted = layout_of_cases(json.loads(text))
        if "--format" in sys.argv:
            path.write_text(formatted)
        elif text != formatted:
            findings.append(f"{path.name}: run check.py --format")
    print("\n".join(findings) or f"plan: {len(cases)} cases, nothing to say")
    if findings or "--self-test" not in sys.argv:
        sys.exit(bool(findings))
    import selftest
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(selftest.run(cases, folder))


if __name__ == "__main__":
    main()
