#!/usr/bin/env python3
"""Checks the page of the HTTP inspector in headless Chromium.

usage: inspectorcheck.py [--screenshots FOLDER] [PAGE.html ...]

Builds pages from the files in Sources/Inspector/Page with the data of inspectordata.py. Checks what they
show, the keyboard, the export, the cURL commands, 10,000 calls, live changes, contrast and labels, and that hostile data
neither runs nor breaks the page. Each PAGE is a page that the package wrote; it must open without an error and pass the
same audit of contrast and labels. Prints the findings and exits with 1 if there are any. Speed is only measured, except
that 10,000 calls must open within 10 s.
"""

import http.server, json, pathlib, re, subprocess, sys, tempfile, threading, time

import inspectordata
from inspectorpage import FOLDER, SCRIPTS, AUDIT, Inspector, check, findings, page

TABS = ("overview", "timeline", "request", "response", "curl")
FILTERS = {  # The calls of the ordinary recording that a filter shows, by name.
    "": None,
    "status:5xx": ["refused"],
    "status:301": [],
    "status:200-204": 15,
    "-status:200": 7,
    "host:cdn": ["cached", "image", "svg", "binary"],
    "method:POST": ["refused", "form", "multipart", "child"],
    "method:post -host:api": ["child"],
    "target:settings": ["first", "second"],
    "is:failed": ["refused", "timeout", "stub"],
    "is:retried": ["retry"],
    "is:redirected": ["redirect"],
    "is:cached": ["cached"],
    "is:joined": ["joined"],
    "is:running": ["running"],
    "is:refused": ["refused", "downgrade"],
    "slower:1s": ["retry", "timeout"],
    "faster:1ms": ["cached", "stub"],
    "larger:10k": ["binary", "text"],
    "larger:1M": [],
    "type:image": ["cached", "image", "svg"],
    "error:TIMEOUT": ["timeout"],
    "header:etag": ["first", "second"],
    "body:lovelace": ["json"],
    "body:iVBORw0KGgo": [],
    'body:"it\'s"': [],
    "lovelace": [],
    "id:7": ["timeout"],
    "/USERS/7": ["json", "joined"],
    '"No byte arrived"': ["timeout"],
    "https://example.com/": ["redirect", "text", "downgrade"],
    "toString": [],
    "is:failed -error:timeout": ["refused", "stub"],
}


def check_list(browser, names):
    shown = lambda: browser.value("state.shown.map(call => call.key)")
    for text, expected in FILTERS.items():
        browser.value(f"setFilter({json.dumps(text)})")
        found = shown()
        if isinstance(expected, int):
            check(len(found) == expected, f"the filter {text} shows", len(found))
        else:
            check(
                expected is None or found == [str(names[name]) for name in expected], f"the filter {text} shows", found
            )
    for text in ("larger:x", "is:what", "status:9xx", "slower:1h"):
        browser.value(f"setFilter('{text}')")
        check(
            browser.value("$('filter').getAttribute('aria-invalid')") == "true" and len(shown()) == len(names),
            f"an invalid filter is not reported: {text}",
        )
    browser.value("setFilter(''), $('bodies').checked = true, setFilter('lovelace')")
    check(shown() == [str(names["json"])], "the search in bodies shows", shown())
    browser.value("$('bodies').checked = false, setFilter(''), document.querySelector('#chips button').click()")
    check(
        browser.value("$('filter').value + document.querySelector('#chips button').ariaPressed") == "is:failedtrue",
        "a chip does not set its filter",
    )
    browser.value("setFilter(''), sortBy('duration')")
    check(
        shown()[:2] == [str(names["running"]), str(names["timeout"])],
        "sorted by duration, the list begins with",
        shown()[:2],
    )
    browser.value("sortBy('start')")
    check(shown() == [str(number) for number in sorted(names.values())], "sorted by start, the list is", shown())
    summary = browser.value("$('summary').textContent")
    check(summary == "20 calls · 3 failed · 340 kB · in 5.72 s", "the summary is", summary)
    browser.value("$('summary').querySelector('button').click()")
    check(
        browser.value("$('filter').value") == "is:failed" and len(shown()) == 3,
        "the count of failed calls does not show them",
    )
    colors = browser.value("[...document.querySelectorAll('#rows .c-status span')].map(span => getComputedStyle(span).color)")
    check(len(set(colors)) == 1, "failed calls have the colors", colors)
    browser.value("setFilter('')")
    texts = browser.value(
        f"[{names['refused']}, {names['downgrade']}].map(key => rowOf(state.calls.get(String(key))).node.textContent)"
    )
    check("not retried" in texts[0] and "unacceptableStatus" not in texts[0], "the badges of a refused retry", texts[0])
    check("redirect not followed" in texts[1], "the badges of a refused redirect", texts[1])


