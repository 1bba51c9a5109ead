"""The planner's messages."""

from eukhe.actors.messages.base import Msg
from eukhe.model.part import Part


class Tick(Msg, frozen=True):
    """The planner to itself: what failed may be tried again."""


class ViewDue(Msg, frozen=True):
    """The planner to itself: save the view, which has changed a while ago."""


class Resume(Msg, frozen=True):
    """Calls may start again after an outage: it has lasted long enough, or a key or a setting has `changed`."""

    changed: bool = False


class Wait(Msg, frozen=True):
    """A turn waits for its view: answer `ViewTaken` once every line of it is built.

    Until then only lines that the view needs are built (D5). The ticket names the wait.
    """

    reply_to: str
    ticket: int


class Attend(Msg, frozen=True):
    """Somebody is there, in an open chat, a turn, or to build the memory: calls that cost money may start.

    They may until this is cancelled, and after that for the messages that there are then.
    """

    reply_to: str
    ticket: int


class TakeView(Msg, frozen=True):
    """A wait has lasted as long as it may: answer it now, with the view as it is (D10)."""

    reply_to: str
    ticket: int


class ViewTaken(Msg, frozen=True):
    """A turn's view, pinned: its lines, oldest first, and those of them that are not built.

    `t`: the messages it covers. Everything it stands on is on disk. `paused`: the outage that ended the wait (D13).
    `batch`: how often the view was merged since the owner started, or anything else that changes then; `marked`: behind
    so many of its first lines stood the mark of the view handed out before, 0 where it is not the same up to there.
    """

    ticket: int
    t: int
    lines: tuple[Part, ...]
    unbuilt: tuple[Part, ...]
    paused: str | None
    batch: int = 0
    marked: int = 0


class WaitFailed(Msg, frozen=True):
    """There will be no view: the store is poisoned, and a batch can't be logged; or its texts can't be read."""

    ticket: int
    why: str


class Settle(Msg, frozen=True):
    """Answer when the first `t` messages are there and nothing is left to build that can be built now.

    `take`: then run the batch where one is due, as `memory build` does (D12). An outage settles it, too: nothing can
    be built.
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
    """How far the planner is: messages, nodes built, bytes of the view, its lines that are not built.

    `nodes_before`: how many nodes were built when the owner started; `calls`: model calls made since then.

    `running`: calls; `parked`: nodes whose call failed and that wait; `waiting`: turns. `idle`: nothing runs and
    nothing can start. `paused`: the outage that keeps calls from starting. `last_error`: what failed last.
    """

    ticket: int
    t: int
    nodes: int
    nodes_before: int
    view_bytes: int
    unsummarized: int
    running: int
    parked: int
    waiting: int
    calls: int
    idle: bool
    paused: str | None
    last_error: str | None
