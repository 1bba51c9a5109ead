"""The tool `bash`: a command, what it prints, and how it ended.

A command is over when its shell has ended, or its time has. What it left running in its group is killed then; so is
all of it when it is stopped, and when this process dies. Only what has made a session of its own, as a service does,
goes on. Of what is printed no more is held than is shown, however much it is.
"""

import os
import selectors
import shutil
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final, Self

from eukhe.actors.ports import ToolEnded
from eukhe.limits import BASH_LINGER_S, BASH_LOOK_S, EXIT_SIGNALLED, TOOL_READ_BYTES
from eukhe.model.tool_input import Bash
from eukhe.world.tools.group import Group, Groups
from eukhe.world.tools.printed import Printed

_LEFT: Final = "what it left running was ended"
_HELD: Final = "something that it started still runs"


def run_bash(
    given: Bash,
    groups: Groups,
    folder: Path,
    environment: Mapping[str, str],
    printed: Printed,
    on_stop: Callable[[Callable[[], None]], None],
) -> ToolEnded:
    """Runs it to its end. `on_stop` is told what stops it. OSError where it can't be started."""
    shell = shutil.which("bash", path=environment.get("PATH")) or "/bin/sh"
    group = groups.start([shell, "-c", given.command], folder, environment)
    try:
        on_stop(group.kill)
        with _Reader(group, printed) as reader:
            notes = _follow(group, reader, given.timeout_s)
    finally:
        code = group.close()
    if code and _timed_out(given.timeout_s) not in notes:
        notes.insert(0, _ending(code))
    return ToolEnded(printed.end("".join(f"[{note}]\n" for note in notes)), failed=code != 0)


def _follow(group: Group, reader: "_Reader", timeout_s: float) -> list[str]:
    """Takes in what is printed until it is over; what is to be said of that."""
    notes = []
    if not reader.read(timeout_s, lambda: reader.ended):
        notes.append(_timed_out(timeout_s))
    elif reader.read(BASH_LINGER_S, lambda: reader.closed):
        return []
    group.kill()
    if not reader.read(BASH_LINGER_S, lambda: reader.closed):
        notes.append(_HELD)
    return notes or [_LEFT]


def _timed_out(timeout_s: float) -> str:
    return f"ended after {timeout_s:g} s, its time limit"


def _ending(code: int) -> str:
    """A shell says by its exit code that a signal ended what it ran."""
    if code < 0:
        return f"ended by {_signal(-code)}"
    with suppress(ValueError):
        return f"exit code {code}, as after {_signal(code - EXIT_SIGNALLED)}"
    return f"exit code {code}"


def _signal(number: int) -> str:
    return signal.Signals(number).name


class _Reader:
    """Reads what a group prints. `ended`: its first process has; `closed`: nothing more can be printed."""

    def __init__(self, group: Group, printed: Printed) -> None:
        self.ended = False
        self.closed = False
        self._group = group
        self._printed = printed
        self._selector = selectors.DefaultSelector()
        self._selector.register(group.output, selectors.EVENT_READ)
        self._handle: int | None = None  # of the process; readable once it has ended
        with suppress(AttributeError, OSError):  # not every system has them, nor always one left
            self._handle = os.pidfd_open(group.id)
            self._selector.register(self._handle, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._selector.close()
        if self._handle is not None:
            os.close(self._handle)

    def read(self, limit_s: float, over: Callable[[], bool]) -> bool:
        """Goes on until it is over, or for so long. Whether it is over."""
        until = monotonic() + limit_s
        while not over():
            left_s = until - monotonic()
            if left_s <= 0:
                return False
            self._wait(min(left_s, self._printed.due_s(), left_s if self._handle is not None else BASH_LOOK_S))
        return True

    def _wait(self, limit_s: float) -> None:
        ready = {key.fd for key, _ in self._selector.select(limit_s)}
        if self._group.output in ready:
            data = os.read(self._group.output, TOOL_READ_BYTES)
            if data:
                self._printed.take(data)
            else:
                self.closed = True
                self._selector.unregister(self._group.output)
        if not self.ended and (self._handle is None or self._handle in ready):
            self.ended = self._group.has_ended()
            if self.ended and self._handle is not None:
                self._selector.unregister(self._handle)
        self._printed.show_if_due()
