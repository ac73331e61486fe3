#!/usr/bin/env python3
"""Checks HAR 1.2 files independently of the code in this repository: scripts/harcheck.py [--notes] FILE…

Prints one finding per line, with its level and the index of the entry, from 0. The levels are S (shape: a missing member or a wrong
type), M (meaning: a contradiction), and, with --notes, N (a note: allowed, but unusual). Exits with 1 if there is an S or an M.

Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
"""
import base64
import binascii
import datetime
import json
import math
import pathlib
import sys
import urllib.parse

TEXT, NUMBER, INTEGER, LIST, OBJECT, FLAG = "a string", "a number", "an integer", "an array", "an object", "a boolean"
PAIR = {"name": TEXT, "value": TEXT}
# The members of each object: those that are required, and those that are optional.
SHAPES = {
    "log": ({"version": TEXT, "creator": OBJECT, "entries": LIST}, {"browser": OBJECT, "pages": LIST}),
    "creator": ({"name": TEXT, "version": TEXT}, {}),
    "browser": ({"name": TEXT, "version": TEXT}, {}),
    "page": ({"startedDateTime": TEXT, "id": TEXT, "title": TEXT, "pageTimings": OBJECT}, {}),
    "entry": ({"startedDateTime": TEXT, "time": NUMBER, "request": OBJECT, "response": OBJECT, "cache": OBJECT, "timings": OBJECT},
              {"pageref": TEXT, "serverIPAddress": TEXT, "connection": TEXT}),
    "request": ({"method": TEXT, "url": TEXT, "httpVersion": TEXT, "cookies": LIST, "headers": LIST, "queryString": LIST,
                 "headersSize": INTEGER, "bodySize": INTEGER}, {"postData": OBJECT}),
    # `encoding` is from the draft of HAR 1.3. HAR 1.2 cannot hold a body that is not text.
    "postData": ({"mimeType": TEXT}, {"text": TEXT, "params": LIST, "encoding": TEXT}),
    "param": ({"name": TEXT}, {"value": TEXT, "fileName": TEXT, "contentType": TEXT}),
    "response": ({"status": INTEGER, "statusText": TEXT, "httpVersion": TEXT, "cookies": LIST, "headers": LIST, "content": OBJECT,
                  "redirectURL": TEXT, "headersSize": INTEGER, "bodySize": INTEGER}, {}),
    "content": ({"size": INTEGER, "mimeType": TEXT}, {"compression": INTEGER, "text": TEXT, "encoding": TEXT}),
    "timings": ({"send": NUMBER, "wait": NUMBER, "receive": NUMBER},
                {"blocked": NUMBER, "dns": NUMBER, "connect": NUMBER, "ssl": NUMBER}),
    "cookie": (PAIR, {"path": TEXT, "domain": TEXT, "expires": TEXT, "httpOnly": FLAG, "secure": FLAG, "sameSite": TEXT}),
    "header": (PAIR, {}),
    "query": (PAIR, {}),
}


