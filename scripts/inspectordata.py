"""Generated recordings for inspectorcheck.py: an ordinary one, a large one, and one whose every text is hostile."""

import base64, datetime, json, random, struct, urllib.parse, zlib

START = datetime.datetime(2026, 11, 21, 9, 30, tzinfo=datetime.timezone.utc)


def at(milliseconds):
    return (
        (START + datetime.timedelta(milliseconds=milliseconds))
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def fields(**pairs):
    return [{"name": name.replace("_", "-"), "value": value} for name, value in pairs.items()]


def content(body, mime):
    if isinstance(body, bytes):
        return {"size": len(body), "mimeType": mime, "text": base64.b64encode(body).decode(), "encoding": "base64"}
    return {"size": len(body.encode(errors="replace")), "mimeType": mime, "text": body}


def query_of(url):
    return [
        {"name": name, "value": value}
        for name, value in urllib.parse.parse_qsl(url.partition("?")[2], keep_blank_values=True)
    ]


def entry(
    call,
    start,
    *,
    time=40.0,
    method="GET",
    url="https://api.example.com/",
    status=200,
    body="",
    mime="application/json",
    post=None,
    post_mime="",
    headers=None,
    request_headers=None,
    attempt=1,
    hop=0,
    error=None,
    **more,
):
    """Makes an entry of a call; `error` is a pair of a code and a text."""
    location, set_cookies = more.pop("location", ""), more.pop("set_cookies", [])
    if headers is None:
        headers = fields(content_type=mime) + (fields(location=location) if location else [])
        headers += [{"name": "set-cookie", "value": f"{cookie['name']}={cookie['value']}"} for cookie in set_cookies]
    response = {
        "status": 0 if error else status,
        "statusText": more.pop("reason", ""),
        "httpVersion": "HTTP/2",
        "cookies": set_cookies,
        "headers": headers,
        "content": content(body, mime),
        "redirectURL": location,
        "headersSize": -1,
        "bodySize": -1 if error else len(body),
    }
    if "trailers" in more:
        response["_trailers"] = more.pop("trailers")
    if error:
        response.update(_errorKind=error[0], _error=error[1])
    request = {
        "method": method,
        "url": url,
        "httpVersion": "HTTP/2",
        "cookies": more.pop("cookies", []),
        "headers": (
            request_headers
            if request_headers is not None
            else fields(accept="application/json", user_agent="Example/1.0")
        ),
        "queryString": more.pop("query", None) or query_of(url),
        "headersSize": -1,
        "bodySize": len(post or ""),
    }
    if post is not None:
        request["postData"] = {
            "mimeType": post_mime,
            "text": post if isinstance(post, str) else base64.b64encode(post).decode(),
        }
        if isinstance(post, bytes):
            request["postData"]["encoding"] = "base64"
    place = {"call": call, "attempt": attempt, "hop": hop, "id": f"{call}.{attempt}.{hop}"}
    for name in ("refusedRetry", "refusedRedirect", "curl", "bodyNote", "parentCall", "spans"):
        if name in more:
            place[name] = more.pop(name)
    timings = {
        "blocked": 1.0,
        "dns": 2.0,
        "connect": 9.0,
        "ssl": 6.0,
        "send": 0.5,
        "wait": max(0.0, time - 17.5),
        "receive": 5.0,
    }
    return {
        "startedDateTime": at(start),
        "time": time,
        "request": request,
        "response": response,
        "cache": {},
        "timings": timings,
        "serverIPAddress": "192.0.2.7",
        "connection": "52114",
        "_pipeline": place,
    } | more


def call(number, start, entries, *, target="", method="GET", duration=None, **more):
    result = {
        "id": number,
        "target": target,
        "method": method,
        "url": entries[0]["request"]["url"] if entries else more.pop("url"),
        "startedDateTime": at(start),
        "droppedSpans": 0,
    } | more
    if duration is not None:
        result["duration"] = duration
    if entries and "status" not in more and entries[-1]["response"]["status"] > 0:
        result["status"] = entries[-1]["response"]["status"]
    return result


def span(number, parent, kind, name, start, duration, outcome=None, attempt=1, hop=0):
    result = {
        "id": number,
        "parent": parent,
        "kind": kind,
        "name": name,
        "start": start,
        "duration": duration,
        "outcome": outcome,
        "attempt": attempt,
        "hop": hop,
    }
    return {key: value for key, value in result.items() if value is not None}


def document(calls, entries, **own):
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "Pipeline", "version": "1.0"},
            "entries": entries,
            "_pipeline": {"calls": calls, "live": False, "version": 1, "droppedCalls": 0} | own,
        }
    }


