"""A compactor: one call at a time, for one line.

It reads what the node is built from, waits at the prefix gate where calls share a prefix, asks the model until the
line fits (model.line), and hands it to the planner. There are eight; their mailboxes are the cap on calls, so an order
to a busy one is a bug. Rules 30, 35 to 39, D9.
"""

from collections.abc import Sequence

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, StartCall, StopCall, Tell
from eukhe.actors.gate import NAME as GATE
from eukhe.actors.messages import (
    BuildDone,
    BuildFailed,
    CallHeard,
    EnterPrefix,
    LeavePrefix,
    Msg,
    Overdue,
    Ping,
    Pong,
    PrefixOpen,
    PrefixRead,
    ReadSource,
    Source,
    StartBuild,
    StopBuild,
    Sync,
    Synced,
)
from eukhe.actors.ports import Broke, CallEvent, Delta, Outage, Replied, Request, Responding
from eukhe.errors import Bug
from eukhe.limits import CALL_DEADLINE_S, LOST, NODE_BYTES_MAX, TRIES_MAX
from eukhe.model.gate import prefix_of
from eukhe.model.line import Asking, Done, broke, from_input, replied
from eukhe.model.text import size

_DEADLINE = "deadline"


class Compactor:
    """`name` is its own in the system, `model` whom it asks. `gated`: its calls share prefixes that cost money."""

    def __init__(self, name: str, model: str, *, gated: bool = False) -> None:
        self.name = name
        self.model = model
        self.gated = gated
        self.order: StartBuild | None = None
        self.sources: tuple[str, ...] = ()
        self.replies: tuple[str, ...] = ()
        self.line = Asking("")
        self.called: int | None = None  # the model call that is under way; else it is read for, or waits at the gate

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case StartBuild():
                assert self.order is None, f"{self.name} is busy with {self.order}"
                self.order = message
                return [Tell("index", ReadSource(message.part, self.name, message.call))]
            case Source(call, texts):
                return self._begin(texts) if self._is_current(call) else []
            case PrefixOpen(call):
                return self._call() if self._is_current(call) and self.called is None else []
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

    def _begin(self, texts: tuple[str, ...]) -> list[Effect]:
        assert self.order is not None
        source = "\n".join(texts)
        self.sources = texts
        self.replies = ()
        self.line = Asking(source)
        if not source:
            return self._failed("what it is built from can't be read")
        if size(source) <= NODE_BYTES_MAX:  # rule 12
            return self._done(Done(source, 0))
        return self._ask()

    def _ask(self) -> list[Effect]:
        """A call, once the gate lets it through."""
        assert self.order is not None
        if not self.gated:
            return self._call()
        return [Tell(GATE, EnterPrefix(prefix_of(self.model, self.order.context), self.name, self.order.call))]

    def _call(self) -> list[Effect]:
        """A call, and its ten minutes. Each has a number of its own: what is heard late of one is no other's."""
        assert self.order is not None
        self.called = self.order.call * TRIES_MAX + len(self.replies)
        return [
            SetTimer(_DEADLINE, CALL_DEADLINE_S, Overdue(self.called)),
            StartCall(self.called, Request(self.model, self.order.part, self.sources, self.replies)),
        ]

    def _heard(self, event: CallEvent) -> list[Effect]:
        assert self.order is not None
        match event:
            case Responding():
                return [Tell(GATE, PrefixRead(self.name, self.order.call))] if self.gated else []
            case Delta():
                return []
            case Replied(text):
                return self._replied(text)
            case Broke(why):
                return self._failed(why)
            case Outage(why):
                return self._failed(why, event)

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
        ended = self._end()
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
        ended = self._end()
        self.order = None
        return [*stop, *ended]

    def _end(self) -> list[Effect]:
        """The call has ended, or waits no longer."""
        assert self.order is not None
        timer: list[Effect] = [] if self.called is None else [CancelTimer(_DEADLINE)]
        self.called = None
        return [*timer, *([Tell(GATE, LeavePrefix(self.name, self.order.call))] if self.gated else [])]