class Check:
    """The findings of one file."""

    def __init__(self, folder):
        self.folder, self.findings, self.index = folder, [], None

    def say(self, level, place, text):
        self.findings.append((level, self.index, place, text))

    # Shape

    def is_of(self, value, kind):
        if kind == NUMBER:
            return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if kind == INTEGER:
            return isinstance(value, int) and not isinstance(value, bool)
        return isinstance(value, {TEXT: str, LIST: list, OBJECT: dict, FLAG: bool}[kind])

    def shape(self, value, name, place):
        """Returns whether the value is an object, and reports what is wrong with its members."""
        if not isinstance(value, dict):
            self.say("S", place, "is not an object")
            return False
        required, optional = SHAPES[name]
        for member, kind in required.items():
            if member not in value:
                self.say("S", f"{place}.{member}", "is missing")
        for member, item in value.items():
            kind = required.get(member) or optional.get(member)
            if kind and not self.is_of(item, kind):
                self.say("S", f"{place}.{member}", f"is not {kind}")
            elif not kind and member != "comment" and not member.startswith("_"):
                self.say("S", f"{place}.{member}", "is not a member of HAR 1.2 and does not begin with _")
        return True

    def items(self, parent, member, name, place):
        values = parent.get(member)
        if not isinstance(values, list):
            return []
        return [v for i, v in enumerate(values) if self.shape(v, name, f"{place}.{member}[{i}]")]

    def log(self, root):
        log = root.get("log") if isinstance(root, dict) else None
        if not self.shape(log, "log", "log"):
            return
        if log.get("version") != "1.2":
            self.say("N", "log.version", f"is {log.get('version')!r}, not '1.2'")
        for name in ("creator", "browser"):
            if name in log:
                self.shape(log[name], name, f"log.{name}")
        pages = {page.get("id") for page in self.items(log, "pages", "page", "log")}
        before = None
        for self.index, entry in enumerate(log.get("entries") if isinstance(log.get("entries"), list) else []):
            if self.shape(entry, "entry", "entry"):
                started = self.entry(entry, pages)
                if before and started and started < before:
                    self.say("N", "entry.startedDateTime", "is earlier than that of the previous entry")
                before = started or before
        self.index = None

    def entry(self, entry, pages):
        if "pageref" in entry and entry["pageref"] not in pages:
            self.say("M", "entry.pageref", "is not the id of a page")
        self.timings(entry)
        request, response = entry.get("request"), entry.get("response")
        if self.shape(request, "request", "request"):
            self.request(request)
        if self.shape(response, "response", "response"):
            self.response(response, entry, isinstance(request, dict) and request.get("method") == "HEAD")
        try:
            started = datetime.datetime.fromisoformat(str(entry.get("startedDateTime")).replace("Z", "+00:00"))
            if started.tzinfo:
                return started
            self.say("M", "entry.startedDateTime", "has no time zone")
        except ValueError:
            self.say("M", "entry.startedDateTime", "is not an ISO 8601 date")

    # Meaning

    def timings(self, entry):
        timings, total = entry.get("timings"), 0
        if not isinstance(timings, dict):
            return
        self.shape(timings, "timings", "timings")
        for name in ("send", "wait", "receive"):
            if self.is_of(timings.get(name), NUMBER) and timings[name] < 0:
                self.say("M", f"timings.{name}", "is negative")
        for name in ("blocked", "dns", "connect", "send", "wait", "receive"):
            if self.is_of(timings.get(name), NUMBER):
                total += max(0, timings[name])
        if self.is_of(entry.get("time"), NUMBER) and abs(entry["time"] - total) > 1:
            self.say("M", "entry.time", f"is {entry['time']}, but the timings add up to {total:.3f}")

    def fields(self, message, name):
        return [(str(h.get("name")), str(h.get("value"))) for h in self.items(message, "headers", "header", name)]

    def request(self, request):
        url = urllib.parse.urlsplit(str(request.get("url")))
        if not url.scheme or not url.netloc:
            self.say("M", "request.url", "is not absolute")
        if "#" in str(request.get("url")):
            self.say("M", "request.url", "has a fragment")
        headers = self.fields(request, "request")
        self.items(request, "cookies", "cookie", "request")
        query = [(q.get("name"), q.get("value")) for q in self.items(request, "queryString", "query", "request")]
        pairs = [item.partition("=")[::2] for item in url.query.split("&") if item]
        # Some writers copy names and values from the URL and others decode them, of which some decode + as a space.
        readings = [[(f(n), f(v)) for n, v in pairs] for f in (str, urllib.parse.unquote, urllib.parse.unquote_plus)]
        if query not in readings:
            self.say("M", "request.queryString", "differs from the query of the URL")
        for name, _ in headers:
            if name.startswith(":"):
                self.say("N", "request.headers", f"contains the HTTP/2 pseudo-header field {name}")
        self.post(request)

    def post(self, request):
        post, size = request.get("postData"), request.get("bodySize")
        if post is None:
            if isinstance(size, int) and size > 0:
                self.say("M", "request.postData", f"is missing, but bodySize is {size}")
            return
        if not self.shape(post, "postData", "request.postData"):
            return
        self.items(post, "params", "param", "request.postData")
        if "text" not in post and "params" not in post and "_file" not in post:
            self.say("M", "request.postData", "has neither text nor params")
            return
        encoding = post.get("encoding") or post.get("_encoding")
        body = self.body(post, encoding, "request.postData")
        if body is not None and isinstance(size, int) and size >= 0 and len(body) != size:
            self.say("M", "request.bodySize", f"is {size}, and the body has {len(body)} bytes")

    def response(self, response, entry, is_head):
        status = response.get("status")
        is_error = any("_error" in o or "_failureText" in o for o in (response, entry))
        if isinstance(status, int) and not 100 <= status <= 599 and not is_error:
            self.say("M", "response.status", f"is {status}, and no _error explains why")
        headers = self.fields(response, "response")
        cookies = self.items(response, "cookies", "cookie", "response")
        set_count = sum(name.lower() == "set-cookie" for name, _ in headers)
        if len(cookies) != set_count:
            self.say("M", "response.cookies", f"lists {len(cookies)}, but there are {set_count} Set-Cookie fields")
        location = next((value for name, value in headers if name.lower() == "location"), "")
        target = response.get("redirectURL") or ""
        if isinstance(status, int) and 300 <= status < 400 and target != location:
            self.say("M", "response.redirectURL", "differs from the Location field")
        content = response.get("content")
        if not self.shape(content, "content", "response.content"):
            return
        size, wire, saved = content.get("size"), response.get("bodySize"), content.get("compression")
        body = self.body(content, content.get("encoding"), "response.content")
        if body is not None and isinstance(size, int) and len(body) != size:
            self.say("M", "response.content.size", f"is {size}, and the body has {len(body)} bytes")
        if body is None and isinstance(size, int) and size > 0 and not is_head:
            self.say("N", "response.content.text", f"is missing, but size is {size}")
        if isinstance(saved, int) and isinstance(size, int) and isinstance(wire, int) and wire >= 0 and saved != size - wire:
            self.say("M", "response.content.compression", f"is {saved}, not size - bodySize")

    def body(self, holder, encoding, place):
        """Returns the bytes of a body; None if there are none or if they cannot be read."""
        if isinstance(file := holder.get("_file"), str):
            path = self.folder / file
            if not path.resolve().is_relative_to(self.folder.resolve()) or not path.is_file():
                return self.say("M", f"{place}._file", "is not a file in the folder of the recording")
            return path.read_bytes()
        if not isinstance(text := holder.get("text"), str):
            return None
        if encoding == "base64":
            try:
                return base64.b64decode(text, validate=True)
            except (binascii.Error, ValueError):
                return self.say("M", f"{place}.text", "is not base64")
        if encoding:
            return self.say("M", f"{place}.encoding", f"is {encoding!r}, which is unknown")
        return text.encode("utf-8", "surrogatepass")


def refuse(text):
    raise ValueError(f"{text} is not a JSON number")


def check(path):
    path = pathlib.Path(path)
    result = Check(path.parent)
    try:
        result.log(json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=refuse))
    except (OSError, ValueError) as error:
        result.say("S", path.name, str(error))
    return result.findings


def main():
    files = [name for name in sys.argv[1:] if name != "--notes"]
    if not files:
        sys.exit(__doc__)
    levels = "SMN" if "--notes" in sys.argv else "SM"
    count = 0
    for name in files:
        for level, index, place, text in check(name):
            count += level != "N"
            if level in levels:
                print(f"{name}: {level} {'' if index is None else f'entry {index}, '}{place} {text}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
