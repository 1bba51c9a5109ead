"""The store: the one writer of the logs. Rules 1 to 10, D1, D2.

Orders wait in buffers, and the store tells itself to flush them, once for all that came in meanwhile: so appends in
flight share a write and an fsync. A flush has two steps, each the effects of one message:

1. `Flush`: images, then the messages' lines, then every asker is told; then the index and the planner.
2. `FlushTree`: the tree's lines, then the index and the planner; then view.json, then a checkpoint.

The second message reaches the store only when all effects of the first were performed. So until it comes, a failure
means that the askers of the first step were not told; from then on, that they were.

A failure ends all writing. What the disk holds then is for the next opening to find out.
"""

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from eukhe.actors.behaviour import Effect, Persist, Replace, Tell
from eukhe.actors.messages import (
    Append,
    AppendDone,
    AppendFailed,
    Failed,
    FeedCheckpoint,
    Flush,
    FlushTree,
    FreeNode,
    IndexAstray,
    IndexCommitted,
    Logged,
    Msg,
    Ping,
    Poisoned,
    Pong,
    SaveCheckpoint,
    SaveView,
    Sync,
    Synced,
    WriteTree,
    Written,
)
from eukhe.actors.ports import Clock, Index, Place, Placed, Position, Reader
from eukhe.actors.store_intake import Intake, refusal
from eukhe.actors.store_recent import Recent
from eukhe.errors import Bug, IndexFailed, StoreError
from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.part import Part
from eukhe.model.record import (
    BatchRecord,
    MainRecord,
    MessageRecord,
    NodeRecord,
    TreeRecord,
    encode,
    node,
)
from eukhe.model.saved_view import VIEW_FILE, encode_view

STORE, INDEX, PLANNER = "store", "index", "planner"


class StoreStart(msgspec.Struct, frozen=True):
    """Where the store goes on. Whoever opened the chat has read this from the disk, ended torn lines, and synced both
    newest files: a line that an earlier owner wrote and did not sync counts as logged here.

    `next_id`: the next message's. `main`, `tree`: the newest day file, its bytes, its last line's CRC-32; as they are
    where there is none. `closed`: why nothing may be written, None where it may.
    """

    next_id: int = 0
    main: Position = Position()
    tree: Position = Position()
    closed: str | None = None


