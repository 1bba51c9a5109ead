"""What a command prints: results to stdout, talk and progress to stderr.

Texts of the chat come from anywhere, so whatever a terminal could take for an order is left out of them here
(`printable`). JSON is exact. rich is imported only to draw a bar on a terminal.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from unicodedata import combining, east_asian_width

import click

from eukhe.errors import OutputError
from eukhe.limits import PROGRESS_LINE_S

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

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


class Progress(Protocol):
    """A piece of work that moves on."""

    def advance(self, steps: int = 1) -> None: ...

    def total(self, steps: int) -> None:
        """How many steps it will be, now that it is known."""
        ...


@contextmanager
def progress(label: str, total: int | None = None, now_s: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """Shows on stderr how far a piece of work is: a bar on a terminal, else a plain line every few seconds.

    Work that is done within seconds shows no line. `now_s` tells seconds that never go back.
    """
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        with _bar() as bar:
            yield _Drawn(bar, bar.add_task(label, total=total))
    else:
        told = _Told(label, total, now_s)
        yield told
        told.end()


def _bar() -> "RichProgress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Results printed meanwhile are stdout's and stay there.
    return Progress(*columns, console=Console(stderr=True), redirect_stdout=False)


class _Drawn:
    """Progress as a bar."""

    def __init__(self, bar: "RichProgress", task: "TaskID") -> None:
        self._bar, self._task = bar, task

    def advance(self, steps: int = 1) -> None:
        self._bar.advance(self._task, steps)

    def total(self, steps: int) -> None:
        self._bar.update(self._task, total=steps)


class _Told:
    """Progress as lines: none for what is done within seconds, else one now and then, and a last one."""

    def __init__(self, label: str, total: int | None, now_s: Callable[[], float]) -> None:
        self._label, self._total, self._now_s = label, total, now_s
        self._done = 0
        self._said_at_s = now_s()
        self._said = -1

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        if self._now_s() - self._said_at_s >= PROGRESS_LINE_S:
            self._say()

    def total(self, steps: int) -> None:
        self._total = steps

    def end(self) -> None:
        if self._said >= 0 and self._said != self._done:
            self._say()

    def _say(self) -> None:
        of = "" if self._total is None else f" of {self._total}"
        say(f"{self._label}: {self._done}{of}")
        self._said, self._said_at_s = self._done, self._now_s()


def _write(data: bytes) -> None:
    """To stdout, at once."""
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
