"""A compactor: one call at a time, for one line.

It reads what the node is built from, waits at the prefix gate where calls share a prefix, asks the model until the
line fits (model.line), and hands it to the planner. There are eight; their mailboxes are the cap on calls, so an order
to a busy one is a bug. Rules 30, 32, 34 to 39, D9.

    StartBuild -> ReadSource -> Source -> call, and of a model that costs nothing that is all
    … Source -> ReadView -> ViewTexts -> EnterPrefix -> PrefixOpen -> CallSent -> Counted -> call    a paid model's
    … ends too long -> EnterPrefix -> …                                                              its follow-up

Whatever it waits for, a stop ends that at once: the gate is left, and a call that was counted is told to be over.
"""

from collections.abc import Sequence
from typing import NamedTuple

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, StartCall, StopCall, Tell
from eukhe.actors.messages import (
    BuildDone,
    BuildFailed,
    CallHeard,
    CallOver,
    CallResponded,
    CallSent,
    Counted,
    EnterPrefix,
    LeavePrefix,
    Msg,
    Overdue,
    Ping,
    Pong,
    PrefixOpen,
    PrefixRead,
    ReadSource,
    ReadView,
    Source,
    StartBuild,
    StopBuild,
    Sync,
    Synced,
    ViewTexts,
    WaitFailed,
)
from eukhe.actors.ports import Broke, CallEvent, Delta, Outage, Replied, Request, Responding
from eukhe.actors.routes import GATE, INDEX, LEDGER
from eukhe.errors import Bug
from eukhe.limits import CALL_DEADLINE_S, LOST, NODE_BYTES_MAX, TRIES_MAX
from eukhe.model.gate import prefix_of
from eukhe.model.line import Asking, Done, broke, from_input, replied
from eukhe.model.prompt import Texts
from eukhe.model.request import blocks_to_mark, line_talk
from eukhe.model.secrets import Secrets
from eukhe.model.talk import NO_USAGE, Effort, Talk, Usage
from eukhe.model.text import size

_DEADLINE = "deadline"
_ROLE = "compaction"


class Paid(NamedTuple):
    """What a model that costs money is sent. `session`: names the calls of one owner's life, and no other's ever."""

    texts: Texts
    effort: Effort
    session: str


