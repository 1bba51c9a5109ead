"""How far a piece of work is, on stderr: a bar on a terminal, else a plain line now and then.

rich is imported only to draw a bar.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol

from eukhe.cli.output import say
from eukhe.limits import BYTES_PER_MB, LOGS_BAR_BYTES, PROGRESS_LINE_S

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


class Progress(Protocol):
    """A piece of work that moves on."""

    def advance(self, steps: int = 1) -> None: ...


@contextmanager
def progress(
    label: str, total: int | None = None, *, in_bytes: bool = False, now_s: Callable[[], float] = time.monotonic
) -> Iterator[Progress]:
    """Shows how far a piece of work is. Work that is done within seconds shows no line.

    `total`: how many steps it is, None where nobody knows. `now_s` tells seconds that never go back.
    """
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        with _bar(in_bytes) as bar:
            task = bar.add_task(label, total=total)
            yield _Drawn(bar, task)
            if total is None:  # now it is known
                bar.update(task, total=bar.tasks[0].completed)
    else:
        told = _Told(label, total, in_bytes, now_s)
        yield told
        told.end()


@contextmanager
def logs_progress() -> Iterator[Callable[[int, int], None]]:
    """For reading a chat's logs: called with bytes read, and bytes to read in all. Shows only where there are many."""
    with ExitStack() as stack:
        bar: Progress | None = None
        done = 0

        def read(bytes_: int, total: int) -> None:
            nonlocal bar, done
            if bar is None and total >= LOGS_BAR_BYTES:
                bar = stack.enter_context(progress("reading the logs", total, in_bytes=True))
            if bar is not None:
                bar.advance(bytes_ - done)
            done = bytes_

        yield read


def _bar(in_bytes: bool) -> "RichProgress":
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    count = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeElapsedColumn())
    # Results printed meanwhile are stdout's and stay there.
    return Progress(*columns, console=Console(stderr=True), redirect_stdout=False)


class _Drawn:
    """Progress as a bar."""

    def __init__(self, bar: "RichProgress", task: "TaskID") -> None:
        self._bar, self._task = bar, task

    def advance(self, steps: int = 1) -> None:
        self._bar.advance(self._task, steps)


class _Told:
    """Progress as lines: none for what is done within seconds, else one now and then, and a last one."""

    def __init__(self, label: str, total: int | None, in_bytes: bool, now_s: Callable[[], float]) -> None:
        self._label, self._total, self._in_bytes, self._now_s = label, total, in_bytes, now_s
        self._done = 0
        self._said_at_s = now_s()
        self._said = -1

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        if self._now_s() - self._said_at_s >= PROGRESS_LINE_S:
            self._say()

    def end(self) -> None:
        if self._said >= 0 and self._said != self._done:
            self._say()

    def _say(self) -> None:
        of = "" if self._total is None else f" of {self._shown(self._total)}"
        say(f"{self._label}: {self._shown(self._done)}{of}")
        self._said, self._said_at_s = self._done, self._now_s()

    def _shown(self, steps: int) -> str:
        return f"{steps / BYTES_PER_MB:.1f} MB" if self._in_bytes else str(steps)
