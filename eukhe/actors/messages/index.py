"""The index's messages."""

from eukhe.actors.messages.base import Msg
from eukhe.actors.ports import Placed
from eukhe.model.part import Part


class Feed(Msg, frozen=True):
    """Records that are on disk now."""

    rows: tuple[Placed, ...]


class IndexCommitted(Msg, frozen=True):
    """The index to the store: what the first `feeds` `Feed`s since the start brought is committed, seen by readers."""

    feeds: int


class FeedCheckpoint(Msg, frozen=True):
    """A checkpoint whose tree lines end with `tree_path` at `tree_offset`, whose messages are the first `t`."""

    state: bytes
    t: int
    tree_path: str
    tree_offset: int
    tree_crc: int


class CommitIndex(Msg, frozen=True):
    """The index to itself: what was fed has waited long enough."""


class IndexLost(Msg, frozen=True):
    """The index to the planner, once: it can't be written, as on a full disk. Logging goes on without it."""

    why: str


class IndexAstray(Msg, frozen=True):
    """The store to the index: it did not lead to what a line is made of, or to what a key stands for."""

    why: str


class ReadSource(Msg, frozen=True):
    """Read what a node is built from: its message's `kind: text`, or its halves' lines."""

    part: Part
    reply_to: str
    call: int


class Source(Msg, frozen=True):
    call: int
    texts: tuple[str, ...]


class ReadView(Msg, frozen=True):
    """Read the texts of a view that was taken. `unbuilt`: those of `lines` whose message is shown instead, cut."""

    lines: tuple[Part, ...]
    unbuilt: tuple[Part, ...]
    reply_to: str
    ticket: int


class ViewTexts(Msg, frozen=True):
    """A text for each line, in their order."""

    ticket: int
    texts: tuple[str, ...]
