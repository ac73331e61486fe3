"""The page of the HTTP inspector, joined from its files, and a browser that opens it."""

import base64, hashlib, json, pathlib, re, time

from browser import Browser

SCRIPTS = pathlib.Path(__file__).resolve().parent
FOLDER = SCRIPTS.parent / "Sources/Inspector/Page"
AUDIT = (SCRIPTS / "inspectoraudit.js").read_text()
findings = []


def check(condition, text, shown=""):
    if not condition:
        findings.append(f"{text}{f': {shown!r}' if shown != '' else ''}")


def compact(source):
    lines = [line.lstrip(" ") for line in source.split("\n")]
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def page(data):
    """Joins the three files and the data into one document, as the package does.

    inspector.html has each of these placeholders once. The template is split at them before anything is inserted,
    because the inserted texts may contain a placeholder. <!--STYLE--> becomes inspector.css and /*SCRIPT*/ becomes
    inspector.js, both without indentation, empty lines and lines of comments. /*DATA*/ becomes the JSON, with <, >, &, U+2028 and U+2029 as \\u escapes.
    <!--CSP--> becomes the policy, with the base64 of the SHA-256 of the style and of the script: exactly the text
    between their tags.
    """
    style, script = (compact((FOLDER / f"inspector.{kind}").read_text()) for kind in ("css", "js"))
    html = (FOLDER / "inspector.html").read_text()
    text = json.dumps(data, ensure_ascii=False) if not isinstance(data, str) else data
    # JSON can hold a lone surrogate as an escape only.
    text = re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)
    digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    policy = (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data: blob:; "
        "connect-src 'self'; form-action 'none'; base-uri 'none'"
    )
    parts = {
        "<!--CSP-->": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "<!--STYLE-->": style,
        "/*SCRIPT*/": script,
        "/*DATA*/": text,
    }
    pieces = re.split("(" + "|".join(map(re.escape, parts)) + ")", html)
    assert sorted(pieces[1::2]) == sorted(parts), "each placeholder must occur once"
    return "".join(parts.get(piece, piece) for piece in pieces)


class Inspector(Browser):
    """A browser that opens pages of the inspector."""

    def __init__(self, folder, screenshots=None):
        super().__init__(folder)
        self.folder, self.screenshots = pathlib.Path(folder), screenshots
        self.call(
            "Page.addScriptToEvaluateOnNewDocument",
            source="""
          globalThis.ran = [];
          globalThis.canary = value => ran.push(`canary ${value}`);
          globalThis.alert = globalThis.canary;
          document.addEventListener('securitypolicyviolation', event => ran.push(`${event.violatedDirective} ${event.blockedURI}`));
          addEventListener('error', event => ran.push(`error ${event.message}`));
          addEventListener('unhandledrejection', event => ran.push(`rejection ${event.reason}`));""",
        )
        self.call("Emulation.setTimezoneOverride", timezoneId="UTC")
        self.size(1280, 800)

    def size(self, width, height, scheme="light"):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1 if width > 700 else 2,
            mobile=width < 700,
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def show(self, data):
        """Opens a page with data as a file, and returns the seconds that it needed."""
        path = self.folder / "page.html"
        path.write_text(page(data))
        begin = time.monotonic()
        self.open(path.as_uri())
        self.value("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        return time.monotonic() - begin

    def key(self, *names):
        for name in names:
            text = {"text": name} if len(name) == 1 else {"text": "\r"} if name == "Enter" else {}
            code = {"Enter": 13, "Escape": 27}.get(name, 0)
            self.call("Input.dispatchKeyEvent", type="keyDown", key=name, windowsVirtualKeyCode=code, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=name)

    def shot(self, name):
        if not self.screenshots:
            return
        self.value("new Promise(done => setTimeout(done, 150))")
        data = self.call("Page.captureScreenshot", format="png")["data"]
        (self.screenshots / f"{name}.png").write_bytes(base64.b64decode(data))

    def quiet(self, place):
        """Reports each error, each violation of the policy and each call of the canary since the page opened."""
        for text in self.errors + self.value("ran"):
            findings.append(f"{place}: {text}")
        self.errors = []
        self.value("void (ran.length = 0)")

    def audit(self, place):
        for text in self.value(AUDIT):
            findings.append(f"{place}: {text}")

    def panel(self, number, tab):
        """Opens a tab of a call, and returns its text."""
        return self.value(f"openCall('{number}'), showTab('{tab}'), $('panel').innerText")
