"""A store in its host: it writes to a disk, and what it tells others, and itself, is taken down.

The index and the reader are one object that takes what the store feeds and commits when a test says so.
"""

import hashlib
import zlib
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from eukhe.actors.behaviour import Effect, Persist, Replace, Tell
from eukhe.actors.messages import (
    Append,
    AppendDone,
    AppendFailed,
    Entry,
    Feed,
    IndexCommitted,
    Logging,
    Msg,
)
from eukhe.actors.ports import Disk, Placed, Position
from eukhe.actors.store import Store, StoreStart
from eukhe.errors import StoreError
from eukhe.limits import LOST
from eukhe.model.key import piece_of
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, MessageRecord, NodeRecord, RecordError, decode_main, decode_tree
from tests.actor_kit import Rig

ZONE = timezone(timedelta(hours=2))
MAIN = "main/2026-10-05.jsonl"
TREE = "tree/2026-10-05.jsonl"
PNG = b"\x89PNG\r\n\x1a\n and so on"
PNG_NAME = f"{hashlib.sha256(PNG).hexdigest()}.png"


class HandClock:
    """A clock that stands until a test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 10, 5, 9, 32, 11, 987_654, tzinfo=ZONE)

    def monotonic_s(self) -> float:
        return 0.0

    def local(self) -> datetime:
        return self.now


class Library:
    """Index and reader. Knows nothing but what was committed; `asked` are the keys it was asked for."""

    def __init__(self) -> None:
        self.fed: list[Sequence[Placed]] = []
        self.committed = 0
        self.messages: dict[int, MessageRecord] = {}
        self.nodes: dict[Part, str] = {}
        self.keys: dict[str, int] = {}
        self.lost: set[int] = set()
        self.asked: list[str] = []

    def commit(self) -> IndexCommitted:
        for rows in self.fed[self.committed :]:
            for row in rows:
                self.add(row.record)
        self.committed = len(self.fed)
        return IndexCommitted(self.committed)

    def add(self, record: Any) -> None:
        if isinstance(record, MessageRecord):
            self.messages[record.i] = record
            if record.key is not None:
                self.keys.setdefault(record.key, record.i)
                whole, k, _ = piece_of(record.key)
                if k == 1:
                    self.keys.setdefault(whole, record.i)
        elif isinstance(record, NodeRecord):
            self.nodes[record.part] = record.text

    def id_of_key(self, key: str) -> int | None:
        self.asked.append(key)
        return self.keys.get(key)

    def message(self, i: int) -> MessageRecord | None:
        return self.messages.get(i)

    def node_text(self, part: Part) -> str | None:
        return self.nodes.get(part)

    def source(self, part: Part) -> tuple[str, ...] | None:
        """Of messages alone: the store puts halves together by itself."""
        if part.i in self.lost:
            return (LOST,)
        record = self.messages.get(part.i)
        return None if record is None else (record.label,)


class MemoryDisk:
    """Files in memory. `fail` breaks one append or replace, counted from 0, after `kept` bytes of it were written."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.fail: int | None = None
        self.kept = 0
        self.writes = 0

    def names(self, folder: str) -> list[str]:
        return sorted(path.removeprefix(f"{folder}/") for path in self.files if path.startswith(f"{folder}/"))

    def length(self, path: str) -> int | None:
        return len(self.files[path]) if path in self.files else None

    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        data = self.files[path][offset:]
        return data if length < 0 else data[:length]

    def append(self, path: str, data: bytes) -> None:
        broken = self._breaks()
        self.files[path] = self.files.get(path, b"") + (data[: self.kept] if broken else data)
        if broken:
            raise StoreError(path, 5, "Input/output error")

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        if self._breaks():
            raise StoreError(path, 5, "Input/output error")
        self.files[path] = data

    def _breaks(self) -> bool:
        self.writes += 1
        return self.fail == self.writes - 1