def check_keyboard(browser, names):
    state = lambda: browser.value("[state.active, state.open, state.tab, state.marked.size, state.view].join()")
    browser.value("closeCall(), state.active = null, state.tab = 'overview', $('grid').focus()")
    browser.key("j", "j", "ArrowDown", "k")
    check(state() == "2,,overview,0,calls", "after j, j, down and k", state())
    browser.key("Enter", "2")
    check(state() == "2,2,timeline,0,calls", "after Enter and 2", state())
    browser.value("$('tab-timeline').focus()")
    browser.key("ArrowRight")
    check(browser.value("document.activeElement.id") == "tab-request", "an arrow key does not move to the next tab")
    browser.value("$('grid').focus()")
    browser.key("j", "4")
    check(state() == "3,3,response,0,calls", "after j and 4 with an open call", state())
    check(
        browser.value("$('grid').getAttribute('aria-activedescendant')") == "row-2",
        "aria-activedescendant is not that of the third row",
    )
    browser.key("Escape", "x", "End", "x")
    check(
        state() == "20,,response,2,calls" and not browser.value("$('compare').disabled"),
        "after Escape, x, End and x",
        state(),
    )
    browser.key("/")
    check(browser.value("document.activeElement.id") == "filter", "/ does not focus the filter")
    browser.key("j")
    check(browser.value("$('filter').value") == "j", "a key in the filter is not typed")
    browser.value("setFilter('')")
    browser.key("Escape", "?")
    check(browser.value("$('help').open"), "? does not open the help")
    browser.key("Escape")
    check(not browser.value("$('help').open"), "Escape does not close the help")
    browser.value("mark('3'), mark('20'), $('grid').focus()")


DETAILS = [  # A call, a tab, and texts that the tab has.
    (
        "json",
        "overview",
        [
            "https://api.example.com/users/7?expand=roles&lang=en",
            "GitHub.user",
            "HTTP/2, 192.0.2.7, connection ID 52114",
            "42 ms, of which 40 ms in exchanges",
            "2026-11-21 09:30:00.000 GMT+0000",
        ],
    ),
    ("json", "request", ["expand", "roles", "accept", "application/json", "No body."]),
    ("json", "response", ["12345678901234567890", '"Ada Lovelace"', "9.5", "260 items", "Show 100 of 160 more"]),
    (
        "retry",
        "overview",
        ["503", "200", "Attempt", "1.31 s, of which 225 ms in exchanges", "1.02 s: retry delay 320 ms, 700 ms"],
    ),
    ("retry", "timeline", ["0 ms\n655 ms\n1,310 ms", "1,225 ms", "1,248 ms"]),
    (
        "retry",
        "timeline",
        ["intercept", "RetryPlugin", "retry delay", "320 ms", "attempt 1", "attempt 2", "attempt 3", "connection", "decode", "503"],
    ),
    ("redirect", "timeline", ["wire", "redirect 1", "DNS", "TLS", "2.0 ms"]),
    ("redirect", "response", ["2 of 2: attempt 1, redirect 1, 200", "<title>Docs"]),
    ("cached", "timeline", ["The response is from the cache. Pipeline; hit; ttl=30"]),
    ("cached", "overview", ["The cache responded.", "None of its own."]),
    ("cached", "response", ["image/png, 48 × 32"]),
    ("joined", "timeline", ["Joined another call in flight, and shares its response."]),
    (
        "refused",
        "overview",
        ["Not retried: methodNotIdempotent – The server may have processed the request", "got 503"],
    ),
    ("refused", "timeline", ["not retried: methodNotIdempotent"]),
    ("refused", "request", ['"item"', "7"]),
    ("downgrade", "overview", ["Redirect not followed: downgrade – The redirect leads from https to http."]),
    ("timeout", "overview", ["timeout.idle", "No byte arrived within 5 seconds.", "TimeoutPlugin"]),
    ("timeout", "response", ["Error", "timeout.idle"]),
    ("form", "request", ["Form", "user", "ada", "a b&c", "empty"]),
    ("form", "response", ["Cookies", "theme", "dark"]),
    (
        "multipart",
        "request",
        ["Part 1: title", "A photo", "Part 2: meta", '"Köln"', "Part 3: file", "image/png, 48 × 32"],
    ),
    ("image", "response", ["image/png, 48 × 32"]),
    ("svg", "response", ["<svg xmlns"]),
    ("binary", "response", ["00000010  10 11 12", "Show more of 10 kB"]),
    ("text", "response", ["Show all 320 kB", "Trailer fields", "checksum"]),
    ("child", "overview", ["Started by", "Call 1"]),
    ("child", "request", ["The body has secrets and is not shown."]),
    ("json", "overview", ["Calls inside", "Call 17"]),
    ("stub", "overview", ["The plugin StubPlugin responded."]),
    ("running", "overview", ["running"]),
    ("running", "response", ["no response yet"]),
]


