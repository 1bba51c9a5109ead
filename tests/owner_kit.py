"""A whole owner on either runtime, with calls in the test's hand: gated, as a model's that costs money are."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pykka
from store_kit import MemoryDisk

from eukhe.actors.behaviour import EDGE, Behaviour
from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import Append, AppendDone, Entry, Msg, Ping, Pong, ReadView, Sync, ViewTaken, ViewTexts
from eukhe.actors.opening import open_chat
from eukhe.actors.ports import CallEvent, Replied, Request, Responding
from eukhe.actors.threads import ThreadHost, Threads
from eukhe.model.chat import ChatLimits
from eukhe.model.part import Part
from eukhe.sim.clock import SimClock
from eukhe.sim.runtime import SimHost, SimSystem
from eukhe.sim.scheduler import Scheduler
from eukhe.world.clock import RealClock
from eukhe.world.index import SqliteIndex

JOBS = 3
COMPACTORS = [f"compactor-{k}" for k in range(JOBS)]
LONG = "word " * 200


class HandWorkers:
    """Calls begin and end as a test says. `running`: by node, the call's number, its request, who is told of it."""

    def __init__(self) -> None:
        self.running: dict[Part, tuple[int, Request, Callable[[CallEvent], None]]] = {}

    def start(self, call: int, request: Request, heard: Callable[[CallEvent], None]) -> None:
        assert request.part not in self.running
        self.running[request.part] = call, request, heard

    def stop(self, call: int) -> None:
        self.running = {part: running for part, running in self.running.items() if running[0] != call}

    def hear(self, part: Part, event: CallEvent) -> None:
        """Something happens to a node's call."""
        heard = self.running[part][2]
        if not isinstance(event, Responding):
            del self.running[part]
        heard(event)


class Owner:
    """`calls`: its workers. It is asked from outside, as a program asks."""

    def __init__(self, system: Threads | SimSystem, calls: HandWorkers) -> None:
        self.system = system
        self.calls = calls
        self._tickets = count(1_000)  # apart from the system's own

    def order(self, to: str, order: Callable[[str, int], Msg]) -> int:
        """Gives an order; its ticket."""
        ticket = next(self._tickets)
        self.system.tell(to, order(EDGE, ticket))
        return ticket

    def answer(self, ticket: int) -> Msg:
        """Waits for an order's answer."""
        if isinstance(self.system, Threads):
            return self.system.edge.answer(ticket)
        heard = self.system.heard
        self.system.scheduler.until(lambda: any(message.ticket == ticket for message in heard))  # type: ignore[attr-defined]
        return next(message for message in heard if message.ticket == ticket)  # type: ignore[attr-defined]

    def ask(self, to: str, order: Callable[[str, int], Msg]) -> Msg:
        return self.answer(self.order(to, order))

    def log(self, *texts: str) -> None:
        entries = tuple(Entry("user", text) for text in texts)
        assert isinstance(self.ask("store", lambda to, ticket: Append(entries, to, ticket)), AppendDone)
        self.settle()

    def settle(self) -> None:
        """All that follows from what happened has happened: what actors tell each other goes this way at the most."""
        for _ in range(2):
            self.ask("store", Sync)
            for name in ("planner", *COMPACTORS, "index", *COMPACTORS, "gate", *COMPACTORS, "planner"):
                assert isinstance(self.ask(name, Ping), Pong)

    def hear(self, part: Part, *events: CallEvent) -> None:
        """These happen to a node's call, and all that follows."""
        for event in events:
            self.calls.hear(part, event)
            self.settle()

    def reply(self, part: Part, line: str) -> None:
        """A node's call goes well."""
        self.hear(part, Responding(), Replied(line))

    def texts(self, view: ViewTaken) -> tuple[str, ...]:
        read = self.ask("index", lambda to, ticket: ReadView(view.lines, view.unbuilt, to, ticket))
        assert isinstance(read, ViewTexts)
        return read.texts


@contextmanager
def owner(
    runtime: str,
    folder: Path,
    model: str = "scripted/model",
    instead: Mapping[str, Callable[[], Behaviour]] | None = None,
    **given: Any,
) -> Iterator[Owner]:
    """Of a new chat; ended at the end. `instead`: actors in the place of its own; `given`: see `owner_makers`."""
    disk, calls = MemoryDisk(), HandWorkers()
    with closing(SqliteIndex(folder / "index.db")) as index, closing(SqliteIndex(folder / "index.db")) as stores:
        opened = open_chat(disk, index, ChatLimits(jobs=JOBS), owner=True)
        sim_clock = SimClock()
        clock = RealClock() if runtime == "threads" else sim_clock
        # First come those that others lean on, as they also end last.
        makers = {
            **(instead or {}),
            **owner_makers(opened, disk, clock, index, stores, model, **given),
            **(instead or {}),
        }
        if runtime == "threads":
            system: Threads | SimSystem = Threads(makers, disk, clock, calls)
        else:
            system = SimSystem(makers, disk, clock, calls, Scheduler(1, sim_clock))
        system.begin()
        host: type[pykka.Actor] = ThreadHost if runtime == "threads" else SimHost
        assert all(issubclass(actor.actor_class, host) for actor in system.actors.values())
        try:
            yield Owner(system, calls)
        finally:
            system.end()