def png(width=48, height=32):
    rows = b"".join(
        b"\0" + bytes(channel for x in range(width) for channel in (40 + 4 * x, 90 + 4 * y, 180)) for y in range(height)
    )
    piece = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (
        b"\x89PNG\r\n\x1a\n"
        + piece(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + piece(b"IDAT", zlib.compress(rows))
        + piece(b"IEND", b"")
    )


PNG = png()
USER = {
    "id": 12345678901234567890,
    "name": "Ada Lovelace",
    "roles": ["admin", "editor"],
    "profile": {"city": "London", "active": True, "score": 9.50, "note": None},
    "tags": [f"tag {index}" for index in range(260)],
}
MULTIPART = (
    b'--edge\r\nContent-Disposition: form-data; name="title"\r\n\r\nA photo\r\n--edge\r\nContent-Disposition: form-data; name="meta"\r\n'
    b'Content-Type: application/json\r\n\r\n{"place":"K\xc3\xb6ln"}\r\n--edge\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n'
    b"Content-Type: image/png\r\n\r\n" + PNG + b"\r\n--edge--\r\n"
)


def retried_spans():
    spans, number = [
        span(0, None, "call", "GitHub.repos", 0, 1310.0, "200"),
        span(1, 0, "encode", "GitHub.repos", 0.2, 0.6),
        span(2, 0, "intercept", "RetryPlugin", 1, 1300.0),
    ], 3
    for attempt, begin, status in ((1, 2, "503"), (2, 420, "503"), (3, 1220, "200")):
        spans += [
            span(number, 2, "prepare", "AuthPlugin", begin, 4.0, attempt=attempt),
            span(number + 1, 2, "wire", "GET https://api.example.com/repos", begin + 5, 75.0, status, attempt),
        ]
        for index, (name, offset, length) in enumerate(
            (("connection", 0, 22.0), ("send", 22, 1.0), ("wait", 23, 40.0), ("receive", 63, 12.0))
        ):
            spans.append(
                span(number + 2 + index, number + 1, "phase", name, begin + 5 + offset, length, attempt=attempt)
            )
        number += 6
        if attempt < 3:
            spans.append(
                span(number, 2, "wait", "retry delay", begin + 85, 320.0 if attempt == 1 else 700.0, attempt=attempt)
            )
        number += 1
    return spans + [span(number, 0, "decode", "[Repository]", 1302, 6.0)]


def ordinary():
    """A recording with a call of each kind, and the numbers of the calls by what they show."""
    entries, calls, names, clock = [], [], {}, 0

    def add(name, made, **more):
        nonlocal clock
        number = len(calls) + 1
        names[name] = number
        own = [entry(number, clock + offset, **part) for offset, part in made]
        entries.extend(own)
        duration = more.pop("duration", own[-1]["time"] + made[-1][0] if own else 0.4)
        calls.append(
            call(
                number, clock, own, duration=duration, **({"method": own[0]["request"]["method"]} if own else {}) | more
            )
        )
        clock += 120

    add(
        "json",
        [(2, dict(url="https://api.example.com/users/7?expand=roles&lang=en", body=json.dumps(USER)))],
        target="GitHub.user",
    )
    repos = "https://api.example.com/repos"
    add(
        "retry",
        [
            (7, dict(url=repos, status=503, time=75.0, reason="Service Unavailable", body="busy", mime="text/plain")),
            (425, dict(url=repos, status=503, time=75.0, attempt=2, body="busy", mime="text/plain")),
            (1225, dict(url=repos, time=75.0, attempt=3, body="[]")),
        ],
        target="GitHub.repos",
        duration=1310.0,
        spans=retried_spans(),
    )
    add(
        "redirect",
        [
            (1, dict(url="https://example.com/docs", status=301, location="https://www.example.com/docs/", time=60.0)),
            (
                63,
                dict(
                    url="https://www.example.com/docs/",
                    hop=1,
                    body="<!doctype html><title>Docs</title>",
                    mime="text/html; charset=utf-8",
                ),
            ),
        ],
    )
    add(
        "cached",
        [],
        url="https://cdn.example.net/logo.png",
        source="cache",
        cacheStatus="Pipeline; hit; ttl=30",
        status=200,
        target="Assets.logo",
        response={
            "status": 200,
            "statusText": "OK",
            "headers": fields(content_type="image/png", age="12"),
            "content": content(PNG, "image/png"),
        },
    )
    add(
        "joined",
        [],
        url="https://api.example.com/users/7",
        joined=True,
        status=200,
        target="GitHub.user",
        duration=31.0,
        response={
            "status": 200,
            "statusText": "OK",
            "headers": fields(content_type="application/json"),
            "content": content("{}", "application/json"),
        },
    )
    add(
        "refused",
        [
            (
                1,
                dict(
                    url="https://api.example.com/orders",
                    method="POST",
                    post='{"item":7,"count":2}',
                    post_mime="application/json",
                    status=503,
                    body='{"error":"busy"}',
                    refusedRetry="methodNotIdempotent",
                ),
            )
        ],
        target="Shop.order",
        error={"code": "unacceptableStatus", "text": "got 503, expected 200…299"},
    )
    add(
        "timeout",
        [
            (
                1,
                dict(
                    url="https://slow.example.org/report",
                    time=5000.0,
                    error=("timeout.idle", "No byte arrived within 5 seconds."),
                ),
            )
        ],
        target="Reports.daily",
        error={"code": "timeout.idle", "text": "No byte arrived within 5 seconds.", "plugin": "TimeoutPlugin"},
    )
    add(
        "form",
        [
            (
                1,
                dict(
                    url="https://api.example.com/login",
                    method="POST",
                    post="user=ada&note=a+b%26c&empty=",
                    status=204,
                    mime="",
                    post_mime="application/x-www-form-urlencoded",
                    set_cookies=[{"name": "theme", "value": "dark"}],
                ),
            )
        ],
    )
    add(
        "multipart",
        [
            (
                1,
                dict(
                    url="https://api.example.com/photos",
                    method="POST",
                    post=MULTIPART,
                    post_mime="multipart/form-data; boundary=edge",
                    status=201,
                    body='{"id":1}',
                ),
            )
        ],
        target="Photos.upload",
    )
    add("image", [(1, dict(url="https://cdn.example.net/photo.png", body=PNG, mime="image/png"))])
    add(
        "svg",
        [
            (
                1,
                dict(
                    url="https://cdn.example.net/icon.svg",
                    body='<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>',
                    mime="image/svg+xml",
                ),
            )
        ],
    )
    add(
        "binary",
        [(1, dict(url="https://cdn.example.net/blob", body=bytes(range(256)) * 40, mime="application/octet-stream"))],
    )
    add(
        "text",
        [
            (
                1,
                dict(
                    url="https://example.com/large.txt",
                    body="A line of text.\n" * 20000,
                    mime="text/plain",
                    trailers=fields(checksum="abc"),
                ),
            )
        ],
    )
    add(
        "downgrade",
        [
            (
                1,
                dict(
                    url="https://example.com/old",
                    status=302,
                    location="http://example.com/new",
                    refusedRedirect="downgrade",
                ),
            )
        ],
    )
    add(
        "first",
        [
            (
                1,
                dict(
                    url="https://api.example.com/settings?v=1",
                    body=json.dumps({"theme": "dark", "size": 3, "items": list(range(40))}),
                    headers=fields(content_type="application/json", etag='"1"'),
                ),
            )
        ],
        target="Settings.load",
    )
    add(
        "second",
        [
            (
                1,
                dict(
                    url="https://api.example.com/settings?v=2",
                    body=json.dumps({"size": 4, "theme": "dark", "items": list(range(41))}),
                    headers=fields(content_type="application/json", etag='"2"', age="3"),
                ),
            )
        ],
        target="Settings.load",
    )
    add(
        "child",
        [
            (
                1,
                dict(
                    url="https://auth.example.com/token",
                    method="POST",
                    post="grant_type=refresh_token",
                    body="{}",
                    post_mime="application/x-www-form-urlencoded",
                    bodyNote="The body has secrets and is not shown.",
                ),
            )
        ],
        parent=1,
    )
    add(
        "quoted",
        [
            (
                1,
                dict(
                    url="https://api.example.com/search?q=it's[1]{2}",
                    method="PUT",
                    post="a'b\n\t$(touch x)`id`\u0001",
                    post_mime="text/plain",
                ),
            )
        ],
    )
    add("stub", [], url="https://api.example.com/stubbed", source="StubPlugin", status=418)
    add("running", [], url="https://api.example.com/stream", target="Events.stream", method="GET")
    del calls[-1]["duration"]
    return document(calls, entries), names


def large(count=10000):
    """A recording of many calls on 12 hosts; always the same."""
    chance, entries, calls, clock = random.Random(7), [], [], 0.0
    for number in range(1, count + 1):
        host, resource = f"api{number % 12}.example.com", chance.choice(
            ["users", "orders", "photos", "search", "events"]
        )
        method = chance.choices(["GET", "POST", "PUT", "DELETE"], [8, 2, 1, 1])[0]
        status = chance.choices([200, 201, 304, 404, 500, 503], [70, 8, 8, 6, 3, 5])[0]
        time = round(chance.lognormvariate(4, 0.9), 2)
        body = json.dumps(
            {"id": number, "items": [{"name": f"item {index}", "value": chance.random()} for index in range(8)]}
        )
        url = f"https://{host}/v1/{resource}/{number}"
        attempts = 2 if status == 503 else 1
        own = [
            entry(
                number,
                clock + attempt * time,
                time=time,
                method=method,
                url=url,
                status=status,
                body=body,
                attempt=attempt + 1,
            )
            for attempt in range(attempts)
        ]
        entries += own
        calls.append(call(number, clock, own, method=method, target=f"API.{resource}", duration=time * attempts + 1))
        clock += chance.expovariate(1 / 90)
    return document(calls, entries)


# Texts that a careless page would run, or that would break it. CANARY is a call that must never happen.
CANARY = "globalThis.canary('RAN')"
HOSTILE = [
    f"<script>{CANARY}</script>",
    f"</script><script>{CANARY}</script>",
    f"<!--<script>{CANARY}//",
    f"--><script>{CANARY}</script>",
    f"]]><script>{CANARY}</script>",
    f"<img src=x onerror={CANARY}>",
    f"<svg onload={CANARY}>",
    f"<svg><script>{CANARY}</script></svg>",
    f"<svg><animate onbegin={CANARY} attributeName=x dur=1s>",
    f"<body onload={CANARY}>",
    f"<details open ontoggle={CANARY}>",
    f"<input autofocus onfocus={CANARY}>",
    f"<video><source onerror={CANARY}></video>",
    f"<iframe srcdoc='<script>parent.{CANARY}</script>'>",
    f"<iframe src=javascript:{CANARY}>",
    f"<object data=javascript:{CANARY}>",
    f"<embed src=javascript:{CANARY}>",
    f"<a href=javascript:{CANARY}>x</a>",
    f"javascript:{CANARY}",
    f"JaVaScRiPt:{CANARY}",
    f"java\tscript:{CANARY}",
    f"data:text/html,<script>{CANARY}</script>",
    f"vbscript:{CANARY}",
    "<base href=//evil.example/>",
    f"<meta http-equiv=refresh content='0;url=javascript:{CANARY}'>",
    "<link rel=stylesheet href=//evil.example/a.css>",
    "<form action=//evil.example/><button autofocus>",
    "</style><style>*{display:none}</style>",
    "red;background:url(//evil.example/a)",
    "x}*{display:none}/*",
    "expression(alert(1))",
    "{{constructor.constructor('canary(1)')()}}",
    "${canary(1)}",
    "<%= canary(1) %>",
    "#{canary(1)}",
    f"`;{CANARY};//",
    f"';{CANARY};//",
    f'";{CANARY};//',
    f"\\u003cscript>{CANARY}</script>",
    "&lt;script&gt;&#x3c;b",
    "\u2028canary(1)\u2029",
    "\u202egnp.exe\u202c",
    "\u2066\u2067\u2068bidi\u2069",
    "\u0000nul\u0000",
    "\ud800lone\udfff",
    "\u200b\ufeff\u00ad",
    "Z̸̢͈̲" * 300,
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "__defineGetter__",
    "NaN",
    "-1",
    "%00%E0%80",
    "%",
    "https://",
    "//",
    "file:///etc/passwd",
    "https://user:secret@evil.example/",
    "http://[::1",
    "x" * 200000,
    "\r\nSet-Cookie: a=b",
    "é" * 5000,
    "-o /tmp/x",
    "@/etc/passwd",
]
DEEP = "[" * 10000 + "]" * 10000
BODIES = [
    (DEEP, "application/json"),
    ('{"a":' * 10000 + "1" + "}" * 10000, "application/json"),
    ('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}', "application/json"),
    ('{"a":1,"a":2,"1e999":1e999,"n":123456789012345678901234567890}', "application/json"),
    ("{", "application/json"),
    ('"' + "\\ud800" + '"', "application/json"),
    ("[" + "0," * 120000 + "0]", "application/json"),
    (f"<svg xmlns='http://www.w3.org/2000/svg' onload='{CANARY}'/>", "image/svg+xml"),
    (f"<svg onload='{CANARY}'/>".encode(), "image/png"),
    (b"\x89PNG\r\n\x1a\n" + b"\xff" * 200, "image/png"),
    (b"\x89PNG\r\n\x1a\n<script>", "text/html"),
    (f"<script>{CANARY}</script>", "text/html"),
    ("__proto__=1&constructor=2&%=%&a=%zz&=&&", "application/x-www-form-urlencoded"),
    ("--x\r\n" * 5000, "multipart/form-data; boundary=x"),
    ("--(.*)+\r\n\r\na", "multipart/form-data; boundary=(.*)+"),
    ("a", "multipart/form-data; boundary="),
    (bytes(range(256)), "text/plain"),
    ("\u0000" * 5000, "text/plain"),
    ("x" * 3000000, "text/plain"),
    ("\n" * 300000, "text/plain"),
]


def hostile():
    """A recording in which each text comes from an attacker, as far as the shape of the data allows it."""
    calls, entries = [], []
    for index, text in enumerate(HOSTILE):
        body, mime = BODIES[index % len(BODIES)]
        pairs = [{"name": text, "value": text}, {"name": "x", "value": text}]
        own = entry(
            index,
            index * 10,
            url=text,
            method=text,
            mime=mime,
            body=body,
            post=text if index % 2 else body,
            post_mime=mime if index % 3 else text,
            headers=pairs,
            request_headers=pairs,
            cookies=pairs,
            set_cookies=pairs,
            query=pairs,
            location=text,
            reason=text,
            trailers=pairs,
            error=(text, text) if index % 4 == 1 else None,
            refusedRetry=text,
            refusedRedirect=text,
            bodyNote=text,
            serverIPAddress=text,
            connection=text,
            cache={"comment": text},
            curl=text if index % 3 == 0 else "",
        )
        own["response"]["httpVersion"] = own["request"]["httpVersion"] = text
        own["request"].setdefault("postData", {})["params"] = (
            [{"name": text, "value": text, "fileName": text}] if index % 5 == 0 else []
        )
        spans = [
            span(0, None, text, text, 0, 5, text),
            span(1, 0, "wire", text, 1, 3, text),
            span(2, 2, text, text, 1, 1),
            span(3, 4, "phase", text, 0, -4),
            span(4, 3, "wait", text, 1e300, 1e308),
            {"id": text, "parent": text, "kind": {}, "name": [], "start": "x"},
        ]
        number = text if index % 7 == 3 else index
        own["_pipeline"]["call"] = number
        calls.append(
            call(
                number,
                index * 10,
                [own],
                method=text,
                target=text,
                duration=5,
                error={"code": text, "text": text, "plugin": text},
                source=text,
                cacheStatus=text,
                spans=spans,
                notes=[text, {}, 7],
                parent=text,
                joined=True,
                response={"status": 200, "statusText": text, "headers": pairs, "content": content(body, mime)},
            )
        )
        entries.append(own)
    # Members of wrong types, and members that are missing.
    for wrong in (None, [], {}, 7, "x", True):
        entries.append(
            {
                "startedDateTime": wrong,
                "time": wrong,
                "request": wrong,
                "response": wrong,
                "timings": wrong,
                "cache": wrong,
                "_pipeline": wrong,
            }
        )
        entries.append(
            {
                "request": {"headers": wrong, "postData": wrong, "url": wrong, "queryString": wrong},
                "response": {"content": wrong, "headers": [wrong], "status": wrong, "_error": wrong},
                "_pipeline": {"call": wrong, "spans": wrong},
            }
        )
        calls.append(
            {
                "id": wrong,
                "spans": [wrong],
                "error": wrong,
                "response": wrong,
                "url": wrong,
                "duration": wrong,
                "startedDateTime": wrong,
            }
        )
    return document(calls + [None, 7], entries + [None, "x"])
