"""Messages about the building of one line: planner, compactors, gate."""

from eukhe.actors.messages.base import Msg
from eukhe.actors.ports import CallEvent, Outage
from eukhe.model.part import Part


class StartBuild(Msg, frozen=True):
    """Build this node's line. `context`: the lines of the compaction view that its call sees, oldest first.

    `batch`: how often that view began anew; `marked`: so many of its first lines the last call's mark stood behind.
    """

    call: int
    part: Part
    context: tuple[Part, ...] = ()
    batch: int = 0
    marked: int = 0


class StopBuild(Msg, frozen=True):
    """A turn waits and does not need this: end it at once, which is no failure (D5). Nothing is answered."""

    call: int


class BuildDone(Msg, frozen=True):
    """The line, 1 to 512 bytes, and how many model calls it took."""

    call: int
    part: Part
    line: str
    calls: int


class BuildFailed(Msg, frozen=True):
    """The call failed, the last of `calls`. `fallback`: the node from its input, should this be a failure too many.

    `outage`: the trouble was the provider's and not the input's, so it counts as no failure (D13).
    """

    call: int
    part: Part
    why: str
    fallback: str
    calls: int
    outage: Outage | None = None


class CallHeard(Msg, frozen=True):
    """The host to a compactor: what is heard of its call."""

    call: int
    event: CallEvent


class Overdue(Msg, frozen=True):
    """A compactor's timer: the call has had its 10 minutes."""

    call: int


# --- the prefix gate ---


class EnterPrefix(Msg, frozen=True):
    """A call is ready to be sent: answer `PrefixOpen` when it may be. Rule 30.

    Calls are alike when `prefix` is the same. The asker and its ticket name the call at the gate.
    """

    prefix: str
    reply_to: str
    ticket: int


class PrefixOpen(Msg, frozen=True):
    """Send it."""

    ticket: int


class PrefixRead(Msg, frozen=True):
    """The response to a call began: its prefix is in the provider's cache."""

    reply_to: str
    ticket: int


class LeavePrefix(Msg, frozen=True):
    """A call has ended, in whatever way, or waits no longer."""

    reply_to: str
    ticket: int


class WriterLate(Msg, frozen=True):
    """The gate's timer: the writer of a prefix has had 120 s, and no response."""

    prefix: str
    reply_to: str
    ticket: int