class StoreHost:
    """Runs a store on `disk`. `told`: what others were sent; `effects`: all that the store did, in order.

    What it tells itself waits in `inbox` until it is run.
    """

    def __init__(self, disk: Disk, start: StoreStart | None = None, library: Library | None = None) -> None:
        self.disk = disk
        self.clock = HandClock()
        self.library = library or Library()
        made_of = start or StoreStart(), self.clock, self.library, self.library
        self.actor = Rig(lambda: Store(*made_of), name="store", disk=disk, clock=self.clock)  # type: ignore[arg-type]
        self.inbox: deque[Msg] = deque()
        self.told: list[tuple[str, Msg]] = []
        self.effects = self.actor.did.effects
        self.ticket = 0

    def send(self, *messages: Msg) -> None:
        """Messages in one go, then all that follows from them."""
        self.inbox.extend(messages)
        self.run()

    def run(self) -> None:
        while self.inbox:
            self.step()

    def step(self) -> None:
        """One message."""
        for effect in self.actor.receive(self.inbox.popleft()):
            if isinstance(effect, Tell):
                self._tell(effect.to, effect.message)
            else:
                assert isinstance(effect, Persist | Replace), f"a store has no use for {effect}"

    def order(self, *entries: Entry) -> Append:
        """An append that "asker" waits for."""
        self.ticket += 1
        return Append(entries, "asker", self.ticket)

    def append(self, *entries: Entry) -> tuple[Logging, ...]:
        """Logs them, and gives the answer; AssertionError where it is a failure."""
        self.send(self.order(*entries))
        done = self.answers()[-1]
        assert isinstance(done, AppendDone), done
        return done.entries

    def answers(self) -> list[AppendDone | AppendFailed]:
        """What askers were told."""
        return [message for _, message in self.told if isinstance(message, AppendDone | AppendFailed)]

    def said(self, to: str) -> list[Msg]:
        """What an actor was told."""
        return [message for name, message in self.told if name == to]

    def persists(self) -> list[Persist]:
        return [effect for effect in self.effects if isinstance(effect, Persist)]

    def commit(self) -> None:
        """The index commits all it was fed."""
        self.send(self.library.commit())

    def _tell(self, to: str, message: Msg) -> None:
        if to == "store":
            self.inbox.append(message)
            return
        self.told.append((to, message))
        if isinstance(message, Feed):
            self.library.fed.append(message.rows)


def messages_of(disk: Disk) -> list[MessageRecord]:
    """The messages in the logs, in order; what is no record is left out."""
    found = []
    for name in disk.names("main"):
        for line in disk.read(f"main/{name}").split(b"\n"):
            try:
                record = decode_main(line)
            except RecordError:
                continue
            if isinstance(record, MessageRecord):
                found.append(record)
    return found


def tree_of(disk: Disk) -> list[Any]:
    """The records in tree/, in order."""
    return [decode_tree(line) for name in disk.names("tree") for line in disk.read(f"tree/{name}").split(b"\n") if line]


def reopen(disk: Disk) -> StoreHost:
    """A new store on what a disk holds, as after a crash: torn lines ended, all that is there known to the index."""
    library = Library()
    position = {}
    for folder in ("main", "tree"):
        names = disk.names(folder)
        path = f"{folder}/{names[-1]}" if names else ""
        data = disk.read(path) if path else b""
        if data and not data.endswith(b"\n"):
            disk.append(path, b"\n")
            data += b"\n"
        last = data.splitlines(keepends=True)[-1] if data else b""
        position[folder] = Position(path, len(data), zlib.crc32(last))
    messages = messages_of(disk)
    for record in (*messages, *tree_of(disk)):
        library.add(record)
    return StoreHost(disk, StoreStart(len(messages), position["main"], position["tree"]), library)


def batch(*parts: Part, t: int = 2) -> BatchRecord:
    return BatchRecord(parts, False, t)


def names(effects: Sequence[Effect]) -> list[str]:
    """Effects by what they do."""
    return [
        f"{effect.to}:{type(effect.message).__name__}"
        if isinstance(effect, Tell)
        else f"{type(effect).__name__} {effect.path}"  # type: ignore[union-attr]
        for effect in effects
    ]


def folder(path: Path) -> Path:
    """A chat's folder, empty."""
    for name in ("main", "tree", "images"):
        (path / name).mkdir(parents=True)
    return path