def check_details(browser, names):
    for name, tab, texts in DETAILS:
        browser.panel(names[name], tab)
        shown = browser.value("new Promise(done => setTimeout(() => done($('panel').innerText), 30))")
        for text in texts:
            check(text in shown, f"the tab {tab} of the call {name} lacks", text)
    check(
        browser.value(
            f"openCall('{names['svg']}'), showTab('response'), document.querySelectorAll('#panel img, #panel svg').length"
        )
        == 0,
        "SVG is an image",
    )
    rows = "[...document.querySelectorAll('.timeline tbody tr')].filter(row => !row.hidden).length"
    browser.panel(names["retry"], "timeline")
    check(browser.value(rows) == 24, "rows of the timeline", browser.value(rows))
    browser.value("document.querySelectorAll('.timeline .twist')[1].click()")
    check(browser.value(rows) == 4, "rows after folding the plugin", browser.value(rows))
    browser.value("[1, 2].forEach(index => document.querySelectorAll('.timeline .twist')[index].click())")
    check(browser.value(rows) == 20, "rows after folding an exchange", browser.value(rows))
    browser.panel(names["json"], "response")
    browser.value(
        "[...document.querySelectorAll('#panel button')].find(button => button.textContent.startsWith('Show 100')).click()"
    )
    check('"tag 199"' in browser.value("$('panel').innerText"), "the tree does not show more items")


def check_parts(browser, names):
    """Checks single functions of the page with values whose results are known."""
    percentiles = browser.value(
        "[0.5, 0.95, 0.99].map(share => percentile(Array.from({length: 200}, (_, i) => i + 1), share))"
    )
    check(percentiles == [100, 190, 198], "the percentiles of 1 to 200 are", percentiles)
    rows = browser.value("statisticsOf([...state.calls.values()].filter(call => !call.running), 'host')")
    found = {row["name"]: (row["count"], row["failed"], row["p50"], row["p99"]) for row in rows}
    check(found["slow.example.org"] == (1, 1, 5001, 5001), "the statistics of a host", found["slow.example.org"])
    check(found["cdn.example.net"] == (4, 0, 41, 41), "the statistics of a host", found["cdn.example.net"])
    spans = browser.value(f"spansOf(state.calls.get('{names['redirect']}')).spans.slice(1, 9)")
    times = {span["name"]: (span["start"], span["duration"]) for span in spans}
    check(times["connect"] == (4, 9) and times["TLS"] == (7, 6) and times["send"] == (13, 0.5), "phases", times)
    shown = browser.value("visible('a\\0\\u202e\\ud800\\ufeffé😀\\n')")
    check(shown == "a\\u0000\\u202e\\ud800\\ufeffé😀\n", "hidden characters are shown as", shown)
    failed = browser.value("makeCall('x', null, [{request: {}, response: {status: 0}}]).failed")
    check(failed, "a call without a response is not failed")
    browser.value("globalThis.revoked = [], URL.revokeObjectURL = url => revoked.push(url), 0")
    browser.panel(names["image"], "response")
    browser.value("new Promise(done => setTimeout(done, 100))")
    check(browser.value("revoked.length") >= 1, "the URL of an image is not revoked")
    kinds = {
        "RIFF0000WEBPVP8": "image/webp",
        "RIFF0000WAVE": None,
        "GIF89a": "image/gif",
        "<svg xmlns=''/>": None,
        "": None,
    }
    for start, kind in kinds.items():
        found = browser.value(f"imageType({{bytes: fromLatin1({json.dumps(start)})}})")
        check(found == kind, f"the type of an image that begins with {start}", found)
    same = (
        'bodyDiff({text: \'{"a":1,"b":[2]}\', bytes: null}, {text: \'{ "b": [2], "a": 1 }\', bytes: null}).textContent'
    )
    check(browser.value(same).startswith("The JSON is equal"), "the order of members is a difference")
    for text in ('{"a":[1,2.50,"x\\u0000"],"b":{},"c":[]}', "[]", '"x"', " -1e5 ", "null", '{"a":1,"a":2}'):
        found = json.loads("".join(browser.value(f"jsonLines(parseJSON({json.dumps(text)}), 100)")))
        check(found == json.loads(text), "parsed as JSON", found)
    for text in (
        "",
        "{",
        "[1,]",
        '{"a"}',
        '{"a":}',
        "{,}",
        "01",
        "[1 2]",
        "tru",
        '"\n"',
        "[]]",
        "{}x",
        "'a'",
        "NaN",
        "{1:2}",
        "]",
    ):
        check(browser.value(f"parseJSON({json.dumps(text)})") is None, "parsed as JSON", text)


