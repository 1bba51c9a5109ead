"""The index in plain dicts. One `IndexFile` is what is committed, and each user opens it for himself.

Only what was committed outlives a crash, and when the power goes perhaps not all of that: it is synced by no one.
"""

from collections.abc import Iterable
from random import Random
from typing import Any

import msgspec

from eukhe.actors.ports import Checkpoint, Place, Placed
from eukhe.errors import IndexFailed
from eukhe.limits import LOOK_ID_MAX, REPEAT_CHARS_MIN
from eukhe.model.key import piece_of
from eukhe.model.part import Part
from eukhe.model.record import GapRecord, MessageRecord, NodeRecord, VoidRecord
from eukhe.model.verify import INDEX_FILE
from eukhe.model.when import date_s, nearness


class _Tables:
    """Records by their names. A node that was voided is there as None."""

    def __init__(self) -> None:
        self.next_id = 0
        self.messages: dict[int, Place] = {}
        self.words: dict[int, str] = {}
        self.dates: dict[int, int] = {}  # in seconds since 1970
        self.keys: dict[str, int] = {}
        self.texts: dict[str, int] = {}
        self.nodes: dict[Part, Place | None] = {}
        self.gaps: dict[range, Place] = {}
        self.checkpoint: Checkpoint | None = None

    def feed(self, rows: Iterable[Placed]) -> None:
        for row in rows:
            match row.record:
                case MessageRecord() as record:
                    self._message(record, row.place)
                case NodeRecord(part):
                    if self.nodes.get(part) is None:
                        self.nodes[part] = row.place
                case VoidRecord(void):
                    self.nodes.update(dict.fromkeys(void))
                case GapRecord(first, end):
                    self.gaps.setdefault(range(first, end), row.place)
                    self.next_id = max(self.next_id, end)

    def _message(self, record: MessageRecord, place: Place) -> None:
        if record.i < self.next_id:
            return
        self.next_id = record.i + 1
        self.messages[record.i] = place
        self.words[record.i] = record.text
        if (at := date_s(record.date)) is not None:
            self.dates[record.i] = at
        if record.key is not None:
            self.keys.setdefault(record.key, record.i)
            whole, piece, _ = piece_of(record.key)
            if piece == 1:
                self.keys.setdefault(whole, record.i)
        if len(record.text) >= REPEAT_CHARS_MIN:
            self.texts.setdefault(record.text, record.i)


class IndexFile:
    """What every user sees: `tables`, made by the commits in their order. `full`: no more can be written."""

    def __init__(self) -> None:
        self.full = False
        self.tables = _Tables()
        self.commits: list[tuple[tuple[Placed, ...], Checkpoint | None]] = []
        self._right: list[tuple[dict[Any, Any], Any, Place]] = []  # places that are wrong: where, whose, the right one

    def commit(self, rows: tuple[Placed, ...], checkpoint: Checkpoint | None) -> None:
        self.commits.append((rows, checkpoint))
        self.tables.feed(rows)
        if checkpoint is not None:
            self.tables.checkpoint = checkpoint

    def clear(self) -> None:
        """A new file; who has the old one open goes on with that."""
        self.tables = _Tables()
        self.commits = []
        self._right = []

    def lead_astray(self, random: Random) -> None:
        """One of its places becomes wrong."""
        places: dict[Any, Any] = random.choice([self.tables.messages, self.tables.nodes])
        there = [key for key, place in places.items() if place is not None]
        if there:
            key = random.choice(there)
            self._right.append((places, key, places[key]))
            places[key] = msgspec.structs.replace(places[key], offset=places[key].offset + 1)

    def heal(self) -> None:
        """Every place is right again."""
        while self._right:
            places, key, place = self._right.pop()
            places[key] = place

    def lose_power(self, random: Random) -> None:
        """The last commits may be gone; or all is."""
        commits = self.commits[: random.choice((len(self.commits), random.randint(0, len(self.commits)), 0))]
        self.clear()
        for rows, checkpoint in commits:
            self.commit(rows, checkpoint)


class SimIndex:
    """Implements `Index`: the file, and for the one who feeds it also what is not committed yet.

    IndexFailed for a write on a full disk, and for every write of this user's after one.
    """

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._tables = file.tables
        self._failed = False
        self._rows: list[Placed] = []
        self._ahead = _Tables()

    def feed(self, rows: Iterable[Placed]) -> None:
        self._may_write()
        rows = list(rows)
        self._rows += rows
        self._ahead.next_id = max(self._ahead.next_id, self._tables.next_id)
        self._ahead.feed(row for row in rows if not self._has(row))

    def commit(self, checkpoint: Checkpoint | None = None) -> None:
        self._may_write()
        self._file.commit(tuple(self._rows), checkpoint)
        self._roll_back()

    def checkpoint(self) -> Checkpoint | None:
        return self._tables.checkpoint

    def clear(self) -> None:
        self._file.clear()
        self._tables = self._file.tables
        self._failed = False
        self._roll_back()

    def message_place(self, i: int) -> Place | None:
        for tables in (self._ahead, self._tables):
            if place := tables.messages.get(i):
                return place
        gaps = {**self._tables.gaps, **self._ahead.gaps}
        return next((place for gap, place in gaps.items() if i in gap), None)

    def node_place(self, part: Part) -> Place | None:
        return self._ahead.nodes[part] if part in self._ahead.nodes else self._tables.nodes.get(part)

    def id_of_key(self, key: str) -> int | None:
        return self._tables.keys.get(key, self._ahead.keys.get(key))

    def id_of_text(self, text: str) -> int | None:
        return self._tables.texts.get(text, self._ahead.texts.get(text))

    def counts(self) -> tuple[int, int]:
        nodes = {**self._tables.nodes, **self._ahead.nodes}
        there = sum(place is not None for place in nodes.values())
        return max(self._tables.next_id, self._ahead.next_id), there

    def search(self, words: str, limit: int, before: int = LOOK_ID_MAX) -> list[int]:
        """The newest first."""
        texts = {**self._tables.words, **self._ahead.words}
        wanted = words.casefold().split()
        found = [i for i, text in texts.items() if wanted and all(word in text.casefold().split() for word in wanted)]
        return sorted((i for i in found if i < before), reverse=True)[:limit]

    def nearest(self, at_s: int, limit: int, before: int = LOOK_ID_MAX) -> list[tuple[int, int]]:
        dates = {**self._tables.dates, **self._ahead.dates}
        return sorted(((at, i) for i, at in dates.items() if i < before), key=nearness(at_s))[:limit]

    def _may_write(self) -> None:
        if self._file.full or self._failed:
            self._failed = True
            self._roll_back()
            raise IndexFailed(INDEX_FILE, "database or disk is full", bad=False)

    def _roll_back(self) -> None:
        """Nothing waits to be committed any more."""
        self._rows.clear()
        self._ahead = _Tables()

    def _has(self, row: Placed) -> bool:
        """A node of the file that no newer row voids is left as it is."""
        record = row.record
        return isinstance(record, NodeRecord) and self.node_place(record.part) is not None
