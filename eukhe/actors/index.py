"""The index actor: the one writer of chat/index.db. It learns of records when they are on disk, and reads for others.

The index is a cache. When it can't be written, on a full disk, that is said once and the chat goes on: what it was to
take in is found by its place, kept in memory, and the next start feeds it from the logs.

When it does not lead to what a line is to be made of, no line is made: it is emptied, to be fed anew by the next
start, and the planner is poisoned. A text made up in its stead would stay in the log for ever.

Whoever looks into the memory finds what was acknowledged before: the store tells of records only after it has
acknowledged them, so a look waits until the store has done what it was about.
"""

import zlib
from collections.abc import Sequence
from itertools import count
from typing import Final, TypeVar

import msgspec

from eukhe.actors.archive import Archive
from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, Tell
from eukhe.actors.look import Looks, Sight
from eukhe.actors.messages import (
    At,
    CommitIndex,
    Failed,
    Feed,
    FeedCheckpoint,
    IndexAstray,
    IndexCommitted,
    IndexLost,
    Look,
    Msg,
    Ping,
    Poisoned,
    Pong,
    ReadSource,
    ReadView,
    Search,
    Seen,
    Source,
    Sync,
    Synced,
    ViewTexts,
    WaitFailed,
)
from eukhe.actors.ports import Checkpoint, Clock, Disk, Index, Placed, Position
from eukhe.errors import Bug, IndexFailed, NotFoundError, StoreError
from eukhe.limits import INDEX_COMMIT_ROWS, INDEX_COMMIT_S
from eukhe.model.part import Part
from eukhe.model.render import deadline_texts
from eukhe.model.verify import INDEX_FILE

T = TypeVar("T")
NAME = "index"
_TIMER = "commit"
_STORE: Final = "store"
PARTIAL: Final = "(The index can't be written: what was logged since is not among these.)"
"""The last line of a search, where it is so."""


class IndexActor:
    """The behaviour. `index` is its own; others see what it commits."""

    def __init__(self, disk: Disk, index: Index, clock: Clock) -> None:
        self._disk = disk
        self._index = index
        self._archive = Archive(disk, index)
        self._feeds = 0
        self._uncommitted: list[Placed] = []
        self._lost = False
        self._emptied: str | None = None  # why it was
        self._looks = Looks(disk, index, self._archive, lambda: clock.local().astimezone(clock.zone()))
        self._looking: dict[int, Look] = {}
        self._numbers = count(1)

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case Feed(rows):
                return self._feed(rows)
            case FeedCheckpoint():
                return self._commit(message)
            case CommitIndex():
                return self._commit()
            case ReadSource():
                return self._read(message)
            case ReadView():
                return self._read_view(message)
            case Look():
                number = next(self._numbers)
                self._looking[number] = message
                return [Tell(_STORE, Ping(NAME, number))]
            case Pong(number) if number in self._looking:
                return self._look(self._looking.pop(number))
            case Sync(reply_to, ticket):
                return [*self._commit(), Tell(reply_to, Synced(ticket))]
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case IndexAstray(why):
                return self._empty(why)
            case Failed(why):
                return [Tell("planner", Poisoned(why))]
        raise Bug(f"the index does not know {message}")

    def _feed(self, rows: tuple[Placed, ...]) -> Sequence[Effect]:
        self._feeds += 1
        if self._lost:
            self._archive.add(rows)
            return ()
        waited = bool(self._uncommitted)
        self._uncommitted += rows
        try:
            self._index.feed(rows)
        except IndexFailed as error:
            return self._lose(error)
        if len(self._uncommitted) >= INDEX_COMMIT_ROWS:
            return self._commit()
        return () if waited else [SetTimer(_TIMER, INDEX_COMMIT_S, CommitIndex())]

    def _commit(self, order: FeedCheckpoint | None = None) -> Sequence[Effect]:
        if self._lost or (order is None and not self._uncommitted):
            return ()
        try:
            self._index.commit(None if order is None else self._checkpoint(order))
        except IndexFailed as error:
            return self._lose(error)
        self._uncommitted.clear()
        return [CancelTimer(_TIMER), Tell("store", IndexCommitted(self._feeds))]

    def _checkpoint(self, order: FeedCheckpoint) -> Checkpoint | None:
        """Main is read up to the end of the last message that the state has; what follows it is read again."""
        main = Position()
        if order.t:
            place = self._index.message_place(order.t - 1)
            if place is None:
                return None  # a gap that the user has not accepted: to be met again at the next start
            line = self._disk.read(place.path, place.offset, place.length)
            main = Position(place.path, place.offset + place.length, zlib.crc32(line))
        return Checkpoint(order.state, main, Position(order.tree_path, order.tree_offset, order.tree_crc))

    def _lose(self, error: IndexFailed) -> Sequence[Effect]:
        self._lost = True
        self._archive.add(self._uncommitted)
        self._uncommitted.clear()
        return [CancelTimer(_TIMER), Tell("planner", IndexLost(str(error)))]

    def _read(self, order: ReadSource) -> Sequence[Effect]:
        try:
            texts = _there(order.part, self._archive.source(order.part))
        except IndexFailed as error:
            return self._empty(str(error))
        return [Tell(order.reply_to, Source(order.call, texts))]

    def _read_view(self, order: ReadView) -> Sequence[Effect]:
        """Every line of a view is on disk, and was fed before: the planner handed it out after that. D10, D14.

        Lines that are not there are the asker's trouble alone: a client may ask for anything. A wrong place is not.
        """
        unbuilt = set(order.unbuilt)
        archive = self._archive
        try:
            texts = deadline_texts(
                order.lines,
                lambda part: None if part in unbuilt else _asked(part, archive.node_text(part)),
                lambda part: "\n".join(_asked(part, archive.source(part))),
            )
        except NotFoundError as error:
            return [Tell(order.reply_to, WaitFailed(order.ticket, str(error)))]
        except IndexFailed as error:
            return [*self._empty(str(error)), Tell(order.reply_to, WaitFailed(order.ticket, str(error)))]
        return [Tell(order.reply_to, ViewTexts(order.ticket, tuple(texts[part] for part in order.lines)))]

    def _look(self, order: Look) -> Sequence[Effect]:
        """What can't be read now is the looker's trouble alone. A wrong place is not."""
        emptied: Sequence[Effect] = ()
        if self._emptied is not None:
            sight = Sight(self._emptied, found=False)
        else:
            try:
                sight = self._sight(order)
            except StoreError as error:
                sight = Sight(str(error), found=False)
            except IndexFailed as error:
                emptied = self._empty(str(error)) if error.bad else ()
                sight = Sight(str(error), found=False)
        return [*emptied, Tell(order.reply_to, Seen(order.ticket, sight.text, sight.images, sight.found))]

    def _sight(self, order: Look) -> Sight:
        sight = self._looks.look(order.what)
        if self._lost and isinstance(order.what, Search | At):
            return msgspec.structs.replace(sight, text=f"{sight.text}\n{PARTIAL}")
        return sight

    def _empty(self, why: str) -> Sequence[Effect]:
        """It leads astray: no line is made of it any more."""
        self._emptied = why
        self._lost = True  # before the next start: it holds nothing, and must not look as if it held all
        self._index.clear()
        return [Tell("planner", Poisoned(why))]


def _there(part: Part, found: T | None) -> T:
    if found is None:
        raise IndexFailed(INDEX_FILE, f"does not have what {part.name} is made of")
    return found


def _asked(part: Part, found: T | None) -> T:
    if found is None:
        raise NotFoundError(f"the chat does not have what {part.name} is made of")
    return found