def check_comparison(browser, names):
    browser.value(f"state.marked.clear(), mark('{names['first']}'), mark('{names['second']}'), compareMarked()")
    shown = browser.value("$('comparison-body').innerText")
    for text in (
        "Header fields of the responses: 2 differences",
        '-   "size": 3',
        '+   "size": 4',
        "+     40",
        "equal lines",
        "absent",
    ):
        check(text in shown, "the comparison lacks", text)
    check('"theme"' not in re.sub("(?m)^ .*$", "", shown), "the order of members is a difference")
    texts = [
        ["a", "b"],
        [],
        ["b", "a", "c"],
        list("abcabba"),
        list("cbabac"),
        ["x"] * 50,
        ["x"] * 20 + ["y"] + ["x"] * 30,
    ]
    for before in texts:
        for after in texts:
            lines = browser.value(f"diffLines({json.dumps(before)}, {json.dumps(after)})")
            check(
                [text for mark, text in lines if mark != "+"] == before
                and [text for mark, text in lines if mark != "-"] == after,
                "a wrong difference of",
                [before, after],
            )
    check(
        len([1 for mark, _ in browser.value('diffLines([..."abcabba"], [..."cbabac"])') if mark != " "]) == 5,
        "the difference is not the shortest",
    )
    check(
        browser.value(
            "diffLines(Array.from({length: 5000}, (_, i) => `a${i}`), Array.from({length: 5000}, (_, i) => `b${i}`))"
        )
        is None,
        "a difference is not bounded",
    )


def check_export(browser, data, names):
    """Compares each exported document with the data."""
    browser.value(
        "globalThis.blobs = []; URL.createObjectURL = blob => { blobs.push(blob); return 'blob:none'; };"
        "HTMLAnchorElement.prototype.click = function () { blobs.name = this.download; }; 0"
    )
    log = data["log"]
    chosen = {
        "export-all": list(names.values()),
        "export-shown": [6, 7, 19],
        "export-selected": [names["first"], names["second"]],
    }
    browser.value(f"setFilter('is:failed'), mark('{names['first']}'), mark('{names['second']}')")
    for button, numbers in chosen.items():
        text = browser.value(f"$('exports').showPopover(), $('{button}').click(), blobs.pop().text()")
        found = json.loads(text)["log"]
        check(
            found["entries"] == [entry for entry in log["entries"] if entry["_pipeline"]["call"] in numbers],
            f"{button}: the entries differ from the data",
        )
        check(
            found["_pipeline"]["calls"] == [call for call in log["_pipeline"]["calls"] if call["id"] in numbers],
            f"{button}: the calls differ from the data",
        )
        check(
            found["version"] == "1.2" and found["creator"] == log["creator"],
            f"{button}: not the version and the creator",
        )
        if button == "export-all":
            path = browser.folder / "export.har"
            path.write_text(text)
            result = subprocess.run([sys.executable, SCRIPTS / "harcheck.py", path], capture_output=True, text=True)
            findings.extend(
                f"the exported file: {line}" for line in result.stdout.splitlines() if re.search(r": [SM] ", line)
            )
    browser.value("setFilter(''), state.marked.clear(), marked()")


HEADERS = [
    ["X-Quote", 'it\'s "a" $(touch x) `id` \\ !'],
    ["X-Empty", ""],
    ["X-Bell", "\u0007\u202e"],
    ["@/etc/passwd", "x"],
    ["X-Break", "a\r\nb: c"],
    ["Content-Length", "3"],
]
COMMANDS = [  # A method, a URL, a body, and the arguments that a shell must pass to curl before and after the header fields.
    ("GET", "https://a.example/?q=it's", None, ["-X", "GET"], []),
    ("POST", "https://a.example/", "a=b", ["-X", "POST"], ["--data-raw", "a=b"]),
    ("HEAD", "https://a.example/", None, ["--head"], []),
    ("PUT", "https://a.example/[1-9]{a,b}", "@/etc/passwd", ["-X", "PUT", "--globoff"], ["--data-raw", "@/etc/passwd"]),
    (
        "POST",
        "https://a.example/$(touch x)`id`\\",
        "tab\tline\n'quote' \\ \u0001\u2028\u202e é 漢 😀 !x",
        ["-X", "POST"],
        ["--data-raw", "tab\tline\n'quote' \\ \u0001\u2028\u202e é 漢 😀 !x"],
    ),
    ("DELETE", "https://a.example/\n-o/etc/passwd", None, ["-X", "DELETE"], []),
    ("POST", "https://a.example/", "a\0b", ["-X", "POST"], ["--data-binary", "@-"]),
    ("GET", "https://a.example/", "-o x", ["-X", "GET"], ["--data-raw", "-o x"]),
    ("POST", "https://a.example/", "x" * 100000, ["-X", "POST"], ["--data-raw", "x" * 100000]),
]


