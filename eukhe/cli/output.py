"""What a command prints: results to stdout, talk to stderr.

Texts of the chat come from anywhere, so whatever a terminal could take for an order is left out of them here
(`printable`). JSON is exact.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from unicodedata import combining, east_asian_width

import click

from eukhe.errors import OutputError

# Whole escape sequences: a string to the terminal (OSC, DCS, …), a CSI, a short one.
_ESCAPE = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-OQ-WYZ\\`-~])"
)
_NEWLINE = re.compile("\r\n?")
# What ends a line for some programs and not for others.
_HALF_NEWLINE = re.compile("[\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
# Control characters; marks that turn the direction of writing or can't be seen; halves of surrogate pairs.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_results = 0


def printable(text: str) -> str:
    """The text without anything that steers a terminal; LF and tabs stay, CR is LF, other line ends are a space.

    >>> printable("\\x1b[31mred\\x1b[0m\\r\\nnext\\x07")
    'red\\nnext'
    """
    return _CONTROL.sub("", _HALF_NEWLINE.sub(" ", _NEWLINE.sub("\n", _ESCAPE.sub("", text))))


def one_line(text: str) -> str:
    """`printable`, on one line."""
    return printable(text).replace("\n", " ")


def path_text(path: Path) -> str:
    """A path for JSON and for people; bytes that are no UTF-8 show as U+FFFD."""
    return os.fsencode(path).decode(errors="replace")


def counted(count: int, what: str) -> str:
    """A count and what is counted: `1 message`, `2 messages`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def emit(text: str = "") -> None:
    """A result: the text, printable, and a newline, to stdout. OutputError, BrokenPipeError."""
    _write(f"{printable(text)}\n".encode(sys.stdout.encoding, "backslashreplace"))


def fit_width(text: str) -> str:
    """A line cut to the terminal's width, in columns, with `…` where something is left out."""
    text = one_line(text)
    columns = max(shutil.get_terminal_size().columns, 1)
    if _width(text) <= columns:
        return text
    used = 0
    for at, char in enumerate(text):
        used += _width(char)
        if used >= columns:
            return f"{text[:at]}…"
    return text


def emit_json(value: Any) -> None:
    """A result as one line of JSON, always UTF-8, keys in the order given. OutputError, BrokenPipeError."""
    import orjson

    _write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))


def emit_bytes(data: bytes) -> None:
    """A result that is exact, such as an export. OutputError, BrokenPipeError."""
    _write(data)


def emit_table(rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> None:
    """Plain columns, two spaces apart; whole numbers stand right, all else left. A cell is one line."""
    table = [list(header)] if header else []
    right = set[tuple[int, int]]()
    for row in rows:
        right.update((len(table), column) for column, cell in enumerate(row) if type(cell) is int)
        table.append([one_line(str(cell)) for cell in row])
    widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
    for y, line in enumerate(table):
        cells = [
            f"{gap}{cell}" if (y, x) in right else f"{cell}{gap}"
            for x, cell in enumerate(line)
            for gap in [" " * (widths[x] - _width(cell))]
        ]
        emit("  ".join(cells).rstrip())


def say(text: str) -> None:
    """Talk: one line to stderr."""
    click.echo(one_line(text), err=True)


def results() -> int:
    """How many results this process has begun to print."""
    return _results


def _write(data: bytes) -> None:
    """To stdout, at once."""
    global _results
    _results += 1
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"the output can't be written: {error.strerror}") from None


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
