"""Writes docs/cli.md from the commands themselves and the settings' table. `--check` fails where it would change."""

import argparse
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from eukhe.cli.ask import EVENT_KEYS, JSON_KEYS
from eukhe.cli.command import Command, Group
from eukhe.cli.commands import COMMANDS
from eukhe.cli.main import root as program
from eukhe.limits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PIPE_CLOSED, EXIT_SIGNALLED
from eukhe.world.config import SETTINGS

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/cli.md"
EVERYWHERE = {"help", "home", "as_json"}  # said once, at the top

HEAD = f"""\
# The command line

<!-- Written by tools/docs_cli.py from the commands; `make docs` writes it anew. -->

Results go to stdout, progress and talk to stderr. What a terminal could take for an order is left out of texts shown;
`--json`, where a command has it, is exact, and its keys stay as they are below. Every command takes `-h`, `--help`, and
`--home DIR`: where the chat and the settings are, else `EUKHE_HOME`, else `~/.eukhe`.

| Exit code | Means |
| --- | --- |
| 0 | done |
| {EXIT_FAILED} | it failed, and one line says what, where, and what to do |
| {click.UsageError.exit_code} | wrong usage |
| {EXIT_INTERRUPTED} | interrupted; {EXIT_SIGNALLED} and its number for another signal |
| {EXIT_PIPE_CLOSED} | whoever read the output went away |

`EUKHE_DEBUG=1` shows where in the code an error arose. `NO_COLOR` and `TERM=dumb` are heeded.
"""


def page() -> str:
    """docs/cli.md."""
    top: click.Command = program
    context = click.Context(top, info_name="eukhe", **top.context_settings)
    parts = [HEAD, *_command("eukhe", top, context), *_turn()]
    for path in COMMANDS:
        command, below = top, context
        for word in path.split():
            assert isinstance(command, Group), path
            found = command.get_command(below, word)
            assert found is not None, path
            command, below = found, click.Context(found, info_name=word, parent=below)
        parts += _command(f"eukhe {path}", command, below)
    return "\n".join([*parts, *_settings()])


def _command(name: str, command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## `{name}`\n"
    yield f"    {name} {' '.join(command.collect_usage_pieces(context))}\n"
    yield _paragraphs(command.help or "")
    options = [param for param in command.params if isinstance(param, click.Option) and param.name not in EVERYWHERE]
    if records := [record for option in options if (record := option.get_help_record(context))]:
        yield from _table(("Option", "Does"), records)
    if isinstance(command, Command) and command.json_keys:
        yield from _table(("JSON key", "Holds"), list(command.json_keys.items()))


def _turn() -> Iterator[str]:
    """What `eukhe -p` prints."""
    yield "`-p` with `--output-format json` prints one object:\n"
    yield from _table(("JSON key", "Holds"), list(JSON_KEYS.items()))
    yield "With `stream-json` it prints an object a line, each with its `type`:\n"
    yield from _table(("Type", "Has besides"), list(EVENT_KEYS.items()))


def _paragraphs(text: str) -> str:
    """A docstring's text; a paragraph that click leaves as it is, marked by a backspace, becomes code."""
    paragraphs = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.split("\n")
        paragraphs.append("\n".join(f"    {line}" for line in lines[1:]) if lines[0] == "\b" else paragraph)
    return "\n\n".join(paragraphs) + "\n"


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> Iterator[str]:
    yield f"| {head[0]} | {head[1]} |\n| --- | --- |"
    yield "\n".join(f"| `{left}` | {_cell(right)} |" for left, right in rows) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _settings() -> Iterator[str]:
    yield "## Settings\n"
    yield (
        "They stand in `settings.json` in the home; a key's dot is an object in an object. For a turn's settings a\n"
        "flag goes before the environment, the environment before the file; the memory's come from the file alone.\n"
    )
    yield "| Key | Is | Allowed | Default | Environment |\n| --- | --- | --- | --- | --- |"
    for setting in SETTINGS.values():
        default = "-" if setting.default is None else f"`{str(setting.default).lower()}`"
        variable = f"`{setting.variable}`" if setting.variable else "-"
        yield f"| `{setting.key}` | {setting.about} | {setting.kind.allowed} | {default} | {variable} |"
    yield ""


def main() -> int:
    parser = argparse.ArgumentParser(description=f"Write {PAGE}.")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page would change")
    options = parser.parse_args()
    text, file = page(), options.root / PAGE
    if not options.check:
        file.write_text(text)
    elif not file.is_file() or file.read_text() != text:
        print(f"{PAGE}: not as tools/docs_cli.py writes it: run `make docs`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
