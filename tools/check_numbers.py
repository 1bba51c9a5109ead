"""Numbers outside eukhe/limits.py: prints `file:line: number` for each that stands in the code itself.

Free are -2 to 2 and their floats; an index, as in `parts[3]`; the right side of a shift or a power. A line that
must hold another says why in a comment, `# number: why`. Tests and tools may hold any.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = "eukhe/limits.py"
FREE = (0, 1, 2)
_REASON = re.compile(r"# number: \S")


def numbers(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each number that should have a name."""
    tree = ast.parse(source)
    free = {id(node) for place in ast.walk(tree) for node in _free_places(place)}
    reasons = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and _REASON.search(token.string)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or type(node.value) not in (int, float, complex):
            continue
        if node.value not in FREE and id(node) not in free and node.lineno not in reasons:
            yield node.lineno, ast.get_source_segment(source, node) or repr(node.value)


def _free_places(node: ast.AST) -> list[ast.AST]:
    """The parts of a node in which a number says what it is by its place."""
    if isinstance(node, ast.Subscript):
        index = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
        return [index] if isinstance(index, ast.Constant) else []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift | ast.RShift | ast.Pow):
        return [node.right]
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that numbers stand in limits.py.")
    parser.add_argument("--root", type=Path, default=ROOT)
    root = parser.parse_args().root
    found = 0
    for path in sorted((root / "eukhe").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name == LIMITS:
            continue
        for line, text in sorted(numbers(path.read_text())):
            print(f"{name}:{line}: {text} has no name: put it into {LIMITS}, or say why it stands here: # number: …")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
