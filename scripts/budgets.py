#!/usr/bin/env python3
"""Checks the sizes of the modules against api/BUDGETS: scripts/budgets.py

Prints a table with the code lines of each module, without blank lines and comments, and exits with 1 if a module has more than its budget.
`scripts/api SYMBOL-GRAPHS check` compares the public declarations, and the names that `import Pipeline` brings, with the same file.
"""
import pathlib
import sys

from modules import MODULES

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The modules that a program compiles which only imports Pipeline, and those whose names it sees.
EVERYDAY = ("Redaction", "Core", "ContentCoding", "Plugins/Standard", "Transports", "Pipeline")
IMPORTED = ("PipelineCore", "PipelineRedaction", "PipelinePlugins", "PipelineTransports")


def read():
    """Returns the budgets: for each name the declarations (None for a dash) and the lines."""
    rows = {}
    for line in (ROOT / "api/BUDGETS").read_text().splitlines():
        if line and not line.startswith("#"):
            name, *numbers = line.rsplit(maxsplit=2)
            rows[name.strip()] = [None if number == "-" else int(number) for number in numbers]
    return rows


def code_lines(folder):
    """Returns the code lines of the module in a folder of Sources."""
    inner = [name for name in MODULES if name.startswith(f"{folder}/")]
    count = 0
    for path in (ROOT / "Sources" / folder).rglob("*.swift"):
        place = path.relative_to(ROOT / "Sources")
        # The steps of the tutorial are not compiled.
        if any(place.is_relative_to(name) for name in inner) or ".docc" in place.as_posix():
            continue
        count += sum(1 for line in path.read_text().splitlines() if line.strip() and not line.strip().startswith("//"))
    return count


def compare(kind, column, found):
    """Prints a table, and returns 1 if a figure is above its budget or has none."""
    rows = read()
    status = 0
    for name, count in found.items():
        limit = rows.get(name, [None, None])[column]
        too_many = limit is None or count > limit
        status |= too_many
        print(f"{name:45} {count:7,} of {limit or 0:7,} {kind}{'   <- above its budget' if too_many else ''}")
    return status


def check_declarations(found):
    """Compares public declarations, given as lines of api/ by module, with the budgets."""
    counts = {module: len(found[module]) for module in sorted(found) if found[module]}
    counts["all modules"] = sum(counts.values())
    everyday = {line for module in IMPORTED for line in found.get(module, ())}
    counts["names after import Pipeline"] = sum(1 for line in everyday if ": " not in line.split(" // ")[0].split(" where ")[0].split(" : ")[0])
    return compare("declarations", 0, counts)


def main():
    counts = {name: code_lines(folder) for folder, (name, _) in sorted(MODULES.items(), key=lambda item: item[1][0])}
    counts["all modules"] = sum(counts.values())
    counts["compiled for import Pipeline"] = sum(code_lines(folder) for folder in EVERYDAY)
    return compare("code lines", 1, counts)


if __name__ == "__main__":
    sys.exit(main())