def check_commands(browser, names):
    """Has bash parse each command, with a function for curl that prints its arguments."""
    fields = [{"name": name, "value": value} for name, value in HEADERS]
    heads = [
        argument
        for name, value in HEADERS[:3]
        for argument in ("-H", f"{name}: {value}" if value else f"{name};")
    ]
    for method, url, body, first, last in COMMANDS:
        request = {"method": method, "url": url, "headers": fields} | (
            {} if body is None else {"postData": {"mimeType": "", "text": body}}
        )
        command = browser.value(f"curlOf(new Exchange({json.dumps({'request': request})})).command")
        run = lambda *arguments: subprocess.run(
            ["bash", *arguments],
            capture_output=True,
            input=command.encode(),
            cwd=browser.folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        )
        check(run("-n").returncode == 0, "bash cannot parse", command)
        script = browser.folder / "command.sh"
        script.write_bytes(
            b"curl() { printf '%s\\0' \"$@\"; case \" $* \" in *' @- '*) cat;; esac; }\n" + command.encode()
        )
        found = run(str(script)).stdout.decode().split("\0")
        tail = [""] if body is None or "\0" not in body else body.split("\0")
        kind = [] if body is None else ["-H", "Content-Type:"]
        check(found == first + heads + kind + last + [url] + tail, "curl gets", found)
        check(not re.search("[\0-\x08\x0b-\x1f\u202e\u2028]", command), "a hidden character is in", command)
    for url in ("file:///etc/passwd", "-o/tmp/x", "javascript:alert(1)", ""):
        check(
            browser.value(f"curlOf(new Exchange({{request: {{method: 'GET', url: {json.dumps(url)}}}}})).command ?? 0")
            == 0,
            "there is a command for",
            url,
        )
    check(
        "-X PUT" in browser.panel(names["quoted"], "curl").replace("'", "").replace("\\\n  ", ""),
        "the tab cURL shows no command",
    )


def check_joined(browser):
    """Opens a page with a retried call, a call that joined another one, a replay and an `APIRequest`."""
    made, url = inspectordata, "https://api.example.com/users/7"
    shared = made.entry(2, 100, url=url, body='{"name":"Ada"}', time=90.0)
    entries = [
        made.entry(1, 0, url="https://api.example.com/a"),
        shared,
        made.entry(3, 120, url="https://api.example.com/b", status=503, time=20.0),
        made.entry(3, 160, url="https://api.example.com/b", attempt=2, time=20.0),
    ]
    entries[0]["_pipeline"]["replayed"] = True
    # As the package writes them: without the attempt.
    spans = [
        {"id": number, "kind": kind, "name": "GET https://api.example.com/b", "start": start, "duration": 20.0, "outcome": "503"}
        for number, kind, start in ((0, "call", 0), (1, "wire", 0), (2, "wire", 40))
    ]
    response = {name: shared["response"][name] for name in ("status", "statusText", "headers", "content")}
    calls = [
        made.call(1, 0, entries[:1], duration=10.0, target="GET /a/{id}"),
        made.call(2, 100, entries[1:2], duration=90.0, target="GitHub.user"),
        made.call(3, 120, entries[2:], duration=60.0, spans=spans, notes=["RateLimitPlugin waited 20 ms"]),
        made.call(4, 150, [], url=url, duration=40.0, target="GitHub.user", joined=True, status=200, response=response),
        made.call(5, 400, [], url=url, duration=40.0, target="GitHub.user", joined=True, status=200, response=response),
    ]
    browser.show(made.document(calls, entries, program="shop 1.2"))
    check(browser.value("state.open") == "3", "the first interesting call is not open, but", browser.value("state.open"))
    title = browser.value("document.title")
    check(re.fullmatch(r"shop 1\.2 · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} GMT[+-]\d{4} · HTTP calls", title), "the title is", title)
    order = browser.value("state.shown.map(call => call.key).join()")
    check(order == "1,2,4,3,5", "a joined call does not follow the other one", order)
    rows = browser.value("$('rows').innerText")
    for text in ("/a/{id}", "replayed", "↳ GitHub.user", "joined call 2"):
        check(text in rows, "the list lacks", text)
    check("GET /a" not in rows, "the list repeats the method of a call")
    browser.value("openCall('4'), showTab('overview'), [...document.querySelectorAll('dd button')][0].click(), 0")
    check(browser.value("state.open") == "2", "a joined call has no link to the other one")
    shown = browser.panel(5, "overview")
    check("Joined another call in flight" in shown, "a call that was not in flight is linked")
    check("RateLimitPlugin waited 20 ms" in browser.panel(3, "overview"), "the call does not show what plugins did")
    tags = "[...document.querySelectorAll('.timeline .tag')].map(tag => tag.innerText).join()"
    browser.panel(3, "timeline")
    names = browser.value("[...document.querySelectorAll('.timeline .name')].map(name => name.innerText).join()")
    check(names == "GET /b,GET /b,GET /b", "the timeline shows hosts", names)
    check(browser.value(tags) == "attempt 1,attempt 2", "the timeline names the attempts", browser.value(tags))
    browser.value("setFilter('hosts:api')")
    problem = browser.value("$('filter-problem').textContent")
    check(problem == "“hosts:” is not a filter, but searched as text", "an unknown filter says", problem)
    browser.value("setFilter(''), closeCall(), showView('statistics'), 0")
    browser.size(390, 740)
    cells = "[...document.querySelectorAll('.numbers thead th')].filter(cell => cell.getBoundingClientRect().right <= 390)"
    heads = browser.value(f"{cells}.map(cell => cell.innerText.trim()).slice(0, 6)")
    check({"Error rate", "p50", "p95", "p99"} <= {re.sub(" [▲▼]", "", head) for head in heads}, "on a phone, statistics show", heads)
    browser.shot("phone-statistics")
    browser.size(1280, 800)
    browser.value("showView('calls'), 0")
    browser.quiet("joined calls")


