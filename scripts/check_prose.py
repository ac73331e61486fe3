#!/usr/bin/env python3
"""Checks comments, names of tests, guides and other texts for constructions that read as a translation, short doc comments and long lines.

usage: check_prose.py [PATH …]     (the root of the repository by default)

Prints one line per finding and exits with 1 if there are any. Code in backticks, code blocks and quoted output are not checked.
"""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 120
# What to search for, and what plain English says instead.
CONSTRUCTIONS = [
    (r"\bst(?:ands?|ood)\b(?! alone|-in)", "is, means, or the list has it"),
    (r"(?<!there )\b(?:is|are|was|were) no (?!longer|more than|less than|later than|sooner than)", "is not a …"),
    (r"\b(?:nobody|somebody|whoever|who has|who have)\b", "no caller, a plugin that …"),
    (r"\bonce more\b", "again, a second time, retries"),
    (r"\b(?:tells? of|(?:is|are|was|were) told|tells? (?:how|whether|what|when|why|where)|told)\b", "reports, returns whether"),
    (r"\bbehind (?:it|them|its|him)\b", "after it"),
    (r"\bin the way of\b", "like"),
    (r"\bas it takes\b", "as needed"),
    (r"\bfor good\b", "permanently"),
    (r"\b(?:by|of) (?:itself|themselves)\b", "automatically, on its own"),
    (r"\bmend(?:s|ed|ing)?\b", "fix"),
    (r"\b(?:and )?the like\b", "and similar"),
    (r"\bwhat it is\b", "its kind, its meaning"),
    (r"^(?!.*\bchallenge).*\banswer(?:s|ed|ing)?\b", "respond, response"),
]
PATTERNS = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in CONSTRUCTIONS]
COMMENT = re.compile(r"^\s*(///?)(?!/)\s?(.*)$")
NAME = re.compile(r'@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"')
PUBLIC = re.compile(r"^\s*(?:@\S+\s+)*(?:nonisolated\s+)?public\b(?! import)")
FOLDERS = ["Documentation", "Sources", "Tests", "IntegrationTests/Sources", "IntegrationTests/Tests", "Examples", "Benchmarks/Sources", "Benchmarks/Peers", "Fuzz/Sources"]
TEXTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Benchmarks/README.md"]
MARKDOWN = (".md", ".tutorial")
findings = []


def say(path, line, text):
    findings.append(f"{path.relative_to(ROOT)}:{line}: {text}")


def check(path, line, text):
    text = re.sub(r"`[^`]*`|``[^`]*``|https?://\S+|\"[^\"]*\"", "x", text)
    for pattern, instead in PATTERNS:
        for match in pattern.finditer(text):
            say(path, line, f"“{match[0].strip()[-40:]}”; say plainly: {instead}")


def check_swift(path):
    in_code, document, start = False, [], 0
    source = path.read_text()
    for name in NAME.finditer(source): check(path, source.count("\n", 0, name.start(1)) + 1, name[1])
    for number, line in enumerate(source.splitlines(), 1):
        match = COMMENT.match(line)
        if not match:
            words = " ".join(document).split()
            if document and PUBLIC.match(line) and len(words) <= 3:
                say(path, start, f"“{' '.join(words)}” says no more than the name does")
            if not re.match(r"^\s*@", line): document = []
            in_code = False
            continue
        # A row of a table cannot wrap.
        if len(line) > COLUMNS and not match[2].startswith("|"): say(path, number, f"{len(line)} columns, {COLUMNS} allowed")
        if match[1] == "///":
            if not document: start = number
            document.append(match[2])
        if match[2].startswith("```"): in_code = not in_code
        if not in_code: check(path, number, match[2])


def check_markdown(path):
    in_code = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"): in_code = not in_code
        elif not in_code: check(path, number, line)


def check_suites(path):
    """Each promise or assumption names its tests; a suite has its file."""
    suites = {p.stem for folder in FOLDERS for p in (ROOT / folder).rglob("*Tests.swift")}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for name in re.findall(r"`([\w+]+Tests)`", line):
            if name not in suites: say(path, number, f"there is no {name}.swift")


def files(arguments):
    if not arguments: arguments = [ROOT / name for name in FOLDERS + TEXTS]
    for argument in map(pathlib.Path, arguments):
        argument = argument.resolve()
        if argument.is_dir(): yield from sorted(p for p in argument.rglob("*") if p.suffix in (".swift", *MARKDOWN) and ".build" not in str(p) and not (p.suffix == ".md" and "Pipeline.docc" in p.parts))
        else: yield argument


for path in files(sys.argv[1:]):
    check_markdown(path) if path.suffix in MARKDOWN else check_swift(path)
    if path.name in ("SECURITY.md", "Platforms.md"): check_suites(path)
print("\n".join(findings) or "prose: nothing to say")
sys.exit(bool(findings))