class Store:
    """The behaviour. `index` and `reader` see what the index has committed."""

    def __init__(self, start: StoreStart, clock: Clock, index: Index, reader: Reader) -> None:
        self._clock = clock
        self._recent = Recent(index, reader)
        self._intake = Intake(self._recent, start.next_id)
        self._closed = start.closed
        self._main = _Log("main", start.main)
        self._tree = _Log("tree", start.tree)
        self._flush_told = False
        # Waiting for the next flush's first step.
        self._appends: list[tuple[str, AppendDone]] = []  # who asked, what to answer
        self._messages: list[MessageRecord] = []
        self._images: dict[str, bytes] = {}
        self._syncs: list[Sync] = []
        # Its askers until its second step comes, and its syncs until the next flush.
        self._told: list[tuple[str, AppendDone]] = []
        self._syncing: list[Sync] = []
        # Waiting for its second step.
        self._lines: list[NodeRecord | BatchRecord] = []
        self._order = 0  # the planner's last
        self._view: tuple[Part, ...] | None = None
        self._checkpoint: _Checkpoint | None = None

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case Append():
                return self._append(message)
            case Flush():
                return self._flush()
            case FlushTree():
                return self._flush_tree()
            case IndexCommitted(feeds):
                self._recent.forget(feeds)
                return ()
            case WriteTree() | SaveView() | SaveCheckpoint() if self._closed is not None:
                return ()  # the planner was told
            case WriteTree(lines, order):
                self._order = order
                return self._write_tree(lines)
            case SaveView(lines):
                self._view = lines
                return self._wake()
            case SaveCheckpoint():
                self._checkpoint = _Checkpoint(message, len(self._lines))
                return self._wake()
            case Sync():
                self._syncs.append(message)
                return self._wake()
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Failed(why):
                return self._fail(why)
        raise Bug(f"the store does not know {message}")

    # --- taking in ---

    def _append(self, order: Append) -> Sequence[Effect]:
        if self._closed is not None:
            return [Tell(order.reply_to, AppendFailed(order.ticket, self._closed))]
        for entry in order.entries:
            if why := refusal(entry):
                return [Tell(order.reply_to, AppendFailed(order.ticket, why))]
        now = self._clock.local().isoformat(timespec="seconds")
        answers = []
        try:
            for entry in order.entries:
                answer, records, images = self._intake.take(entry, now)
                answers.append(answer)
                self._messages += records
                self._images.update(images)
        except (StoreError, IndexFailed) as error:
            # Whether an entry's key is there already can't be known. Ids are given, so there is no way back.
            return [Tell(order.reply_to, AppendFailed(order.ticket, str(error))), *self._misled(error)]
        self._appends.append((order.reply_to, AppendDone(order.ticket, tuple(answers))))
        return self._wake()

    def _write_tree(self, lines: Sequence[FreeNode | NodeRecord | BatchRecord]) -> Sequence[Effect]:
        for line in lines:
            if isinstance(line, BatchRecord):
                self._lines.append(line)
                continue
            try:
                record = node(line.part, self._recent.source(line.part)) if isinstance(line, FreeNode) else line
            except (StoreError, IndexFailed) as error:
                return self._misled(error)
            assert 1 <= record.size <= NODE_BYTES_MAX, f"{record.part.name} has {record.size} bytes"
            self._recent.add_node(record)
            self._lines.append(record)
        return self._wake()

    def _wake(self) -> Sequence[Effect]:
        if self._flush_told:
            return ()
        self._flush_told = True
        return [Tell(STORE, Flush())]

    # --- writing ---

    def _flush(self) -> Sequence[Effect]:
        """The first step; where no append waits there is none, and the second follows at once."""
        assert not self._told, "a flush before the one before it has ended"
        self._flush_told = False
        self._syncing, self._syncs = self._syncs, []
        if not self._appends:
            return self._flush_tree()
        self._told, self._appends = self._appends, []
        messages, self._messages = self._messages, []
        images, self._images = self._images, {}
        effects: list[Effect] = [Replace(f"images/{name}", data, sync=True) for name, data in images.items()]
        acknowledge = [Tell(to, done) for to, done in self._told]
        if messages:
            persist, rows = self._main.write(messages, self._today())
            # The index before the planner: what the planner orders makes others ask the index for these records.
            effects += (persist, *acknowledge, Tell(INDEX, self._recent.feed(rows)))
            effects.append(Tell(PLANNER, Logged(messages[0].i, tuple([message.size for message in messages]))))
        else:
            effects += acknowledge
        effects.append(Tell(STORE, FlushTree()))
        return effects

    def _flush_tree(self) -> Sequence[Effect]:
        """The second step."""
        self._told = []
        effects: list[Effect] = []
        lines, self._lines = self._lines, []
        checkpoint, self._checkpoint = self._checkpoint, None
        position = self._tree.end
        batch = False
        if lines:
            persist, rows = self._tree.write(lines, self._today())
            nodes = tuple([line.part for line in lines if isinstance(line, NodeRecord)])
            # The index before the planner, as above.
            effects += (persist, Tell(INDEX, self._recent.feed(rows)))
            effects.append(Tell(PLANNER, Written(nodes, self._order)))
            if checkpoint is not None and checkpoint.lines_before:
                position = _end(rows[checkpoint.lines_before - 1])
            batch = len(nodes) < len(lines)
        if self._view is not None and (batch or self._syncing or not self._appends):
            effects.append(Replace(VIEW_FILE, encode_view(self._view), sync=False))
            self._view = None
        if checkpoint is not None:
            order = checkpoint.order
            effects.append(
                Tell(INDEX, FeedCheckpoint(order.state, order.t, position.path, position.offset, position.crc))
            )
        effects += [Tell(sync.reply_to, Synced(sync.ticket)) for sync in self._syncing]
        return effects

    def _today(self) -> str:
        return self._clock.local().date().isoformat()

    def _misled(self, error: StoreError | IndexFailed) -> Sequence[Effect]:
        """What is to be written can't be known. Where that is the index's fault, it is told: else the next owner, too,
        would be led astray."""
        astray = [Tell(INDEX, IndexAstray(str(error)))] if isinstance(error, IndexFailed) else []
        return [*astray, *self._fail(str(error))]

    def _fail(self, why: str) -> Sequence[Effect]:
        """Poisoned: no one waits in vain, and nothing is tried again."""
        if self._closed is not None:
            return ()
        self._closed = why
        unanswered = [*self._told, *self._appends]
        syncs = [*self._syncing, *self._syncs]
        self._told, self._appends, self._syncing, self._syncs = [], [], [], []
        self._messages, self._images, self._lines = [], {}, []
        self._view = self._checkpoint = None
        return [
            *(Tell(to, AppendFailed(done.ticket, why)) for to, done in unanswered),
            Tell(PLANNER, Poisoned(why)),
            # There is no more to wait for: what was not written never will be.
            *(Tell(sync.reply_to, Synced(sync.ticket)) for sync in syncs),
        ]


class _Checkpoint(NamedTuple):
    """A checkpoint that waits, and how many of the waiting lines were ordered before it."""

    order: SaveCheckpoint
    lines_before: int


class _Log:
    """A folder of day files, its end, and what is written there next."""

    def __init__(self, folder: str, end: Position) -> None:
        self._folder = folder
        self.end = end

    def write(self, records: Sequence[MainRecord | TreeRecord], today: str) -> tuple[Persist, tuple[Placed, ...]]:
        """One write of all records, and where each will lie. `today` is the local day."""
        path, offset = self.end.path, self.end.offset
        # A clock that went back does not take the log back: its files are in the order of their names.
        if (newer := f"{self._folder}/{today}.jsonl") > path:
            path, offset = newer, 0
        lines = [encode(record) for record in records]
        rows = []
        for record, line in zip(records, lines, strict=True):
            rows.append(Placed(record, Place(path, offset, len(line))))
            offset += len(line)
        self.end = Position(path, offset, zlib.crc32(lines[-1]))
        return Persist(path, b"".join(lines)), tuple(rows)


def _end(row: Placed) -> Position:
    """The position right after a line."""
    place = row.place
    return Position(place.path, place.offset + place.length, zlib.crc32(encode(row.record)))
