"""Messages about what calls cost: whoever makes a paid call tells the ledger, before it is sent and as it goes.

A call is named by `call`, given to no other for ever, so that what is told twice counts once. `reply_to` may be empty:
then no answer is wanted.
"""

from eukhe.actors.messages.base import Msg
from eukhe.model.talk import Usage


class CallSent(Msg, frozen=True):
    """A call is about to be sent: answer `Counted` when that is on disk, and it may be.

    `role`: `turn`, `agent` or `compaction`. `batch`: a number that changes when the view's beginning does, as by a
    batch; `blocks`: of the request, up to its last mark; `first`: it is a turn's, or a subagent's, first one. From
    these it is told why a prefix was not read.
    """

    call: str
    role: str
    model: str
    batch: int
    blocks: int
    reply_to: str
    ticket: int
    first: bool = False


class CallResponded(Msg, frozen=True):
    """Its response began. `usage`: what that has cost, as its provider says."""

    call: str
    usage: Usage
    reply_to: str = ""
    ticket: int = 0


class CallOver(Msg, frozen=True):
    """It has ended. `usage`: in all, None where its provider did not say; `why`: what it failed of, if it did."""

    call: str
    usage: Usage | None
    why: str = ""
    reply_to: str = ""
    ticket: int = 0


class Counted(Msg, frozen=True):
    """It is on disk."""

    ticket: int


class AskBudget(Msg, frozen=True):
    """The planner to the ledger, once it is up: from now on say what may be spent."""


class Budget(Msg, frozen=True):
    """The ledger to the planner: lines may be ordered of a paid model; or may not any more, as `why` says.

    `held`: the compactors whose call was to be sent and must not be. They wait for a `Counted` that does not come.
    """

    why: str | None
    held: tuple[str, ...] = ()


class Uncounted(Msg, frozen=True):
    """The ledger to the planner: calls are no longer written down, as `why` says."""

    why: str


class DayDue(Msg, frozen=True):
    """The ledger to itself: another day may have begun, with its own budget."""
