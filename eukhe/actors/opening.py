"""Opening a chat: the logs are read once, into the chat's state and the index. Through ports alone.

What the index's checkpoint has is not read again, provided that the logs still end there as they did: each position
carries a checksum of the line before it. Else the index is emptied and all is read from the beginning.

An owner then leaves the logs so that the next line stands by itself and no record means anything new later: torn
lines are ended, nodes past the last message voided, a view.json without batch lines taken over as one. Who is not the
owner changes no log.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from eukhe.actors.archive import Archive
from eukhe.actors.log_files import LogFiles
from eukhe.actors.ports import Checkpoint, Disk, Index, Place, Placed, Position
from eukhe.actors.store import StoreStart
from eukhe.errors import GapInLog, IndexFailed, StoreError
from eukhe.limits import INDEX_FEED_ROWS, INDEX_OPEN_COMMIT_ROWS, LOST_BYTES, PROBLEMS_MAX, VOID_NODES
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.fold import Folded, Merges, NodeSize, checkpoint, fold, messages_in
from eukhe.model.part import Part
from eukhe.model.record import (
    BatchRecord,
    GapRecord,
    MainRecord,
    MessageRecord,
    NodeRecord,
    TreeRecord,
    VoidRecord,
    encode,
)
from eukhe.model.saved_view import VIEW_FILE, SavedView, compare_view, encode_view, read_view
from eukhe.model.scan import (
    GAP_MARK,
    LF,
    VOID_MARK,
    Found,
    Jump,
    Line,
    MainScan,
    Problem,
    accepted,
    gaps_in,
    missing,
    scan_tree,
)

Progress = Callable[[int, int], None]
"""Called with bytes read, and bytes to read in all."""


class Opened(NamedTuple):
    """An open chat. `free`: nodes that need no model and that a crash kept from being logged.

    `start`: where the store goes on. `problems`: what is wrong in the files, the first hundred; `more`: how many there
    are beyond. `damage`: why nothing may be written, None where it may. `rebuilt`: the index was made anew.
    """

    chat: Chat
    free: tuple[Part, ...]
    start: StoreStart
    problems: tuple[Problem, ...]
    more: int
    damage: GapInLog | None
    rebuilt: bool


def open_chat(
    disk: Disk,
    index: Index,
    limits: ChatLimits | None = None,
    *,
    owner: bool,
    alone: bool = True,
    accept_gap: bool = False,
    progress: Progress | None = None,
) -> Opened:
    """Reads the chat and brings the index up to date.

    `owner`: this process holds the lock, and may mend the logs. `alone`: no other one writes meanwhile, so view.json
    must agree with the logs. `accept_gap`: the user gives up ids that are missing. StoreError where a file can't be
    read or written, IndexFailed where the index can't be made.
    """
    try:
        return _Opening(disk, index, limits, owner, alone, accept_gap, progress).open()
    except IndexFailed:
        index.clear()
        return _Opening(disk, index, limits, owner, alone, accept_gap, progress).open()


def saved_view(disk: Disk) -> SavedView:
    """view.json. It is not the truth, so one that can't be read is as good as none."""
    try:
        return SavedView(None) if disk.length(VIEW_FILE) is None else SavedView(disk.read(VIEW_FILE))
    except StoreError as error:
        return SavedView(None, f"can't be read: {error.reason}")


