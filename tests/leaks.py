"""Processes, threads and file handles: which there are, and a fixture that fails a test which leaves any behind.

    from tests.leaks import no_leaks  # noqa: F401, a fixture
    pytestmark = pytest.mark.usefixtures("no_leaks")

A process is found by its parent, and by a mark in its environment when its parent has ended before it.
"""

import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import NamedTuple

import pytest

LEFT_WAIT_S = 10.0
MARK = "EUKHE_LEAK_MARK"


class Process(NamedTuple):
    """One of the system's. `state` is its letter in /proc: Z for one that has ended and that nobody has asked about."""

    pid: int
    parent: int
    state: str
    command: str


def process(pid: int) -> Process | None:
    """A process by its id, None where there is none."""
    try:
        # The name, in parentheses, may hold any character.
        head, _, tail = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    state, parent, *_ = tail.split()
    return Process(pid, int(parent), state, command.strip() or head.partition("(")[2])


def processes() -> dict[int, Process]:
    """All of the system, by id."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return {pid: found for pid in pids if (found := process(pid)) is not None}


def descendants(pid: int | None = None) -> dict[int, Process]:
    """The children of a process, this one by default, their children and so on; those that ended as well."""
    there = processes()
    found: dict[int, Process] = {}
    parents = {os.getpid() if pid is None else pid}
    while parents:
        young = {child.pid: child for child in there.values() if child.parent in parents and child.pid not in found}
        found |= young
        parents = set(young)
    return found


def is_running(pid: int) -> bool:
    """It has not ended."""
    found = process(pid)
    return found is not None and found.state not in "ZX"


def handles(pid: int | None = None) -> dict[int, str]:
    """The open file handles of a process, this one by default, and what each is of."""
    folder = Path("/proc") / ("self" if pid is None else str(pid)) / "fd"
    found = {}
    for entry in folder.iterdir():
        try:
            found[int(entry.name)] = str(entry.readlink())
        except OSError:  # the one by which the folder was read
            continue
    return found


def environment(pid: int) -> dict[str, str]:
    """What a process was started with. Empty for one that has ended, or is another user's."""
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def comes_true(told: Callable[[], bool], wait_s: float = LEFT_WAIT_S) -> bool:
    """Whether something that gives no sign when it happens has happened, looked at until it has."""
    until = time.monotonic() + wait_s
    while not told():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


@contextmanager
def nothing_left(mark: str) -> Iterator[None]:
    """Fails unless every process, thread and file handle that the block brought is gone soon after its end.

    `mark` stands in the environment, by the name `MARK`, of what the block starts. Processes that are left are killed.
    """
    threads, files, children = set(threading.enumerate()), handles(), descendants().keys()

    def left_processes() -> list[Process]:
        marked = {pid for pid in processes() if pid != os.getpid() and environment(pid).get(MARK) == mark}
        pids = marked | (descendants().keys() - children)
        return [found for pid in sorted(pids) if (found := process(pid)) is not None]

    def left() -> list[str]:
        now = handles()
        return [
            *map(str, left_processes()),
            *(f"thread {thread.name}" for thread in set(threading.enumerate()) - threads),
            *(f"handle {fd}: {now[fd]}" for fd in sorted(now) if files.get(fd) != now[fd]),
        ]

    yield
    if not comes_true(lambda: not left()):
        told = "; ".join(left())
        for found in left_processes():
            with suppress(ProcessLookupError):
                os.kill(found.pid, signal.SIGKILL)
        pytest.fail(f"left behind: {told}")


@pytest.fixture
def no_leaks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The test leaves no process, thread or file handle behind."""
    if sys.platform != "linux":
        yield  # there is no /proc to look at
        return
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    with nothing_left(mark):
        yield


@pytest.fixture
def no_pool_left(no_leaks: None) -> Iterator[None]:
    """As `no_leaks`, of a test with a pool of processes: what multiprocessing keeps for the next one ends as well."""
    yield
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # there is no other way to end the two
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]
