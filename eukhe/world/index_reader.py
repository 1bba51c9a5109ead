"""chat/index.db for a process that may not write it: what it feeds stays its own, in memory or a temporary file.

So a reader that finds the index behind the logs, or none at all, reads on from there without changing a thing.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from eukhe.actors.ports import Checkpoint, Place, Placed
from eukhe.errors import IndexFailed
from eukhe.limits import LOOK_ID_MAX
from eukhe.model.part import Part
from eukhe.model.record import NodeRecord, VoidRecord
from eukhe.model.when import nearness
from eukhe.world.index import SqliteIndex


class ReaderIndex:
    """Implements `Index` over the file `path`, which is only read. `said`: why it is not used, or how; else empty."""

    def __init__(self, path: Path) -> None:
        self._own = SqliteIndex(None)
        self._file: SqliteIndex | None = None
        self._voided: set[Part] = set()  # nodes of the file that a line read here has voided
        self.said = ""
        if path.exists() and path.stat().st_size:  # an empty one is what a full disk left of the making
            try:
                self._file = SqliteIndex(path, read_only=True)
                self.said = self._file.said
            except IndexFailed as error:
                self.said = f"{path}: {error.why}; read from the logs instead"

    def feed(self, rows: Iterable[Placed]) -> None:
        self._own.feed(self._new(rows))

    def commit(self, checkpoint: Checkpoint | None = None) -> None:
        self._own.commit(checkpoint)

    def checkpoint(self) -> Checkpoint | None:
        return self._own.checkpoint() or (self._file.checkpoint() if self._file else None)

    def clear(self) -> None:
        """Looks no more into the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._voided.clear()
        self._own.clear()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._own.close()

    def message_place(self, i: int) -> Place | None:
        return (self._file.message_place(i) if self._file else None) or self._own.message_place(i)

    def node_place(self, part: Part) -> Place | None:
        return self._own.node_place(part) or self._in_file(part)

    def id_of_key(self, key: str) -> int | None:
        first = self._file.id_of_key(key) if self._file else None
        return self._own.id_of_key(key) if first is None else first

    def id_of_text(self, text: str) -> int | None:
        first = self._file.id_of_text(text) if self._file else None
        return self._own.id_of_text(text) if first is None else first

    def counts(self) -> tuple[int, int]:
        messages, nodes = self._own.counts()
        if self._file is None:
            return messages, nodes
        in_file = self._file.counts()
        return max(messages, in_file[0]), nodes + in_file[1] - len(self._voided)

    def search(self, words: str, limit: int, before: int = LOOK_ID_MAX) -> list[int]:
        """The newest, which the file does not have yet, come first."""
        found = self._own.search(words, limit, before)
        if self._file is not None:
            found += [i for i in self._file.search(words, limit, before) if i not in found]
        return found[:limit]

    def nearest(self, at_s: int, limit: int, before: int = LOOK_ID_MAX) -> list[tuple[int, int]]:
        found = set(self._own.nearest(at_s, limit, before))
        if self._file is not None:
            found.update(self._file.nearest(at_s, limit, before))
        return sorted(found, key=nearness(at_s))[:limit]

    def _new(self, rows: Iterable[Placed]) -> Iterator[Placed]:
        for row in rows:
            if isinstance(row.record, VoidRecord):
                self._voided.update(part for part in row.record.void if self._in_file(part))
            if not isinstance(row.record, NodeRecord) or not self._in_file(row.record.part):
                yield row

    def _in_file(self, part: Part) -> Place | None:
        return self._file.node_place(part) if self._file and part not in self._voided else None
