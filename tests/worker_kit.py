"""What tests of worker processes share: scripts for the scripted model, ears for what is heard of a call."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

import pytest

from eukhe.actors.ports import CallEvent, Request, Responding
from eukhe.model.part import Part
from eukhe.world.process_workers import ProcessWorkers
from eukhe.world.providers.registry import SCRIPT_VARIABLE
from eukhe.world.providers.scripted import ANY, CALLS_SUFFIX
from tests.leaks import comes_true, descendants

WAIT_S = 30.0
SOURCES = ("user: the build fails in parser.py. " + "It is long. " * 60,)


class Made(NamedTuple):
    """A call that a scripted model has taken."""

    node: str
    pid: int
    act: str


class Script:
    """What scripted models do."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, **acts: Sequence[str]) -> None:
        """The acts of the calls for a message, by `n` and its id, or of `any` call."""
        named = {ANY if name == "any" else f"{name[1:]}+1": list(done) for name, done in acts.items()}
        self.path.write_text(json.dumps(named))

    def made(self) -> list[Made]:
        """The calls that were taken so far, in their order."""
        calls = self.path.with_name(self.path.name + CALLS_SUFFIX)
        lines = calls.read_text().splitlines() if calls.exists() else []
        return [Made(name, int(pid), act) for name, pid, act in (line.split(" ", 2) for line in lines)]

    def taken(self, count: int) -> list[Made]:
        """The calls that were taken, once there are so many."""
        assert comes_true(lambda: len(self.made()) >= count, WAIT_S)
        return self.made()


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """One by which every call is answered, until it is written anew."""
    found = Script(tmp_path / "script.json")
    found.write(any=["reply"])
    monkeypatch.setenv(SCRIPT_VARIABLE, str(found.path))
    return found


class Ear:
    """Hears a call. `then` is done with each event, on the thread that tells it."""

    def __init__(self, then: Callable[[CallEvent], None] = lambda event: None) -> None:
        self.then = then
        self.events: SimpleQueue[CallEvent] = SimpleQueue()

    def __call__(self, event: CallEvent) -> None:
        self.events.put(event)
        self.then(event)

    def next(self) -> CallEvent:
        return self.events.get(timeout=WAIT_S)

    def end(self) -> CallEvent:
        """The first event that is not just a beginning."""
        while isinstance(event := self.next(), Responding):
            pass
        return event

    def rest(self) -> list[CallEvent]:
        """What was heard and not yet asked for."""
        found = []
        while True:
            try:
                found.append(self.events.get_nowait())
            except Empty:
                return found


def scripted(i: int, replies: tuple[str, ...] = ()) -> Request:
    """A call of the scripted model for message `i`."""
    return Request("scripted/rogue", Part(0, i), SOURCES, replies)


@contextmanager
def process_workers(idle_s: float = 30, start_s: float = 20) -> Iterator[ProcessWorkers]:
    """Workers that are closed with the block, and have left no process then."""
    before = set(descendants())
    with closing(ProcessWorkers(idle_s, start_s)) as workers:
        yield workers
    assert set() == set(descendants()) - before


def fork_server(owner: int | None = None) -> int:
    """The process id of the one fork server of a process, this one by default."""
    (pid,) = filter(is_server, descendants(owner))
    return pid


def is_server(pid: int) -> bool:
    """Whether it leads its session; its forks do not."""
    try:
        return os.getsid(pid) == pid
    except ProcessLookupError:  # it just ended
        return False