class Compactor:
    """`name` is its own in the system, `model` whom it asks. `gated`: its calls share prefixes, so they pass the gate.

    `paid`: they cost money, too: they see lines before them, and each is counted before it is sent.
    """

    def __init__(self, name: str, model: str, *, gated: bool = False, paid: Paid | None = None) -> None:
        self.name = name
        self.model = model
        self.gated = gated or paid is not None
        self.paid = paid
        self.secrets = Secrets({})  # what was logged before they were looked for is not sent: D16
        self.order: StartBuild | None = None
        self.sources: tuple[str, ...] = ()
        self.context: tuple[str, ...] | None = None  # texts of the lines that its calls see; None until they are read
        self.replies: tuple[str, ...] = ()
        self.line = Asking("")
        self.talk: Talk | None = None  # what is sent next, of a paid model
        self.counted: int | None = None  # the call that the ledger was told of, and not yet that it is over
        self.called: int | None = None  # the one that is under way; else it is read for, or waits at gate or ledger

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case StartBuild():
                assert self.order is None, f"{self.name} is busy with {self.order}"
                self.order = message
                return [Tell(INDEX, ReadSource(message.part, self.name, message.call))]
            case Source(call, texts):
                return self._begin(texts) if self._is_current(call) else []
            case ViewTexts(call, texts):
                return self._see(texts) if self._is_current(call) else []
            case WaitFailed(call, why):
                return self._failed(why) if self._is_current(call) else []
            case PrefixOpen(call):
                return self._open() if self._is_current(call) and self._waits() else []
            case Counted(call):
                return self._call() if call == self.counted and self.called is None else []
            case CallHeard(call, event):
                return self._heard(event) if call == self.called else []
            case Overdue(call):
                return [StopCall(call), *self._failed("took longer than 10 minutes")] if call == self.called else []
            case StopBuild(call):
                return self._stopped() if self._is_current(call) else []
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket):
                return [*self._stopped(), Tell(reply_to, Synced(ticket))]
        raise Bug(f"a compactor does not know {message}")

    def _is_current(self, call: int) -> bool:
        """What is answered to an order that was stopped comes late, and is dropped."""
        return self.order is not None and self.order.call == call

    def _waits(self) -> bool:
        """At the gate, or before."""
        return self.called is None and self.counted is None

    def _begin(self, texts: tuple[str, ...]) -> list[Effect]:
        assert self.order is not None
        source = "\n".join(texts)
        self.sources = texts
        self.context = None
        self.replies = ()
        self.line = Asking(source)
        if not source:
            return self._failed("what it is built from can't be read")
        if size(source) <= NODE_BYTES_MAX:  # rule 12
            return self._done(Done(source, 0))
        if self.paid is None:
            return self._ask()
        return [Tell(INDEX, ReadView(self.order.context, (), self.name, self.order.call))]

    def _see(self, context: tuple[str, ...]) -> list[Effect]:
        """The lines before it are read."""
        assert self.context is None, "they are asked for once"
        self.context = context
        return self._ask()

    def _ask(self) -> list[Effect]:
        """A call, once the gate lets it through."""
        assert self.order is not None
        if not self.gated:
            return self._call()
        about = ("", None) if self.paid is None else (self.paid.effort, self.paid.texts)
        prefix = prefix_of(self.model, self.order.context, *about)
        return [Tell(GATE, EnterPrefix(prefix, self.name, self.order.call))]

    def _open(self) -> list[Effect]:
        """The gate lets it through; one that costs money is sent once it is counted."""
        if self.paid is None:
            return self._call()
        assert self.order is not None
        self.talk = self._talk(self.paid)
        self.counted = self._number()
        blocks = blocks_to_mark(self.talk)
        sent = CallSent(self._id(), _ROLE, self.model, self.order.batch, blocks, self.name, self.counted)
        return [Tell(LEDGER, sent)]

    def _call(self) -> list[Effect]:
        """A call, and its ten minutes."""
        assert self.order is not None
        self.called = self._number()
        request = Request(self.model, self.order.part, self.sources, self.replies, self.talk)
        return [SetTimer(_DEADLINE, CALL_DEADLINE_S, Overdue(self.called)), StartCall(self.called, request)]

    def _number(self) -> int:
        """Each call of an order has one of its own: what is heard late of one is no other's."""
        assert self.order is not None
        return self.order.call * TRIES_MAX + len(self.replies)

    def _id(self) -> str:
        """What the ledger knows the call by."""
        assert self.paid is not None
        return f"{self.paid.session}/{self.counted}"

    def _talk(self, paid: Paid) -> Talk:
        assert self.order is not None
        assert self.context is not None
        hide = self.secrets.hide
        context = list(zip(self.order.context, map(hide, self.context), strict=True))
        sources = tuple(map(hide, self.sources))
        return line_talk(paid.texts, context, self.order.part, sources, self.replies, paid.effort, self.order.marked)

    def _heard(self, event: CallEvent) -> list[Effect]:
        match event:
            case Responding(usage):
                return self._responding(usage)
            case Delta():
                return []
            case Replied(text, _, usage):
                return [*self._over(usage), *self._replied(text)]
            case Broke(why):
                return [*self._over(event.cost, why), *self._failed(why)]
            case Outage(why):
                return [*self._over(event.cost, why), *self._failed(why, event)]

    def _responding(self, usage: Usage | None) -> list[Effect]:
        assert self.order is not None
        if not self.gated:
            return []
        read: list[Effect] = [Tell(GATE, PrefixRead(self.name, self.order.call))]
        if self.paid is None or usage is None:
            return read
        return [*read, Tell(LEDGER, CallResponded(self._id(), usage))]

    def _over(self, usage: Usage | None, why: str = "") -> list[Effect]:
        """The ledger is told how its call has ended, where it was told of one."""
        if self.counted is None:
            return []
        over = CallOver(self._id(), usage, why)
        self.counted = None
        return [Tell(LEDGER, over)]

    def _replied(self, text: str | None) -> list[Effect]:
        match replied(self.line, text):
            case Asking() as again:
                self.line = again
                self.replies = (*self.replies, text or "")
                return [*self._end(), *self._ask()]
            case done:
                return self._done(done)

    def _done(self, done: Done) -> list[Effect]:
        ended = self._end()
        assert self.order is not None
        order, self.order = self.order, None
        return [*ended, Tell("planner", BuildDone(order.call, order.part, done.line, done.calls))]

    def _failed(self, why: str, outage: Outage | None = None) -> list[Effect]:
        ended = [*self._over(None, why), *self._end()]
        assert self.order is not None
        order, self.order = self.order, None
        fallback = from_input(self.sources or (LOST,))
        failed = BuildFailed(order.call, order.part, why, fallback, broke(self.line).calls, outage)
        return [*ended, Tell("planner", failed)]

    def _stopped(self) -> list[Effect]:
        """The order is dropped, at whatever it is."""
        if self.order is None:
            return []
        stop: list[Effect] = [] if self.called is None else [StopCall(self.called)]
        over = self._over(NO_USAGE if self.called is None else None, "stopped")
        ended = self._end()
        self.order = None
        return [*stop, *over, *ended]

    def _end(self) -> list[Effect]:
        """The call has ended, or waits no longer."""
        assert self.order is not None
        timer: list[Effect] = [] if self.called is None else [CancelTimer(_DEADLINE)]
        self.called = None
        return [*timer, *([Tell(GATE, LeavePrefix(self.name, self.order.call))] if self.gated else [])]
