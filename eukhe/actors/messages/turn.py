"""A client's messages: between its edge, where the user is, its turn, and its courier, who speaks with the owner.

The edge is told of a turn as it goes, by messages that want no answer but `MayI`.
"""

from eukhe.actors.messages.base import Msg
from eukhe.actors.ports import OwnerEvent, ToolEvent
from eukhe.model.talk import Usage


class OwnerHeard(Msg, frozen=True):
    """The host to the courier: what is heard of the chat's owner."""

    event: OwnerEvent


class OwnerIs(Msg, frozen=True):
    """The courier to the turn and the edge: there is an owner, `pid`; 0 and `why` where none can be had."""

    pid: int
    why: str = ""


class ToolHeard(Msg, frozen=True):
    """The host to a turn: what is heard of a tool."""

    call: int
    event: ToolEvent


class TurnDue(Msg, frozen=True):
    """A turn to itself: something has lasted as long as it may; each has a number."""

    number: int


# --- the edge to the turn ---


class Say(Msg, frozen=True):
    """The user says something: a new turn, or a word into the one that runs, between its tool calls. Rule 46."""

    text: str
    images: tuple[bytes, ...]


class StopTurn(Msg, frozen=True):
    """The user wants the turn to end now: what was said so far is kept, marked."""


class Permit(Msg, frozen=True):
    """The answer to `MayI`. `always`: also for all like it, in this chat."""

    call: int
    yes: bool
    always: bool = False


# --- the turn to the edge ---


class TurnWaits(Msg, frozen=True):
    """The turn waits for its view: so many lines are unbuilt, so many calls run. `limit_s`: how long it waits at most.

    `why`: what else it waits for, as an owner that does not answer; empty for the view alone.
    """

    unbuilt: int
    running: int
    limit_s: float
    why: str = ""


class TurnBegan(Msg, frozen=True):
    """The view is pinned, of `t` messages and so many lines; `placeholders`: those that show their message, cut.

    `paused`: the outage that ended the wait (D13). `waited_s`: for the view.
    """

    t: int
    lines: int
    placeholders: int
    waited_s: float
    paused: str | None


class TurnSaid(Msg, frozen=True):
    """The model says something. `kind`: `text`, `thought` or `use`, as in `Delta`. `agent`: the subagent; "" none."""

    kind: str
    text: str
    agent: str = ""


class ToolBegan(Msg, frozen=True):
    """A tool runs, or is about to, if it may."""

    call: int
    name: str
    input: str
    agent: str = ""


class MayI(Msg, frozen=True):
    """May this tool run? `shown`: the command, or the change as a diff.

    `rule`: what is allowed from now on where the answer is "always"; empty where no rule says just that.
    """

    call: int
    name: str
    shown: str
    agent: str = ""
    rule: str = ""


class ToolPrinted(Msg, frozen=True):
    """What a tool prints, as it comes."""

    call: int
    text: str


class ToolOver(Msg, frozen=True):
    """A tool has ended."""

    call: int
    text: str
    failed: bool


class TurnLogged(Msg, frozen=True):
    """A text of the turn is on disk: its kind, its first message and how many they are."""

    kind: str
    first: int
    count: int


class TurnRetries(Msg, frozen=True):
    """A call of the turn failed, and is sent again after so many seconds."""

    why: str
    after_s: float
    agent: str = ""


class AgentBegan(Msg, frozen=True):
    name: str
    task: str


class AgentOver(Msg, frozen=True):
    """A subagent is done: its report has been logged as message `id`."""

    name: str
    report: str
    id: int


class TurnOver(Msg, frozen=True):
    """The turn has ended. `reply`: the final one. `ids`: the messages logged. `why`: what it failed of, if it did.

    `stopped`: the user stopped it. `waited_ms`: for its view. `usage`: of all its calls, subagents' not counted.
    `usd`: what they cost, None where the model's price is not known.
    """

    reply: str
    ids: tuple[int, ...]
    model: str
    usage: Usage
    usd: float | None
    waited_ms: int
    placeholders: int
    stopped: bool = False
    why: str = ""
