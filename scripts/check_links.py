"""Renders the Markdown files of the repository as CommonMark, and finds links that lead nowhere on a code host.

usage: scripts/python/run python scripts/check_links.py

Prints one line per finding and exits with 1 if there is one. A link must lead to a file in git, and after # to a heading. Links to
other sites are not followed.
"""
import pathlib, re, subprocess, sys, urllib.parse

from markdown_it import MarkdownIt

ROOT = pathlib.Path(__file__).resolve().parent.parent
# DocC renders these.
CATALOGS = ".docc/"
parser = MarkdownIt("commonmark").enable("table")
findings = []


def tokens(path):
    return parser.parse(path.read_text())


def anchors(path):
    """The anchors that a code host gives to the headings of a file."""
    found, all_tokens = [], tokens(path)
    for opening, inline in zip(all_tokens, all_tokens[1:]):
        if opening.type != "heading_open": continue
        text = "".join(child.content for child in inline.children)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.append(anchor if anchor not in found else f"{anchor}-{found.count(anchor)}")
    return found


def links(path):
    """The targets of links and images, with their lines."""
    for token in tokens(path):
        for child in token.children or []:
            target = child.attrs.get("href") or child.attrs.get("src")
            if target: yield token.map[0] + 1 if token.map else 1, urllib.parse.unquote(target)
            # A reference without a definition, or a link of DocC, is only text.
            if child.type == "text" and re.search(r"<doc:|\]\[|\]\(", child.content): yield token.map[0] + 1, child.content
        if token.type == "html_block" or any(child.type == "html_inline" for child in token.children or []):
            for target in re.findall(r'(?:href|src)="([^"]+)"', token.content): yield token.map[0] + 1, target


names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
files = set(names) | {str(parent) for name in names for parent in pathlib.PurePosixPath(name).parents}
for name in names:
    if not name.endswith(".md") or CATALOGS in name or not (ROOT / name).is_file(): continue
    for line, target in links(ROOT / name):
        if re.match(r"(?:https?|mailto):", target): continue
        place, _, anchor = target.partition("#")
        path = (ROOT / name).parent / place if place else ROOT / name
        path = pathlib.Path(path).resolve()
        if not path.is_relative_to(ROOT) or str(path.relative_to(ROOT)) not in files or not path.exists():
            findings.append(f"{name}:{line}: {target} leads to no file in git")
        elif anchor and (path.suffix != ".md" or anchor not in anchors(path)):
            findings.append(f"{name}:{line}: {target} leads to no heading")
print("\n".join(findings) or "links: nothing to say")
sys.exit(1 if findings else 0)
