"""Reads the plan, and builds the bytes that it describes."""
import email.utils, functools, gzip, json, pathlib, re, time, zlib

FOLDER = pathlib.Path(__file__).resolve().parent
VARIABLE = re.compile(r"\{([A-Za-z]+)([+-]\d+)?\}")


def load(folder=FOLDER / "plan"):
    """Returns the cases by id, in the order of the files. The kind of a case is the name of its file."""
    cases = {}
    for path in sorted(folder.glob("*.json")):
        for case in json.loads(path.read_text()):
            if case["id"] in cases:
                raise ValueError(f"{path.name}: {case['id']} occurs twice")
            cases[case["id"]] = {**case, "kind": path.stem}
    return cases


def fill(text, variables):
    """Replaces `{A}`, `{path}` and other known variables, and `{date+2}` with an HTTP date in two seconds."""
    def value(match):
        if match[1] == "date":
            return email.utils.formatdate(time.time() + int(match[2] or 0), usegmt=True)
        return str(variables.get(match[1], match[0]))
    return VARIABLE.sub(value, text)


def build(value, variables={}):
    """Returns the bytes of a value of the plan. Each character of a text is one byte."""
    if isinstance(value, str):
        return fill(value, variables).encode("latin-1")
    if "repeat" in value:
        return build(value["repeat"], variables) * value["count"]
    if "join" in value:
        return b"".join(build(part, variables) for part in value["join"])
    if "chunked" in value:
        data = build(value["chunked"], variables)
        return b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)
    return compressed(json.dumps(value))


@functools.lru_cache(maxsize=None)
def compressed(text):
    value = json.loads(text)
    if "deflate" in value:
        data = zlib.compress(build(value["deflate"]))
    else:
        data = build(value["gzip"])
        for _ in range(value.get("times", 1)):
            data = gzip.compress(data, mtime=0)
        if "name" in value:
            # FNAME: the flag 8, and a text that ends with NUL after the ten bytes of the header.
            data = data[:3] + b"\x08" + data[4:10] + build(value["name"]) + b"\0" + data[10:]
    if "flip" in value:
        changed = bytearray(data)
        changed[value["flip"]] ^= 0xFF
        data = bytes(changed)
    return data[:len(data) - value["cut"]] if "cut" in value else data


def steps(case, variables):
    """Returns the calls as a driver gets them: a list of steps, each a list of calls to make at the same time."""
    result = []
    for step in case["calls"]:
        calls = []
        for call in step if isinstance(step, list) else [step]:
            for i in range(call.get("repeat", 1)):
                known = {**variables, "i": i}
                made = {key: value for key, value in call.items() if key not in ("repeat", "to")}
                made["method"] = call.get("method", "GET")
                made["url"] = fill(call["to"], known)
                made["fields"] = [[name, fill(value, known)] for name, value in call.get("fields", [])]
                if "body" in call:
                    made["body"] = build(call["body"], known).decode("latin-1")
                calls.append(made)
        result.append(calls)
    return result


def calls(case):
    """Returns the calls of the plan with their index among equal calls, in the order of a driver's results."""
    for step in case["calls"]:
        for call in step if isinstance(step, list) else [step]:
            for i in range(call.get("repeat", 1)):
                yield call, i
