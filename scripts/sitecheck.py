#!/usr/bin/env python3
"""Opens the documentation site in headless Chromium and follows its internal links.

usage: sitecheck.py SITE [--pages N]

First, every link in the site's data must lead to a page. Chromium then opens the landing page, each module, guide and page of the tutorial, and an even
selection of reference pages, N pages in all (120 by default; 0 for all pages). It reports each page without a heading, each broken link,
and each console error. Prints the findings and a summary, and exits with 1 if there are findings.
"""
import functools, http.server, json, pathlib, sys, tempfile, threading, urllib.parse

from browser import Browser

PAGE = """(async () => {
  for (let i = 0; i < 200 && !document.querySelector('main h1, .landing-page h1, h1'); i++) await new Promise(r => setTimeout(r, 25));
  const links = [...document.querySelectorAll('a[href]')].map(a => a.href.split('#')[0]).filter(h => h.startsWith(location.origin));
  return JSON.stringify({title: document.querySelector('h1')?.innerText ?? '', links: [...new Set(links)]});
})()"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_): pass


def pages_of(site):
    """Returns the data file of each page by path, in lowercase as DocC writes it."""
    data = site / "data"
    return {"/" + str(path.relative_to(data).with_suffix("")).lower(): path for path in data.rglob("*.json")}


def references(value):
    """Yields the URLs of the pages that a page's data refers to."""
    if isinstance(value, dict):
        # A chapter of a tutorial has no page of its own, and no page shows a link to it.
        chapters = {chapter["reference"] for chapter in (value.get("hierarchy") or {}).get("modules", [])}
        for name, reference in value.get("references", {}).items():
            if name not in chapters and isinstance(reference, dict) and reference.get("type") in ("topic", "section"): yield reference.get("url", "")


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
    # First the landing page, modules, guides, and the tutorial, then symbols.
    modules = {path.split("/")[2] for path in pages if path.startswith("/documentation/") and path.count("/") == 2}
    kinds = {path: json.loads(file.read_text()).get("kind") for path, file in pages.items()}
    first = sorted(path for path in pages
                   if path.count("/") <= 2 or path.startswith("/tutorials/") or kinds[path] == "article" and not path.endswith("-implementations"))
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
            browser.open(origin + path)
            page = json.loads(browser.value(PAGE))
            title, links, errors = page["title"], page["links"], browser.errors
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
