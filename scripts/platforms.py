"""Writes into pages what is tested on which platform, from the table in Documentation/Platforms.md; scripts/guides runs this.

A page has the text between the lines `<!-- platforms -->` and `<!-- end of platforms -->`, among its first 20 lines. The table must
agree with what the workflow builds and with what scripts/apple checks.
"""
import os, pathlib, re, subprocess, sys, textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "Documentation/Platforms.md"
BEGIN, END = "<!-- platforms -->", "<!-- end of platforms -->"
# Pages that must have the text.
PAGES = [ROOT / "README.md", *sorted((ROOT / "Documentation").glob("MigrateFrom*.md")), ROOT / "Examples/App/README.md"]
PAGES += [ROOT / f"Documentation/{name}.md" for name in ("GettingStarted", "Decide", "AppWithLogin")]


def fail(message):
    sys.exit(f"platforms: {message}")


def rows():
    """The rows of the table, as cells by heading, with the names of the row's platforms, without versions."""
    lines = [line.strip("| ").split(" | ") for line in SOURCE.read_text().split("\n") if line.startswith("| ")]
    start = next(index for index, cells in enumerate(lines) if cells[:3] == ["platform", "tests", "type-checked"])
    heading = lines[start]
    for cells in lines[start + 1:]:
        if len(cells) != len(heading): return
        if cells[0].startswith("--"): continue
        names = [re.sub(r" \d+$", "", name) for name in re.split(r", (?!static)", cells[0])]
        yield names, dict(zip(heading, cells))


def listed(names):
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def text(page):
    """The text for a page, whose link leads to the table."""
    table = list(rows())
    workflow = next(name for name in table[0][1] if name.startswith("CI workflow"))
    tested = [name for names, row in table if row["tests"].startswith("run") for name in names]
    checked = [name for names, row in table if row["type-checked"] == "yes" for name in names]
    others = [(name, row[workflow]) for names, row in table for name in names if name not in tested]
    built = [name for name, cell in others if "builds" in cell]
    run = [name for name, cell in others if "tests" in cell]
    source = (ROOT / ".github/workflows/ci.yml").read_text()
    found = re.findall(r"platform=(\w+)'", source) + re.search(r"platform: \[(.*)\]", source)[1].split(", ")
    if built != found: fail(f"the workflow builds for {listed(found)}, and {SOURCE.name} names {listed(built)}")
    found = re.findall(r'^    "(\w+)": \(', (ROOT / "scripts/apple").read_text(), re.MULTILINE)
    if checked != found: fail(f"scripts/apple checks {listed(found)}, and {SOURCE.name} names {listed(checked)}")
    elsewhere = "" if any(row["tests"].startswith("run") for _, row in table[1:]) else ", and nowhere else so far"
    workflow_text = (
        f"The CI workflow, which is to build for {listed(built)}, and to test on {listed(run)}, has not run yet."
        if "not run yet" in workflow
        else f"The CI workflow builds for {listed(built)}, and tests on {listed(run)}."
    )
    link = os.path.relpath(SOURCE, page.parent)
    return textwrap.fill(
        f"**Where it runs:** on {listed(tested)}, where all tests run{elsewhere}. The code for {listed(checked)} has not been built "
        f"there. It is type-checked, on Linux, against stubs of the systems' modules. {workflow_text} "
        f"[Platforms]({link}) has the details.",
        # In README, as in its other paragraphs, lines are not wrapped.
        150 if page.parent != ROOT else 10_000, break_long_words=False, break_on_hyphens=False,
    )


def update(is_check):
    """Writes the text into all pages that have the marks; with a check, returns the names of those whose text differs."""
    names = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    differing = []
    for page in {ROOT / name for name in names if name and ".docc/" not in name} | set(PAGES):
        lines = page.read_text().split("\n")
        if BEGIN not in lines:
            if page in PAGES: fail(f"{page.relative_to(ROOT)} has no line {BEGIN}")
            continue
        start = lines.index(BEGIN)
        if END not in lines[start:] or start > 20: fail(f"{page.relative_to(ROOT)}: {BEGIN} has no end, or is not among the first 20 lines")
        end = lines.index(END, start)
        if lines[start + 1:end] == text(page).split("\n"): continue
        differing.append(str(page.relative_to(ROOT)))
        lines[start + 1:end] = text(page).split("\n")
        if not is_check: page.write_text("\n".join(lines))
    return differing
