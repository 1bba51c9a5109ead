"""Append and acknowledge through the store's actor, beside a bare write and fsync of the very same bytes.

The aims are the store's own: its disk, its thread and whoever asks are real, while index and planner take what they are
told and do nothing. What the whole owner does, with the real ones, has a row of its own.

Store and bare loop take turns, a short round each, and the best rounds are compared: an fsync takes many times as long
while other processes sync, and a round is short enough to fall between them. Each round has a new thread, since on a
busy machine one that has used much time waits longest for its next.
"""

import os
import statistics
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeVar

from eukhe.actors.archive import Archive
from eukhe.actors.behaviour import EDGE, Effect, Tell
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
from eukhe.actors.threads import Edge, Threads
from eukhe.cli.owner import own
from eukhe.limits import INDEX_COMMIT_ROWS
from eukhe.world.clock import RealClock
from eukhe.world.config import load
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from eukhe.world.workers import OfflineWorkers
from measure.figures import Aim, Figure, Sizes, seconds
from measure.made import Texts, sizes

IN_FLIGHT = 64
IN_FLIGHT_EACH = 8  # times as many messages in a round with many in flight
US = 1_000_000
BARE = "bare write and fsync of the same"

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


class Asker:
    """Whoever appends; each of its messages has a key of its own."""

    def __init__(self, edge: Edge) -> None:
        self.edge = edge
        self.keys = count()

    def one(self, text: str) -> None:
        assert isinstance(self.edge.answer(self._send(text)), AppendDone)

    def many(self, texts: Iterable[str]) -> None:
        """Keeps many on their way."""
        tickets: deque[int] = deque()
        for text in texts:
            if len(tickets) == IN_FLIGHT:
                assert isinstance(self.edge.answer(tickets.popleft()), AppendDone)
            tickets.append(self._send(text))
        while tickets:
            assert isinstance(self.edge.answer(tickets.popleft()), AppendDone)

    def _send(self, text: str) -> int:
        ticket = self.edge.ticket()
        self.edge.tell("store", Append((Entry("user", text, None, f"bench-{next(self.keys)}"),), EDGE, ticket))
        return ticket


@contextmanager
def _asker(folder: Path) -> Iterator[Asker]:
    """The asker of a store that runs on `folder` with nobody behind it."""
    for name in ("main", "tree", "images"):
        (folder / name).mkdir(parents=True)
    with closing(RealDisk(folder)) as disk, closing(SqliteIndex(folder / "index.db")) as index:
        archive = Archive(disk, index)
        system = Threads(
            {"index": Taker, "planner": Taker, "store": lambda: Store(StoreStart(), RealClock(), index, archive)},
            disk,
            RealClock(),
            OfflineWorkers(),
        )
        system.begin()
        yield Asker(system.edge)
        system.end()


def _store(folder: Path, texts: Sequence[str], rounds: int) -> Best:
    found = []
    many = [*texts] * IN_FLIGHT_EACH
    with _asker(folder) as asker:
        bare = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        asker.many(texts)
        # Each line once more, as long as in the log but for the digits of its id.
        lines = [line for log in (folder / "main").iterdir() for line in log.read_bytes().splitlines(keepends=True)]
        for _ in range(rounds):
            alone_s = _on_a_thread(partial(_median, asker.one, texts))
            bare_s = _on_a_thread(partial(_median, partial(_write, bare), lines))
            many_s = _on_a_thread(partial(seconds, partial(asker.many, many))) / len(many)
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


def _on_a_thread(measured: Callable[[], float]) -> float:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(measured).result()


def _write(fd: int, line: bytes) -> None:
    written = os.write(fd, line)
    assert len(line) == written
    os.fsync(fd)


def _median(work: Callable[[T], object], items: Sequence[T]) -> float:
    """The median seconds of some work on an item."""
    return statistics.median([seconds(partial(work, item)) for item in items])