def check_hostile(browser):
    browser.show(inspectordata.hostile())
    browser.quiet("hostile data, list")
    count = browser.value("state.calls.size")
    check(count > 70, "calls of the hostile data", count)
    keys = browser.value("[...state.calls.keys()]")
    for key in keys:
        for tab in TABS:
            browser.value(f"openCall({json.dumps(key)}), showTab('{tab}'), 0")
            # Each view of a body, and each part that is folded.
            browser.value(
                "for (const button of document.querySelectorAll('#panel .switch button, #panel .twist')) button.click(); 0"
            )
            browser.quiet(f"hostile data, call {key[:40]!r}, {tab}")
    tags = browser.value(
        "[...new Set([...document.querySelectorAll('*')].map(node => node.localName))]"
        ".filter(name => /^(iframe|object|embed|svg|base|form|video|a)$/.test(name))"
    )
    check(tags == [], "hostile data made the elements", tags)
    check(
        browser.value("({}).polluted === undefined && Object.prototype.toString.call({}) === '[object Object]'"),
        "hostile data changed Object.prototype",
    )
    browser.value("closeCall(), showView('statistics'), 0")
    browser.quiet("hostile data, statistics")
    for key in keys[::7]:
        browser.value(f"state.marked.clear(), mark({json.dumps(key)}), mark({json.dumps(keys[3])}), compareMarked(), 0")
        browser.quiet(f"hostile data, comparison of {key[:40]!r}")
    for text in inspectordata.HOSTILE:
        browser.value(f"setFilter({json.dumps(text[:2000])}), 0")
    browser.quiet("hostile data, filters")
    json.loads(browser.value("JSON.stringify(harOf([...state.calls.values()]))"))
    browser.value("setFilter(''), showView('calls'), 0")
    for width, scheme in ((1280, "light"), (360, "dark")):
        browser.size(width, 740, scheme)
        browser.audit(f"hostile data, {width} px")
    browser.size(1280, 800)
    fields = [{"name": f"x-{index}", "value": "x"} for index in range(3000)]
    browser.show(
        inspectordata.document(
            [], [inspectordata.entry(1, index, headers=fields if index == 99999 else []) for index in range(100000)]
        )
    )
    shown = browser.panel(1, "response")
    check("2,000 more fields not shown." in shown, "the rows of a table are not bounded")
    browser.panel(1, "overview"), browser.panel(1, "timeline")
    check(
        browser.value("document.querySelectorAll('*').length") < 20000,
        "elements for 100,000 exchanges",
        browser.value("document.querySelectorAll('*').length"),
    )
    browser.quiet("100,000 exchanges in a call")
    for wrong in (
        "",
        "null",
        "[]",
        "7",
        '"x"',
        '{"log":7}',
        '{"log":{"entries":{}}}',
        '{"log":{"_pipeline":{"calls":[null]}}}',
        "{",
    ):
        browser.show(wrong)
        check(browser.value("$('empty').hidden") is False, "no text for the data", wrong)
        browser.quiet(f"the data {wrong}")


