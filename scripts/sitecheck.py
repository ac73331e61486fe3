#!/usr/bin/env python3
"""Opens the documentation site in headless Chromium and follows its internal links.

usage: sitecheck.py SITE [--pages N]

First, every link in the site's data must lead to a page. Chromium then opens the landing page, each module, each guide, and an even
selection of reference pages, N pages in all (120 by default; 0 for all pages). It reports each page without a heading, each broken link,
and each console error. Prints the findings and a summary, and exits with 1 if there are findings.
"""
import functools, http.server, json, os, pathlib, shutil, subprocess, sys, tempfile, threading, urllib.parse

PAGE = """(async () => {
  for (let i = 0; i < 200 && !document.querySelector('main h1, .landing-page h1, h1'); i++) await new Promise(r => setTimeout(r, 25));
  const links = [...document.querySelectorAll('a[href]')].map(a => a.href.split('#')[0]).filter(h => h.startsWith(location.origin));
  return JSON.stringify({title: document.querySelector('h1')?.innerText ?? '', links: [...new Set(links)]});
})()"""


class Browser:
    """Headless Chromium, controlled with the DevTools protocol over a pair of pipes."""

    def __init__(self, folder):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not program: sys.exit("sitecheck: chromium is not in the PATH (Debian: apt-get install chromium)")
        read_end, self.output = os.pipe()
        self.input, write_end = os.pipe()
        # Chromium reads commands from descriptor 3 and writes to descriptor 4.
        command = f'exec "$0" "$@" 3<&{read_end} 4>&{write_end}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", "--disable-background-networking", f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(read_end, write_end), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_end), os.close(write_end)
        self.last, self.buffer, self.errors = 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"): self.call(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.input, 1 << 16)
            if not piece: sys.exit("sitecheck: chromium exited unexpectedly")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if hasattr(self, "session"): message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            event = self.read()
            if event.get("id") == self.last:
                if "error" in event: sys.exit(f"sitecheck: {method}: {event['error']}")
                return event["result"]
            self.note(event)

    def note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.errors.append(" ".join(str(value.get("value", value.get("description"))) for value in parameters["args"]))
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")

    def open(self, url):
        """Returns the title, the links and the console errors of a page."""
        self.errors = []
        self.call("Page.navigate", url=url)
        while self.read_event("Page.loadEventFired") is None: pass
        value = self.call("Runtime.evaluate", expression=PAGE, awaitPromise=True, returnByValue=True)["result"].get("value")
        page = json.loads(value or '{"title": "", "links": []}')
        return page["title"], page["links"], self.errors

    def read_event(self, name):
        event = self.read()
        self.note(event)
        return event if event.get("method") == name else None

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_): pass


def pages_of(site):
    """Returns the data file of each page by path, in lowercase as DocC writes it."""
    data = site / "data"
    return {"/" + str(path.relative_to(data).with_suffix("")).lower(): path for path in data.rglob("*.json")}


def references(value):
    """Yields the URLs of the pages that a page's data refers to."""
    if isinstance(value, dict):
        for reference in value.get("references", {}).values():
            if isinstance(reference, dict) and reference.get("type") in ("topic", "section"): yield reference.get("url", "")


def main():
    arguments = sys.argv[1:]
    limit = int(arguments.pop(arguments.index("--pages") + 1)) if "--pages" in arguments else 120
    site = pathlib.Path([argument for argument in arguments if not argument.startswith("--")][0])
    pages = pages_of(site)
    if not pages: sys.exit(f"sitecheck: {site} has no pages; build the site with scripts/docs")
    findings, link_count = [], 0
    for path, file in pages.items():
        for url in references(json.loads(file.read_text())):
            if not url.startswith("/"): continue
            link_count += 1
            if url.split("#")[0].rstrip("/").lower() not in pages: findings.append(f"{path}: its data has a broken link to {url}")
    # First the landing page, modules, and guides, then symbols.
    modules = {path.split("/")[2] for path in pages if path.count("/") == 2}
    kinds = {path: json.loads(file.read_text()).get("kind") for path, file in pages.items()}
    first = sorted(path for path in pages
                   if path.count("/") <= 2 or kinds[path] == "article" and not path.endswith("-implementations"))
    rest = sorted(set(pages) - set(first))
    room = len(rest) if limit == 0 else max(0, limit - len(first))
    chosen = first + [rest[index * len(rest) // room] for index in range(min(room, len(rest)))]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    shown = set()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        for path in chosen:
            title, links, errors = browser.open(origin + path)
            if not title or "can’t be found" in title: findings.append(f"{path}: shows no heading, or reports that the page can’t be found")
            findings += [f"{path}: console error: {error}" for error in errors]
            for link in links:
                target = urllib.parse.unquote(urllib.parse.urlparse(link).path).rstrip("/").lower()
                if target and target not in pages: findings.append(f"{path}: shows a broken link to {target}")
                shown.add(target)
        browser.stop()
    server.shutdown()
    print("\n".join(findings))
    print(f"sitecheck: checked {len(pages)} pages of {len(modules)} modules with {link_count} links, "
          f"opened {len(chosen)} pages that link to {len(shown)} pages: {len(findings)} findings")
    sys.exit(bool(findings))


main()
