"""Every message between actors. Frozen, tuples inside, the same in a mailbox, in a pipe and on a socket.

An order is named by what is wanted, its end by what became of it: `Append`, then `AppendDone` or `AppendFailed`.
A `ticket` is the asker's own number, handed back in the answer to `reply_to`.
"""

import msgspec

from eukhe.actors.ports import Placed
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, NodeRecord


class Msg(msgspec.Struct, frozen=True, tag=True):
    """A message."""


# --- the store ---


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
    """The planner's lines for tree/, in this order."""

    lines: tuple[FreeNode | NodeRecord | BatchRecord, ...]


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


class Failed(Msg, frozen=True):
    """The host to a behaviour: an effect failed, the rest of its list was dropped."""

    why: str


class Poisoned(Msg, frozen=True):
    """The store can write no more; from now on it acknowledges nothing. `why` names file and errno."""

    why: str


class Logged(Msg, frozen=True):
    """To the planner: messages `first`, `first + 1`, … are on disk; the bytes of each `kind: text`."""

    first: int
    sizes: tuple[int, ...]


class Written(Msg, frozen=True):
    """To the planner: these nodes of its `WriteTree`s are on disk, and the batch lines among them."""

    nodes: tuple[Part, ...]


# --- the index ---


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


class ReadSource(Msg, frozen=True):
    """Read what a node is built from: its message's `kind: text`, or its halves' lines."""

    part: Part
    reply_to: str
    call: int


class Source(Msg, frozen=True):
    call: int
    texts: tuple[str, ...]


class Sync(Msg, frozen=True):
    """Answer once all before it is done; of the index: and committed."""

    reply_to: str
    ticket: int


class Synced(Msg, frozen=True):
    ticket: int


# --- planner and compactors ---


class StartBuild(Msg, frozen=True):
    """Build this node's line."""

    call: int
    part: Part


class BuildDone(Msg, frozen=True):
    """The line, 1 to 512 bytes, and how many model calls it took."""

    call: int
    part: Part
    line: str
    calls: int


class BuildFailed(Msg, frozen=True):
    """The call failed, the last of `calls`. `fallback`: the node from its input, should this be a failure too many."""

    call: int
    part: Part
    why: str
    fallback: str
    calls: int


class CallEnded(Msg, frozen=True):
    """The host to a compactor: a call's reply, or why there is none."""

    call: int
    reply: str | None
    why: str


class Overdue(Msg, frozen=True):
    """A compactor's timer: the call has had its 10 minutes."""

    call: int


class Tick(Msg, frozen=True):
    """The planner to itself: what failed may be tried again."""


class ViewDue(Msg, frozen=True):
    """The planner to itself: save the view, which has changed a while ago."""


class Settle(Msg, frozen=True):
    """Answer when the first `t` messages are there and nothing is left to build that can be built now.

    `take`: then run the batch where one is due, as `memory build` does (D12).
    """

    reply_to: str
    ticket: int
    t: int
    take: bool


class Settled(Msg, frozen=True):
    """`calls`: model calls made since the start. `left`: view lines still unbuilt."""

    ticket: int
    calls: int
    left: int


class SettleFailed(Msg, frozen=True):
    """It will not settle: the store is poisoned."""

    ticket: int
    why: str


class AskStatus(Msg, frozen=True):
    reply_to: str
    ticket: int


class Status(Msg, frozen=True):
    """How far the planner is: nodes built, bytes of the view, its lines that are not built; what failed last."""

    ticket: int
    nodes: int
    view_bytes: int
    unsummarized: int
    last_error: str | None


# --- the supervisor ---


class Ping(Msg, frozen=True):
    """Are you up?"""

    reply_to: str
    ticket: int


class Pong(Msg, frozen=True):
    ticket: int


class Crashed(Msg, frozen=True):
    """A behaviour raised: `who`, and what it said."""

    who: str
    why: str


class Begin(Msg, frozen=True):
    """Start every actor."""

    reply_to: str
    ticket: int


class Begun(Msg, frozen=True):
    ticket: int


class End(Msg, frozen=True):
    """Let every actor finish, and stop it."""

    reply_to: str
    ticket: int


class Ended(Msg, frozen=True):
    """All are stopped. `why`: what crashed, if anything did."""

    ticket: int
    why: str | None


class OwnerFailed(Msg, frozen=True):
    """To the edge: an actor crashed, the system goes down."""

    why: str