def check_large(browser):
    """Measures 10,000 calls, and returns the figures as a text."""
    data = json.dumps(inspectordata.large())
    opened = browser.show(data)
    own = browser.value("performance.now() - performance.getEntriesByType('navigation')[0].responseEnd")
    timed = lambda expression: browser.value(
        f"(() => {{ const begin = performance.now(); {expression}; $('rows').offsetHeight; "
        f"return performance.now() - begin; }})()"
    )
    nodes = browser.value("document.querySelectorAll('#rows > *').length")
    filtered, searched = timed("setFilter('status:5xx host:api1')"), timed("setFilter('body:\"item 7\"')")
    typed = timed("setFilter('orders/99')")
    browser.value("setFilter(''), 0")
    sort = timed("sortBy('duration')")
    browser.value("sortBy('start'), 0")
    scroll = browser.value("""(async () => {
      let longest = 0;
      for (let step = 1; step <= 60; step += 1) {
        $('grid').scrollTop = step / 60 * $('grid').scrollHeight;
        const begin = performance.now();
        renderList();
        longest = Math.max(longest, performance.now() - begin);
        await new Promise(requestAnimationFrame);
      }
      return longest;
    })()""")
    check(
        browser.value("document.querySelectorAll('#rows > *').length") <= max(60, nodes + 10),
        "scrolling leaves rows behind",
    )
    check("/10000" in browser.value("$('rows').innerText"), "the last call is not shown at the end")
    statistics = timed("showView('statistics')")
    check(opened < 10, "seconds to open 10,000 calls", opened)
    browser.quiet("10,000 calls")
    browser.value("showView('calls'), 0")
    browser.shot("large")
    return (
        f"10,000 calls ({len(data) / 1e6:.1f} MB) open in {opened:.2f} s, filter {filtered:.0f} ms, "
        f"text {typed:.0f} ms, bodies {searched:.0f} ms, sort {sort:.0f} ms, longest step of a scroll {scroll:.1f} ms, statistics {statistics:.0f} ms, {nodes} rows in the document"
    )


