"""The form of every Python file: prints `file:line: what` for each that breaks it.

A file has fewer than 400 lines and opens with a docstring; a file of eukhe/model/ says there that it is pure.
eukhe/limits.py may be longer: it is one table, a line a number.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("eukhe", "tests", "tools")
LINES_MAX = 400
TABLE = "eukhe/limits.py"
PURE = "Pure: no clock, disk or threads."


def problems(name: str, source: str) -> Iterator[str]:
    """What is wrong with one file, as `line: what`."""
    lines = source.count("\n")
    if lines >= LINES_MAX and name != TABLE:
        yield f"{LINES_MAX}: {lines} lines are more than one responsibility: split it"
    opening = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    if source.strip() and not opening:
        yield "1: says nothing about itself: begin with a docstring"
    elif name.startswith("eukhe/model/") and source.strip() and PURE not in opening:
        yield f"1: a pure file says so on its first line: {PURE}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the form of every file.")
    parser.add_argument("--root", type=Path, default=ROOT)
    root = parser.parse_args().root
    found = 0
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        for problem in problems(name, path.read_text()):
            print(f"{name}:{problem}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
