"""A compactor: one call at a time, for one line.

It reads what the node is built from, asks the model until the line fits (model.line), and hands it to the planner.
There are eight; their mailboxes are the cap on calls, so an order to a busy one is a bug. Rules 35 to 39, D9.
"""

from collections.abc import Sequence

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, StartCall, StopCall, Tell
from eukhe.actors.messages import (
    BuildDone,
    BuildFailed,
    CallEnded,
    Msg,
    Overdue,
    Ping,
    Pong,
    ReadSource,
    Source,
    StartBuild,
    Sync,
    Synced,
)
from eukhe.actors.ports import Request
from eukhe.errors import Bug
from eukhe.limits import CALL_DEADLINE_S, LOST, NODE_BYTES_MAX
from eukhe.model.line import Asking, Done, broke, from_input, replied
from eukhe.model.text import size

_DEADLINE = "deadline"


class Compactor:
    """`name` is its own in the system, `model` whom it asks."""

    def __init__(self, name: str, model: str) -> None:
        self.name = name
        self.model = model
        self.order: StartBuild | None = None
        self.sources: tuple[str, ...] = ()
        self.line = Asking("")

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case StartBuild():
                assert self.order is None, f"{self.name} is busy with {self.order}"
                self.order = message
                return [Tell("index", ReadSource(message.part, self.name, message.call))]
            case Source(call, texts):
                return self._begin(texts) if self._is_current(call) else []
            case CallEnded(call, reply, why):
                return self._ended(reply, why) if self._is_current(call) else []
            case Overdue(call):
                return [StopCall(call), *self._failed("took longer than 10 minutes")] if self._is_current(call) else []
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket):
                return [*(self._stopped() if self.order else []), Tell(reply_to, Synced(ticket))]
        raise Bug(f"a compactor does not know {message}")

    def _is_current(self, call: int) -> bool:
        """Results of a call that was stopped come late, and are dropped."""
        return self.order is not None and self.order.call == call

    def _begin(self, texts: tuple[str, ...]) -> list[Effect]:
        assert self.order is not None
        source = "\n".join(texts)
        self.sources = texts
        self.line = Asking(source)
        if not source:
            return self._failed("what it is built from can't be read")
        if size(source) <= NODE_BYTES_MAX:  # rule 12
            return self._done(Done(source, 0))
        return self._call()

    def _call(self) -> list[Effect]:
        """A call, and its ten minutes."""
        assert self.order is not None
        call = self.order.call
        return [
            SetTimer(_DEADLINE, CALL_DEADLINE_S, Overdue(call)),
            StartCall(call, Request(self.model, self.order.part, self.sources)),
        ]

    def _ended(self, reply: str | None, why: str) -> list[Effect]:
        if why:
            return [CancelTimer(_DEADLINE), *self._failed(why)]
        match replied(self.line, reply):
            case Asking() as again:
                self.line = again
                return self._call()
            case done:
                return [CancelTimer(_DEADLINE), *self._done(done)]

    def _done(self, done: Done) -> list[Effect]:
        assert self.order is not None
        order, self.order = self.order, None
        return [Tell("planner", BuildDone(order.call, order.part, done.line, done.calls))]

    def _failed(self, why: str) -> list[Effect]:
        assert self.order is not None
        order, self.order = self.order, None
        fallback = from_input(self.sources or (LOST,))
        return [Tell("planner", BuildFailed(order.call, order.part, why, fallback, broke(self.line).calls))]

    def _stopped(self) -> list[Effect]:
        assert self.order is not None
        order, self.order = self.order, None
        return [CancelTimer(_DEADLINE), StopCall(order.call)]
