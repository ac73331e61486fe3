#!/usr/bin/env python3
"""Compares the sentences with "always" or "never" in the guides with api/statements.tsv: scripts/check_statements.py [--list]

Each line of the file has the page, the sentence, and what holds it, separated by tabs: the names of tests as they are in `@Test("…")`, a file and a text
in it, as in `Sources/Core/Name.swift: let text`, or both, joined by " && "; "-" for advice and other sentences that state nothing about the package. A
sentence in a table is the first cell of its row and its own cell. Code and links are not searched. Reports sentences without a line, lines without a
sentence, and lines whose test or text does not exist, and exits with 1 if there are any. `--list` prints the sentences without a line in the form of
the file. If nothing holds a sentence, write one that claims less.
"""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "api/statements.tsv"
WORDS = re.compile(r"\b(?:always|never)\b", re.IGNORECASE)
TESTS = re.compile(r'@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"')


def sentences(text):
    """Returns the sentences of a page that have one of the words outside code."""
    text = re.sub(r"(?ms)^```.*?^```$", "", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[|#*-]|\d+\.)\s?)", text):
        block = " ".join(block.split())
        if block.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", block.strip("|"))]
            parts = [cell if cell == cells[0] else f"{cells[0]}: {cell}" for cell in cells]
        else:
            parts = re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[])", re.sub(r"^(?:[-*]|\d+\.) ", "", block))
        for part in parts:
            if WORDS.search(re.sub(r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)", "x", part)):
                yield part


def witnesses():
    """Returns the names of all tests."""
    names = set()
    for folder in ("Tests", "IntegrationTests/Tests"):
        for path in (ROOT / folder).rglob("*.swift"):
            names.update(name.replace('\\"', '"') for name in TESTS.findall(path.read_text()))
    return names


def holds(witness, names):
    file, _, text = witness.partition(": ")
    path = ROOT / file
    if text and "/" in file and path.suffix:
        return path.is_file() and text in path.read_text()
    return witness == "-" or witness in names


def main():
    pages = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "Documentation").glob("*.md"))]
    found = {(page.relative_to(ROOT).as_posix(), part) for page in pages for part in sentences(page.read_text())}
    rows = [line.split("\t") for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    findings = [f"not three columns: {row}" for row in rows if len(row) != 3]
    listed = {(row[0], row[1]): row[2] for row in rows if len(row) == 3}
    missing = sorted(found - listed.keys())
    if "--list" in sys.argv:
        print("\n".join(f"{page}\t{part}\t" for page, part in missing))
        return 0
    names = witnesses()
    findings += [f"{page}: nothing holds “{part}”; add its test to {LIST.name}" for page, part in missing]
    findings += [f"{page}: no longer says “{part}”; remove the line from {LIST.name}" for page, part in sorted(listed.keys() - found)]
    for (page, part), tests in listed.items():
        findings += [f"{page}: there is no “{test}” for “{part}”" for test in tests.split(" && ") if not holds(test, names)]
    print("\n".join(findings) or f"statements: {len(found)} are held")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
