"""The store's messages."""

import msgspec

from eukhe.actors.messages.base import Msg
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, NodeRecord


class Entry(msgspec.Struct, frozen=True):
    """A text to be logged. `date` is RFC 3339 where the text is older than its logging; images are their bytes."""

    kind: str
    text: str
    date: str | None = None
    key: str | None = None
    images: tuple[bytes, ...] = ()


class Append(Msg, frozen=True):
    """Log these texts, in this order."""

    entries: tuple[Entry, ...]
    reply_to: str
    ticket: int


class Logging(msgspec.Struct, frozen=True):
    """Where an entry stands: its first id, into how many messages it was split, how many of these are new.

    `differs`: its key was there already, with another text, which stays.
    """

    first: int
    count: int
    new: int
    differs: bool = False


class AppendDone(Msg, frozen=True):
    """The entries are on disk."""

    ticket: int
    entries: tuple[Logging, ...]


class AppendFailed(Msg, frozen=True):
    """Nothing of it was acknowledged; `why` names file and errno."""

    ticket: int
    why: str


class FreeNode(msgspec.Struct, frozen=True, tag=True):
    """A node that is its own source; the store composes its text."""

    part: Part


class WriteTree(Msg, frozen=True):
    """The planner's lines for tree/, in this order. `order` counts these orders from 1."""

    lines: tuple[FreeNode | NodeRecord | BatchRecord, ...]
    order: int


class SaveView(Msg, frozen=True):
    """The view as it now is, for view.json."""

    lines: tuple[Part, ...]


class SaveCheckpoint(Msg, frozen=True):
    """The planner's state after the first `t` messages and all lines it has sent to be written."""

    state: bytes
    t: int


class Flush(Msg, frozen=True):
    """The store to itself: write what waits, messages first."""


class FlushTree(Msg, frozen=True):
    """The store to itself, after a flush's messages: they are on disk and acknowledged; write the rest that waits."""


class Poisoned(Msg, frozen=True):
    """The store can write no more; from now on it acknowledges nothing. `why` names file and errno."""

    why: str


class Logged(Msg, frozen=True):
    """To the planner: messages `first`, `first + 1`, … are on disk; the bytes of each `kind: text`."""

    first: int
    sizes: tuple[int, ...]


class Written(Msg, frozen=True):
    """To the planner: these nodes are on disk, as all lines of its `WriteTree`s up to `order`."""

    nodes: tuple[Part, ...]
    order: int