def check_live(browser):
    """Serves a page whose data changes, then stops and starts to respond."""
    data, names = inspectordata.ordinary()
    log, place = data["log"], data["log"]["_pipeline"]
    first = inspectordata.document(
        place["calls"][:5], [entry for entry in log["entries"] if entry["_pipeline"]["call"] <= 5], live=True
    )
    server_state = {"fails": False, "asked": [], "changes": {}}
    document = page(first).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.removeprefix("/token/")
            after = path.removeprefix("data?after=")
            if path != "" and path == after:
                return self.send_error(404)
            if path:
                server_state["asked"].append(after)
            if path and server_state["fails"]:
                return self.send_error(503)
            empty = {"log": {"entries": [], "_pipeline": {"calls": [], "live": True, "version": int(after or 1), "removed": []}}}
            body = document if not path else json.dumps(server_state["changes"].get(after, empty)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json" if path else "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    until = lambda condition: browser.value(
        f"new Promise(done => {{ let left = 200; const look = () => "
        f"({condition}) || !left-- ? done({condition}) : setTimeout(look, 50); look(); }})"
    )
    browser.open(f"http://127.0.0.1:{server.server_port}/token/")
    check(
        browser.value("$('connection').textContent + state.calls.size") == "Live5",
        "the live page does not begin with its data",
    )
    browser.value("openCall('6'), openCall('5'), showTab('overview'), 0")
    running = {**place["calls"][5], "duration": None}
    del running["duration"], running["error"], running["status"]
    change = inspectordata.document([running], [], live=True, removed=[1, 5], droppedCalls=2) | {}
    change["log"]["_pipeline"]["version"] = 2
    server_state["changes"]["1"] = change
    check(
        until("state.calls.has('6') && state.calls.get('6').running && !state.calls.has('1') && state.open === null"),
        "a change is not applied",
    )
    check("2 older calls dropped" in browser.value("$('summary').textContent"), "dropped calls are not shown")
    browser.value("openCall('6'), showTab('overview'), 0")
    change = inspectordata.document(
        [place["calls"][5]], [entry for entry in log["entries"] if entry["_pipeline"]["call"] == 6], live=True, removed=[]
    )
    change["log"]["_pipeline"]["version"] = 3
    server_state["changes"]["2"] = change
    check(until("$('panel').innerText.includes('methodNotIdempotent')"), "an open call is not updated")
    server_state["fails"] = True
    check(until("$('connection').textContent === 'Disconnected' && !$('reconnect').hidden"), "a failure is not shown")
    browser.shot("live-disconnected")
    server_state["fails"] = False
    browser.value("$('reconnect').click(), 0")
    check(until("$('connection').textContent === 'Live' && $('reconnect').hidden"), "the page does not reconnect")
    # A page that is too far behind gets all calls, without the member "removed".
    change = inspectordata.document([place["calls"][6]], [], live=True)
    change["log"]["_pipeline"]["version"] = 4
    server_state["changes"]["3"] = change
    check(until("state.version === 4 && state.calls.size === 1"), "a whole document does not replace all calls")
    browser.value("$('pause').click(), 0")
    count = len(server_state["asked"])
    time.sleep(1.2)
    check(len(server_state["asked"]) <= count + 1, "a paused page asks for changes")
    # The page may be paused before it asks for changes after the last version.
    asked = set(server_state["asked"]) - {"4"}
    check(asked == {"1", "2", "3"}, "the versions asked for", asked)
    server.shutdown()
    browser.errors = [text for text in browser.errors if "503" not in text]
    browser.quiet("live")


def check_looks(browser, names):
    """Audits each view in both schemes, on a desktop and on a phone, and takes the screenshots."""
    for size, device in (((1280, 800), "desktop"), ((360, 740), "phone")):
        for scheme in ("light", "dark"):
            browser.size(*size, scheme)

            def look(name, expression):
                browser.value(f"{expression}, 0")
                browser.audit(f"{device}, {scheme}, {name}")
                browser.shot(f"{device}-{scheme}-{name}")

            look("list", "closeCall(), showView('calls'), state.active = '2', renderList()")
            for tab in TABS:
                look(tab, f"openCall('{names['retry']}'), showTab('{tab}')")
            for name in ("json", "image", "multipart", "refused", "binary"):
                look(
                    name,
                    f"openCall('{names[name]}'), showTab('{ {'multipart': 'request', 'refused': 'overview'}.get(name, 'response')}')",
                )
            look(
                "comparison",
                f"state.marked.clear(), mark('{names['first']}'), mark('{names['second']}'), compareMarked()",
            )
            look("statistics", "showView('statistics')")
            look("help", "showView('calls'), closeCall(), $('help').showModal()")
            look("export", "$('help').close(), $('exports').showPopover()")
            browser.value("$('exports').hidePopover(), 0")
    browser.size(1280, 800)
    # The audit itself must find something on a bad page.
    browser.value("$('summary').style.color = '#999', $('export').textContent = '', $('filter').tabIndex = 3, 0")
    found = " ".join(browser.value(AUDIT))
    check(
        all(text in found for text in ("contrast", "no accessible name", "positive tabindex")),
        "the audit finds only",
        found,
    )


def check_foreign(browser, path):
    """Opens a page that the package wrote; its picture shows the timeline of the call with the most attempts."""
    check(path.exists(), f"{path}: no such file")
    if not path.exists():
        return
    browser.open(path.resolve().as_uri())
    check(browser.value("state.calls.size") > 0, f"{path}: no calls")
    browser.value("openCall(state.shown[0].key), 0")
    for tab in TABS:
        browser.value(f"showTab('{tab}'), 0")
        browser.audit(f"{path}, {tab}")
    browser.value("openCall([...state.calls.values()].sort((a, b) => b.attempts - a.attempts)[0].key), 0")
    browser.value("showTab('timeline'), 0")
    browser.shot(path.stem)
    browser.quiet(path)


def main():
    arguments = sys.argv[1:]
    screenshots = (
        pathlib.Path(arguments.pop(arguments.index("--screenshots") + 1)) if "--screenshots" in arguments else None
    )
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
    pages = [pathlib.Path(argument) for argument in arguments if not argument.startswith("--")]
    source = (FOLDER / "inspector.js").read_text() + (FOLDER / "inspector.html").read_text()
    forbidden = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|https?://[\w.]+|</script\b.*</script",
        source,
    )
    check(forbidden == [], "the page has", forbidden)
    data, names = inspectordata.ordinary()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Inspector(folder, screenshots)
        browser.show(data)
        for step in (
            check_list,
            check_details,
            check_keyboard,
            check_parts,
            check_comparison,
            check_commands,
            check_looks,
        ):
            step(browser, names)
        browser.quiet("ordinary data")
        browser.show(data)
        check_export(browser, data, names)
        check_joined(browser)
        check_hostile(browser)
        check_live(browser)
        figures = check_large(browser)
        for path in pages:
            check_foreign(browser, path)
        browser.stop()
    size = len(page("").encode())
    check(size <= 90 * 1024, "bytes of the page without data", size)
    print("\n".join(findings[:200]))
    print(f"inspectorcheck: {size / 1000:.1f} kB without data; {figures}: {len(findings)} findings")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
