"""Writes docs/memory.md: each rule of the memory, the code that keeps it, the tests that hold it.

The rules and their code come from docs/rules.toml, the tests from `@pytest.mark.rule("6", "D1")`, the transcripts from
their first lines, `# rules: 6 D1`. `--check` writes nothing and fails where the page is not as it would be written.
Both fail for a mark of no rule, for code that is not there, and for a rule that is tested while no code is named.
"""

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TABLE = "docs/rules.toml"
PAGE = "docs/memory.md"
SCENARIOS = "tests/scenarios"
SCENARIOS_HEAD = "# rules:"
STATUSES = ("held", "in part", "code only", "not yet")

HEAD = """\
# The memory, rule by rule

<!-- Written by tools/rules.py from docs/rules.toml and the tests' marks; `make docs` writes it anew. -->

The memory is one chat that never ends. What is said is logged as messages and never changed. Over them grows a binary
tree: a line of at most 512 bytes for each message, and for each two lines one that stands for both. The view, what the
agent sees of its past, is a list of such lines, fine for what is new and coarse for what is old; each can be opened,
down to the message. This page says what holds, where it is done, and which test would notice if it were not.

## Use

| Command | Does |
| --- | --- |
| `eukhe chat import sessions PATH…` | Brings sessions in. |
| `eukhe memory build` | Writes every line that can be written now. |
| `eukhe chat view` | Shows the view. |
| `eukhe chat zoom ID [N]` | Opens a line, or a message. |
| `eukhe chat verify` | Reads everything anew and proves that logs, view and index agree. |

All commands are in [cli.md](cli.md). The chat lies in `~/.eukhe/chat/`, as plain JSON lines.

## Check it

    make test       # every rule's tests
    make full       # the same with many more examples
    make docs       # this page, from the table and the tests' marks

A rule is *held* when code and tests are named below, *in part* when something of it is still to come, *code only* when
no test holds it, *not yet* when it waits for a part of eukhe that is not built.
"""


class Rule(NamedTuple):
    """A rule. `code` as `file:name`; `by`: rules it follows from; `absent`: why no code; `later`: what is open."""

    id: str
    says: str
    code: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    absent: str = ""
    later: str = ""


class Section(NamedTuple):
    name: str
    rules: tuple[Rule, ...]


def sections_of(root: Path) -> list[Section]:
    """The table."""
    table = tomllib.loads((root / TABLE).read_text())
    return [
        Section(
            section["name"],
            tuple(
                Rule(
                    rule["id"],
                    rule["says"],
                    tuple(rule.get("code", ())),
                    tuple(rule.get("by", ())),
                    rule.get("absent", ""),
                    rule.get("later", ""),
                )
                for rule in section["rule"]
            ),
        )
        for section in table["section"]
    ]


def marks_of(root: Path) -> dict[str, list[str]]:
    """The tests of each rule, `file::name`, in the files' order; then the transcripts."""
    marks: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = path.relative_to(root).as_posix()
        for test, rule in _marks(ast.parse(path.read_text())):
            marks.setdefault(rule, []).append(f"{name}::{test}" if test else name)
    for path in sorted((root / SCENARIOS).glob("*.txt")):
        for rule in _shown(path.read_text()):
            marks.setdefault(rule, []).append(f"{SCENARIOS}::{path.stem}")
    return marks


def _shown(transcript: str) -> list[str]:
    """The rules that a transcript shows, as its first line says."""
    first = transcript.partition("\n")[0]
    return first.removeprefix(SCENARIOS_HEAD).split() if first.startswith(SCENARIOS_HEAD) else []


