"""Append and acknowledge through the store's actor, beside a bare write and fsync of the very same bytes.

The aims are the store's own: its disk, its thread and whoever asks are real, while index and planner take what they are
told and do nothing. What the whole owner does, with the real ones, has a row of its own.

Store and bare loop take turns, a short round each, and the best rounds are compared: an fsync takes many times as long
while other processes sync, and a round is short enough to fall between them. Each round has a new thread, since on a
busy machine one that has used much time waits longest for its next.
"""

import os
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from eukhe.actors.archive import Archive
from eukhe.actors.behaviour import EDGE, Behaviour, Effect, Tell
from eukhe.actors.messages import (
    Append,
    AppendDone,
    Entry,
    Feed,
    IndexCommitted,
    Logged,
    Msg,
    Ping,
    Pong,
    Settle,
    Sync,
    Synced,
    Written,
)
from eukhe.actors.store import Store, StoreStart
from eukhe.actors.threads import Threads
from eukhe.cli.owner import own
from eukhe.limits import EDGE_WAIT_S, INDEX_COMMIT_ROWS
from eukhe.world.clock import RealClock
from eukhe.world.config import load
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from eukhe.world.socket import UnixSockets
from eukhe.world.workers import OfflineWorkers
from measure.figures import Aim, Figure, Sizes, seconds
from measure.made import Texts, sizes

IN_FLIGHT = 64
IN_FLIGHT_EACH = 8  # times as many messages in a round with many in flight
US = 1_000_000
BARE = "bare write and fsync of the same"
NOBODY: Mapping[str, Callable[[], Behaviour]] = {}

T = TypeVar("T")


def measure(of: Sizes, folder: Path) -> list[Figure]:
    texts = Texts()
    best = _store(folder / "store", [texts.text(size) for size in sizes(of.append_each)], of.append_rounds)
    whole_s = _owner(folder / "owner", [texts.text(size) for size in sizes(of.append_whole)])
    bare_each_s = 1 / best.bare_s
    return [
        Figure("append, one at a time", best.alone_s * US, "µs", BARE, best.bare_s * US, Aim("times", 1.7)),
        Figure(
            f"append, {IN_FLIGHT} in flight", 1 / best.many_s, "messages/s", BARE, bare_each_s, Aim("times", 3, True)
        ),
        Figure("append, index, view and lines as well", 1 / whole_s, "messages/s", BARE, bare_each_s),
    ]


class Best(NamedTuple):
    """Seconds an append in the best round: one at a time, with many in flight, bare."""

    alone_s: float
    many_s: float
    bare_s: float


class Taker:
    """Stands for index and planner: takes all, and tells the store now and then that it is committed."""

    def __init__(self) -> None:
        self.feeds = self.rows = 0

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket):
                return [Tell(reply_to, Synced(ticket))]
            case Feed(rows):
                self.feeds += 1
                self.rows += len(rows)
                if self.rows < INDEX_COMMIT_ROWS:
                    return ()
                self.rows = 0
                return [Tell("store", IndexCommitted(self.feeds))]
        assert isinstance(message, Logged | Written), message
        return ()


class Line(Protocol):
    """A way to the store: the edge of its system, or a link to its door."""

    def tell(self, to: str, message: Msg) -> None: ...

    def hear(self, wait_s: float) -> Msg: ...


class Asker:
    """Whoever appends; each of its messages has a key of its own, made of its name."""

    def __init__(self, line: Line, name: str = "bench") -> None:
        self.line = line
        self.name = name
        self.tickets = count(1)

    def one(self, text: str) -> None:
        self._send(text)
        self._hear()

    def many(self, texts: Iterable[str]) -> None:
        """Keeps many on their way."""
        flying = 0
        for text in texts:
            if flying == IN_FLIGHT:
                self._hear()
                flying -= 1
            self._send(text)
            flying += 1
        for _ in range(flying):
            self._hear()

    def _send(self, text: str) -> None:
        ticket = next(self.tickets)
        entry = Entry("user", text, None, f"{self.name}-{ticket}")
        self.line.tell("store", Append((entry,), EDGE, ticket))

    def _hear(self) -> None:
        assert isinstance(self.line.hear(EDGE_WAIT_S), AppendDone)


@contextmanager
def store_alone(folder: Path, others: Mapping[str, Callable[[], Behaviour]] = NOBODY) -> Iterator[Threads]:
    """A store that runs on `folder` with nobody behind it. `others`: who else is there, with the door the socket."""
    for name in ("main", "tree", "images"):
        (folder / name).mkdir(parents=True)
    with ExitStack() as stack:
        disk = stack.enter_context(closing(RealDisk(folder)))
        index = stack.enter_context(closing(SqliteIndex(folder / "index.db")))
        archive = Archive(disk, index)
        system = Threads(
            {
                "index": Taker,
                "planner": Taker,
                "store": lambda: Store(StoreStart(), RealClock(), index, archive),
                **others,
            },
            disk,
            RealClock(),
            OfflineWorkers(),
            stack.enter_context(closing(UnixSockets(folder))) if others else None,
        )
        system.begin()
        yield system
        system.end()


def _store(folder: Path, texts: Sequence[str], rounds: int) -> Best:
    found = []
    many = [*texts] * IN_FLIGHT_EACH
    with store_alone(folder) as system:
        asker = Asker(system.edge)
        bare = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        asker.many(texts)
        # Each line once more, as long as in the log but for the digits of its id.
        lines = [line for log in (folder / "main").iterdir() for line in log.read_bytes().splitlines(keepends=True)]
        for _ in range(rounds):
            alone_s = on_a_thread(partial(median, asker.one, texts))
            bare_s = on_a_thread(partial(median, partial(_write, bare), lines))
            many_s = on_a_thread(partial(seconds, partial(asker.many, many))) / len(many)
            found.append(Best(alone_s, many_s, bare_s))
        os.close(bare)
    return Best(*map(min, zip(*found, strict=True)))


def _owner(folder: Path, texts: Sequence[str]) -> float:
    """Seconds a message, many in flight, until all are indexed and all lines built."""
    with own(folder, load(folder, {}, {})) as here:
        asker = Asker(here.edge)

        def all_of_it() -> None:
            asker.many(texts)
            here.edge.ask("planner", lambda reply_to, ticket: Settle(reply_to, ticket, len(texts), take=True))
            here.edge.ask("index", Sync)

        return seconds(all_of_it) / len(texts)


def on_a_thread(measured: Callable[[], float]) -> float:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(measured).result()


def _write(fd: int, line: bytes) -> None:
    written = os.write(fd, line)
    assert len(line) == written
    os.fsync(fd)


def median(work: Callable[[T], object], items: Sequence[T]) -> float:
    """The median seconds of some work on an item."""
    return statistics.median([seconds(partial(work, item)) for item in items])
