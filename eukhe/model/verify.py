"""Proves a chat from its files alone. Pure: no clock, disk or threads.

Everything is read once more, and nothing that reading the chat has worked out is believed: ids without a gap, sizes,
each node's halves before it, its limit, free nodes exact, the batch lines done over to the very view, view.json and
the index. Main is read as far as the tree asks, so memory is that of what is unfinished, not of the chat.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from eukhe.errors import IndexFailed
from eukhe.limits import INDEX_PROBLEMS_SHOWN, NODE_BYTES_MAX
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, GapRecord, MainRecord, MessageRecord, NodeRecord, TreeRecord, VoidRecord
from eukhe.model.saved_view import VIEW_FILE, SavedView, compare_view
from eukhe.model.scan import (
    GAP_MARK,
    VOID_MARK,
    Found,
    Jump,
    Line,
    MainScan,
    Problem,
    Read,
    accepted,
    gaps_in,
    labels,
    lines,
    missing,
    scan_tree,
)
from eukhe.model.verify_tree import Nodes, Replay, text_of

Files = Sequence[tuple[str, Read]]
"""A log's files, oldest first, each with what reads it."""

INDEX_FILE = "index.db"
K = TypeVar("K", int, Part)


class Where(Protocol):
    """A line's place, as the index has it."""

    @property
    def path(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...


class Places(Protocol):
    """The index: where it has each record, and how many."""

    def message_place(self, i: int) -> Where | None: ...
    def id_of_key(self, key: str) -> int | None: ...
    def node_place(self, part: Part) -> Where | None: ...
    def counts(self) -> tuple[int, int]: ...


class Verification:
    """One proof. `messages`, `nodes`, `batches`: how many were read. `view`: what the batch lines give.

    `saved`: view.json; None where it is left out, since an owner writes on meanwhile.
    """

    def __init__(self, main: Files, tree: Files, saved: SavedView | None, places: Places | None = None) -> None:
        self._main = main
        self._tree = tree
        self._saved = saved
        self._places = places
        self._indexed = places.counts() if places else (0, 0)
        self._found: list[Problem] = []
        self._awaited: list[tuple[Part, Problem]] = []
        self._nodes = Nodes()
        self._replay = Replay()
        self._reading: Iterator[bool] = self._messages()
        self._astray = 0  # places of the index that are not so
        self.messages = self.nodes = self.batches = 0
        self.shrinking = False

    @property
    def view(self) -> list[Part]:
        return self._replay.parts()

    def problems(self) -> Iterator[Problem]:
        """All that is wrong, where the logs have it. Nothing is wrong with a chat where each one is harmless."""
        for found in self._records():
            match found.record:
                case NodeRecord():
                    self._node(found, found.record)
                case BatchRecord():
                    self._batch(found, found.record)
            yield from self._take()
        self._read_until(None)
        for part, problem in self._awaited:
            self._found.append(msgspec.structs.replace(problem, harmless=self._nodes.built.has(*part)))
        self._replay.append_until(self.messages)
        self._saved_view()
        self._index_counts()
        yield from self._take()

    def _take(self) -> list[Problem]:
        found, self._found = self._found, []
        return found

    def _say(self, found: Found[TreeRecord] | Found[MainRecord], what: str, harmless: bool = False) -> None:
        self._found.append(Problem(found.file, found.line, found.offset, what, harmless))

    # --- the tree ---

    def _records(self) -> Iterator[Found[TreeRecord]]:
        """The tree's records, without nodes and merges that a later line voids."""
        voids: dict[Part, tuple[int, int]] = {}
        for number, (path, read) in enumerate(self._tree):
            for found in scan_tree(path, (line for line in lines(read) if VOID_MARK in line.data)):
                if isinstance(found, Found) and isinstance(found.record, VoidRecord):
                    voids.update(dict.fromkeys(found.record.void, (number, found.offset)))
        for number, (path, read) in enumerate(self._tree):
            for found in scan_tree(path, lines(read)):
                if isinstance(found, Problem):
                    self._found.append(found)
                    continue
                here = number, found.offset
                match found.record:
                    case NodeRecord(part) if part in voids and here < voids[part]:
                        continue
                    case BatchRecord(merge, open_, t) if voids:
                        kept = tuple(part for part in merge if part not in voids or here > voids[part])
                        yield found._replace(record=BatchRecord(kept, open_, t))
                    case _:
                        yield found

    def _node(self, found: Found[TreeRecord], record: NodeRecord) -> None:
        part = record.part
        self._read_until(part.end)
        if part.end > self.messages:
            self._say(found, f"node {part.name} stands past the last message")
            return
        if self._nodes.built.has(*part):
            self._say(found, f"a second line for node {part.name}; the first one counts", harmless=True)
            return
        for half in self._nodes.unbuilt_halves(part):
            self._await(half, found, f"node {part.name} has no line for its half {half.name} before it")
        if wrong := self._nodes.add(record):
            self._say(found, wrong)
        if self.nodes < self._indexed[1] and self._places is not None:
            self._index_place(found, self._places.node_place, part, f"node {part.name}")
        self.nodes += 1

    def _await(self, part: Part, found: Found[TreeRecord], what: str) -> None:
        """A line is not there. Where it comes later, it was broken and made anew, and all is well again."""
        self._awaited.append((part, Problem(found.file, found.line, found.offset, what)))

    def _batch(self, found: Found[TreeRecord], record: BatchRecord) -> None:
        self.batches += 1
        self.shrinking = record.open
        t = record.t or 0
        self._read_until(t)
        if t > self.messages:
            self._say(found, f"a batch at message {t}, where there are {self.messages}")
        self._replay.append_until(min(t, self.messages))
        for parent in record.merge:
            if not self._nodes.built.has(*parent):
                self._await(parent, found, f"the merge to {parent.name} is left out: its line is not there")
                continue
            self._replay.append_until(parent.end)
            if not self._replay.merge(parent):
                self._say(found, f"the merge to {parent.name} is left out: no lines of the view fill it")

    # --- main ---

    def _read_until(self, t: int | None) -> None:
        """Reads messages until there are `t`, or all."""
        while (t is None or self.messages < t) and next(self._reading, False):
            self.messages += 1

    def _messages(self) -> Iterator[bool]:
        """A step for each message."""
        gaps: list[GapRecord] | None = None
        scan = MainScan()
        for path, read in self._main:
            for found in scan.file(path, lines(read)):
                match found:
                    case Problem():
                        self._found.append(found)
                    case Jump(file, line, offset, before, after):
                        gaps = list(gaps_in(self._marked(), self.messages)) if gaps is None else gaps
                        if not accepted(found, gaps):
                            self._blame(file, line - 1)
                            self._found.append(Problem(file, line, offset, missing(found)))
                        yield from self._lost(after - before - 1)
                    case Found(record=GapRecord()):
                        yield from self._lost(scan.next_id - self.messages)
                    case Found(record=MessageRecord() as record):
                        self._message(found, record)
                        yield True

    def _blame(self, file: str, line: int) -> None:
        """A broken line right before ids that are missing took them with it, so it does harm."""
        if self._found and (self._found[-1].file, self._found[-1].line) == (file, line):
            self._found[-1] = msgspec.structs.replace(self._found[-1], harmless=False)

    def _message(self, found: Found[MainRecord], record: MessageRecord) -> None:
        own = tuple(text_of(data) for each in labels(record) if len(data := each.encode()) <= NODE_BYTES_MAX)
        if record.size <= NODE_BYTES_MAX:
            self._nodes.free[record.i] = own
        if record.i < self._indexed[0] and self._places is not None:
            self._index_place(found, self._places.message_place, record.i, f"message {record.i}")
            if record.key is not None:
                self._index_key(found, record.i, self._places.id_of_key, record.key)

    def _lost(self, count: int) -> Iterator[bool]:
        """Lost messages may have a line all the same, made while they were there."""
        for _ in range(count):
            yield True

    def _marked(self) -> Iterator[tuple[str, Line]]:
        return ((path, line) for path, read in self._main for line in lines(read) if GAP_MARK in line.data)

    # --- what is made of the logs ---

    def _saved_view(self) -> None:
        if self._saved is not None and (wrong := compare_view(self._saved, self.view)):
            what, harmless = wrong
            # Without batch lines it is another program's, or an older one's, and the first owner takes it over.
            self._found.append(Problem(VIEW_FILE, 1, 0, what, harmless or not self.batches))

    def _index_place(
        self,
        found: Found[TreeRecord] | Found[MainRecord],
        place_of: Callable[[K], Where | None],
        key: K,
        what: str,
    ) -> None:
        try:
            place = place_of(key)
        except IndexFailed as error:
            self._index_says(found, f"can't say where {what} is: {error.why}")
            return
        if place is None:
            self._index_says(found, f"does not have {what}")
        elif (place.path, place.offset, place.length) != (found.file, found.offset, found.length):
            self._index_says(found, f"has {what} at {place.path}, byte {place.offset}, {place.length} bytes")

    def _index_key(self, found: Found[MainRecord], i: int, id_of_key: Callable[[str], int | None], key: str) -> None:
        """A key that the index does not have would be logged again; one that stands twice was."""
        try:
            first = id_of_key(key)
        except IndexFailed as error:
            self._index_says(found, f"can't say whose the key of message {i} is: {error.why}")
            return
        if first is None:
            self._index_says(found, f"does not have the key of message {i}")
        elif first != i:
            self._index_says(found, f"has the key of message {i} as message {first}'s, or it stands twice in the log")

    def _index_says(self, found: Found[TreeRecord] | Found[MainRecord], wrong: str) -> None:
        self._astray += 1
        if self._astray <= INDEX_PROBLEMS_SHOWN:
            self._say(found, f"{INDEX_FILE} {wrong}")

    def _index_counts(self) -> None:
        if (more := self._astray - INDEX_PROBLEMS_SHOWN) > 0:
            self._found.append(Problem(INDEX_FILE, 1, 0, f"disagrees with the logs in {more} more places"))
        for what, indexed, logged in zip(
            ("messages", "nodes"), self._indexed, (self.messages, self.nodes), strict=True
        ):
            if indexed > logged:
                self._found.append(Problem(INDEX_FILE, 1, 0, f"has {indexed} {what} where the logs have {logged}"))