def _marks(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Test and rule of each mark; "" for a mark of the whole file."""
    assigned = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                yield from ((node.name, rule) for rule in _rules(decorator, assigned))
    if "pytestmark" in assigned:
        yield from (("", rule) for rule in _rules(assigned["pytestmark"], assigned))


def _rules(node: ast.AST, assigned: Mapping[str, ast.expr]) -> Iterator[str]:
    """The rules that an expression marks; `*NAMES` are those that the file assigns to NAMES at its top."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.rule":
            for argument in call.args:
                if isinstance(argument, ast.Starred):
                    yield from map(str, ast.literal_eval(assigned[ast.unparse(argument.value)]))
                else:
                    yield str(ast.literal_eval(argument))


def problems(root: Path, sections: list[Section], marks: dict[str, list[str]]) -> Iterator[str]:
    """What does not fit together."""
    rules = {rule.id: rule for section in sections for rule in section.rules}
    for mark in sorted(marks.keys() - rules.keys()):
        yield f"{marks[mark][0]}: marks {mark}, which is no rule of {TABLE}"
    for rule in rules.values():
        for reference in rule.code:
            if not _exists(root, reference):
                yield f"{TABLE}: rule {rule.id} is said to be kept by {reference}, which is not there"
        for other in rule.by:
            if other not in rules:
                yield f"{TABLE}: rule {rule.id} is said to follow from {other}, which is no rule"
        if rule.id in marks and not (rule.code or rule.by or rule.absent):
            yield f"{TABLE}: rule {rule.id} is held by {marks[rule.id][0]}, but no code is named"


def _exists(root: Path, reference: str) -> bool:
    """Whether a file defines a function, a class, a method or a name at its top: `file:Class.method`."""
    file, _, name = reference.partition(":")
    path = root / file
    if not path.is_file() or not name:
        return False
    body: list[ast.stmt] = ast.parse(path.read_text()).body
    for part in name.split("."):
        for node in body:
            if part in _defined(node):
                body = getattr(node, "body", [])
                break
        else:
            return False
    return True


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {node.target.id} if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else set()


def page(sections: list[Section], marks: dict[str, list[str]]) -> str:
    """docs/memory.md."""
    rules = {rule.id: rule for section in sections for rule in section.rules}
    status = {id_: _status(rule, rules, marks) for id_, rule in rules.items()}
    counts = {word: list(status.values()).count(word) for word in STATUSES}
    parts = [HEAD, ", ".join(f"{count} {word}" for word, count in counts.items()) + ".\n"]
    for section in sections:
        parts.append(f"## {section.name}\n")
        parts += [_entry(rule, status[rule.id], marks.get(rule.id, [])) for rule in section.rules]
    return "\n".join(parts)


def _status(rule: Rule, rules: dict[str, Rule], marks: dict[str, list[str]]) -> str:
    if rule.by:
        below = {_status(rules[other], rules, marks) for other in rule.by}
        return next(word for word in reversed(STATUSES) if word in below)
    if not rule.code and not rule.absent:
        return "not yet"
    if rule.later:
        return "in part"
    return "held" if rule.id in marks else "code only"


def _entry(rule: Rule, status: str, tests: list[str]) -> str:
    lines = [f"**{rule.id}** *({status})* {rule.says}"]
    if rule.by:
        lines.append(f"- Follows from {', '.join(rule.by)}.")
    if rule.absent:
        lines.append(f"- {rule.absent}")
    if rule.later:
        lines.append(f"- Still to come: {rule.later}")
    if rule.code:
        lines.append(f"- Code: {', '.join(f'`{reference}`' for reference in rule.code)}")
    if tests:
        by_file: dict[str, list[str]] = {}
        for file, _, name in (test.partition("::") for test in tests):
            by_file.setdefault(file, []).append(f"`{name}`" if name else "all")
        lines += ["- Tests:", *(f"  - `{file}`: {', '.join(names)}" for file, names in by_file.items())]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=f"Write {PAGE}.")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page would change")
    options = parser.parse_args()
    sections, marks = sections_of(options.root), marks_of(options.root)
    found = list(problems(options.root, sections, marks))
    if not found:
        text, file = page(sections, marks), options.root / PAGE
        if not options.check:
            file.write_text(text)
        elif not file.is_file() or file.read_text() != text:
            found.append(f"{PAGE}: not as tools/rules.py writes it: run `make docs`")
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