class _Opening:
    """One reading of the logs. `t`: messages read so far."""

    def __init__(
        self,
        disk: Disk,
        index: Index,
        limits: ChatLimits | None,
        owner: bool,
        alone: bool,
        accept_gap: bool,
        progress: Progress | None,
    ) -> None:
        self.disk = disk
        self.index = index
        self.limits = limits
        self.owner = owner
        self.alone = alone
        self.accept_gap = accept_gap
        self.progress = progress
        self.tree = LogFiles(disk, "tree")  # before main: see there
        self.main = LogFiles(disk, "main")
        self.bytes_read = self.bytes_ahead = 0
        self.t = 0
        self.rows: list[Placed] = []
        self.rows_uncommitted = 0
        self.problems: list[Problem] = [*self.main.stray_problems(), *self.tree.stray_problems()]
        self.more = 0
        self.voids: dict[Part, tuple[str, int]] = {}  # where the last line stands that voids a node
        self.past: list[Part] = []
        self.batches = 0
        self.gaps: list[GapRecord] | None = None  # looked for when an id jumps
        self.jumps: list[Jump] = []  # that no one has accepted

    def open(self) -> Opened:
        state = self._begin()
        self.voids = dict(self._find_voids())
        folded = fold(state, self._messages(), self._tree_records(), self.limits)
        chat = folded.chat
        self._say_of_fold(folded)
        past = sorted({part for part in self.past if part.end > chat.t})
        taken_over = None
        if state is None and not self.batches:
            chat, taken_over = self._take_over(chat)
        damage = self._damage()
        if self.owner and damage is None:
            self._mend(past, taken_over)
        self._feed()
        if self.alone:
            self._compare_view(chat, mend=self.owner and damage is None)
        # A checkpoint says that all before it is done with; what only an owner can settle, the next one must meet.
        settled = self.owner or not (past or taken_over or self.main.unended or self.tree.unended)
        whole = settled and damage is None and not folded.free
        if state is None or self.bytes_ahead:  # else the one that is there says it all, and looking writes nothing
            self.index.commit(Checkpoint(checkpoint(chat), self.main.end, self.tree.end) if whole else None)
        start = StoreStart(chat.t, self.main.end, self.tree.end, None if damage is None else str(damage))
        return Opened(
            chat, folded.free, start, tuple(self.problems), self.more, damage, state is None and self.bytes_ahead > 0
        )

    # --- where to begin ---

    def _begin(self) -> bytes | None:
        """The state to go on from, with both logs set to begin after it."""
        noted = self.index.checkpoint()
        t = None if noted is None else self._messages_in(noted)
        if noted is not None and t is not None:
            self.t = t
            self.bytes_ahead = self.main.begin(noted.main) + self.tree.begin(noted.tree)
            return noted.state
        if noted is not None or any(self.index.counts()):
            self.index.clear()
        self.bytes_ahead = self.main.begin(Position()) + self.tree.begin(Position())
        return None

    def _messages_in(self, noted: Checkpoint) -> int | None:
        """How many messages a checkpoint has; None where it does not fit the logs."""
        if not (self.main.fits(noted.main) and self.tree.fits(noted.tree)):
            return None
        indexed, _ = self.index.counts()
        try:
            # What the index took in after the checkpoint must be in the logs too: its last message, then, stands there.
            if indexed and Archive(self.disk, self.index).source(Part(0, indexed - 1)) is None:
                return None
            return messages_in(noted.state)
        except (IndexFailed, StoreError, ValueError):
            return None

    # --- main ---

    def _messages(self) -> Iterator[int]:
        """The size of each message in order of ids."""
        scan = MainScan(self.t)
        for path, of in self.main.read(self._took):
            for found in scan.file(path, of):
                match found:
                    case Problem():
                        self._say(found, self.main)
                    case Jump(before=before, after=after):
                        self._jump(found)
                        yield from self._lost(after - before - 1)
                    case Found(record=GapRecord()):
                        self._row(found)
                        yield from self._lost(scan.next_id - self.t)
                    case Found(record=MessageRecord(size=size)):
                        self._row(found)
                        self.t += 1
                        yield size

    def _lost(self, count: int) -> Iterator[int]:
        for _ in range(count):
            self.t += 1
            yield LOST_BYTES

    def _jump(self, jump: Jump) -> None:
        if self.gaps is None:
            self.gaps = list(gaps_in(self.main.lines_with(GAP_MARK), self.t))
        if not accepted(jump, self.gaps):
            self.jumps.append(jump)

    def _damage(self) -> GapInLog | None:
        """Why nothing may be written; None also where the user has just given up the ids that are missing."""
        for jump in self.jumps:
            self._say(Problem(jump.file, jump.line, jump.offset, missing(jump)), self.main)
        if not self.jumps or (self.owner and self.accept_gap):
            return None
        file, line, offset, before, after = msgspec.structs.astuple(self.jumps[0])
        return GapInLog(file, self.main.number(file, line), offset, before, after)

    # --- tree ---

    def _tree_records(self) -> Iterator[NodeSize | Merges]:
        for found in self._valid(self.tree.read(self._took), lambda problem: self._say(problem, self.tree)):
            match found.record:
                case NodeRecord(part, _, size):
                    self._row(found)
                    yield NodeSize(part, size)
                    if part.end > self.t:  # the fold has asked for all messages up to its end, and there are none
                        self.past.append(part)
                case BatchRecord(merge, open_, t):
                    self.batches += 1
                    yield Merges(merge, open_, t)
                case VoidRecord():
                    self._row(found)

    def _valid(
        self, files: Iterable[tuple[str, Iterable[Line]]], say: Callable[[Problem], None]
    ) -> Iterator[Found[TreeRecord]]:
        """The tree's records, without nodes and merges that a later line voids."""
        for path, of in files:
            for found in scan_tree(path, of):
                if isinstance(found, Problem):
                    say(found)
                    continue
                match found.record:
                    case NodeRecord(part) if self._voided(part, found):
                        continue
                    case BatchRecord(merge, open_, t) if self.voids:
                        kept = tuple(part for part in merge if not self._voided(part, found))
                        yield found._replace(record=BatchRecord(kept, open_, t))
                    case _:
                        yield found

    def _voided(self, part: Part, found: Found[TreeRecord]) -> bool:
        return part in self.voids and (found.file, found.offset) < self.voids[part]

    def _find_voids(self) -> Iterator[tuple[Part, tuple[str, int]]]:
        for path, line in self.tree.lines_with(VOID_MARK):
            for found in scan_tree(path, (line,)):
                if isinstance(found, Found) and isinstance(found.record, VoidRecord):
                    for part in found.record.void:
                        yield part, (path, found.offset)

    # --- mending, the owner's alone ---

    def _mend(self, past: Sequence[Part], taken_over: BatchRecord | None) -> None:
        """Leaves both logs ended, synced, and meaning what they were read as."""
        for log in (self.main, self.tree):
            for path in log.unended:
                self.disk.append(path, LF)
        for jump in self.jumps:
            self._append(self.main, GapRecord(jump.before + 1, jump.after))
        for at in range(0, len(past), VOID_NODES):
            self._append(self.tree, VoidRecord(tuple(past[at : at + VOID_NODES])))
        if taken_over is not None:
            self._append(self.tree, taken_over)
        for log in (self.main, self.tree):
            if log.end.path:
                self.disk.append(log.end.path, b"")  # an earlier owner may have written its last lines without a sync

    def _append(self, log: LogFiles, record: MainRecord | TreeRecord) -> None:
        path = log.end.path or self.main.end.path.replace("main/", "tree/", 1)
        offset = log.end.offset if path == log.end.path else 0
        line = encode(record)
        self.disk.append(path, line)
        self.rows.append(Placed(record, Place(path, offset, len(line))))
        log.end = Position(path, offset + len(line), zlib.crc32(line))

    def _take_over(self, chat: Chat) -> tuple[Chat, BatchRecord | None]:
        """The view that another program saved, as one batch. Only of a chat that never had one."""
        saved = read_view(saved_view(self.disk).data or b"")
        if not saved or saved[-1].end > chat.t:
            return chat, None
        merges = tuple(part for part in saved if part.level)
        merged = fold(checkpoint(chat), (), (Merges(merges, False, chat.t),), self.limits).chat
        taken = tuple(part for part in merges if merged.view.has(*part))
        return (merged, BatchRecord(taken, False, chat.t)) if taken else (chat, None)

    # --- the index, and what is said ---

    def _row(self, found: Found[MainRecord] | Found[TreeRecord]) -> None:
        self.rows.append(Placed(found.record, Place(found.file, found.offset, found.length)))
        if len(self.rows) >= INDEX_FEED_ROWS:
            self._feed()
            if self.rows_uncommitted >= INDEX_OPEN_COMMIT_ROWS:
                self.index.commit()
                self.rows_uncommitted = 0

    def _feed(self) -> None:
        self.index.feed(self.rows)
        self.rows_uncommitted += len(self.rows)
        self.rows.clear()

    def _took(self, length: int) -> None:
        self.bytes_read += length
        if self.progress is not None:
            self.progress(self.bytes_read, self.bytes_ahead)

    def _say(self, problem: Problem, log: LogFiles) -> None:
        if len(self.problems) == PROBLEMS_MAX:
            self.more += 1
            return
        line = log.number(problem.file, problem.line)
        self.problems.append(msgspec.structs.replace(problem, line=line))

    def _say_of_fold(self, folded: Folded) -> None:
        """Where the records stand that the fold did not take: they are looked for anew, as there are few."""
        wrong: dict[int, list[str]] = {}
        for place, words in folded.problems:
            wrong.setdefault(place, []).append(words)
        if not wrong:
            return
        records = (
            found
            for found in self._valid(self.tree.read(lambda _: None), lambda _: None)
            if not isinstance(found.record, VoidRecord)
        )
        for place, found in enumerate(records):
            for words in wrong.get(place, ()):
                # A merge that is left out is the trace of a line that is gone; a line too many takes nothing away.
                harmless = isinstance(found.record, NodeRecord)
                self._say(Problem(found.file, found.line, found.offset, words, harmless), self.tree)

    def _compare_view(self, chat: Chat, *, mend: bool) -> None:
        parts = chat.view.parts()
        wrong = compare_view(saved_view(self.disk), parts)
        if wrong is None:
            return
        what, harmless = wrong
        self.problems.insert(0, Problem(VIEW_FILE, 1, 0, what, harmless))  # it says most where a log is gone
        if mend:  # else every opening would say it again
            self.disk.replace(VIEW_FILE, encode_view(parts), sync=False)
