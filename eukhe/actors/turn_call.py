"""One conversation's request on its way to the model, again where that is of use, until there is a reply. D13.

A paid call enters the gate, is counted, and is sent; its prefix is read once its response begins; then it leaves the
gate, and what it cost is told. One that fails is sent anew, after a while: as long as its provider says, or twice as
long each time; so many times and no more. What no other try would change ends it at once: a key that is missing or
not taken, a request that is too long, a provider that wants to be left alone for long.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from eukhe.actors.behaviour import AskModel, LeaveModel
from eukhe.actors.messages import (
    CallHeard,
    CallOver,
    CallResponded,
    CallSent,
    Cancel,
    EnterPrefix,
    LeavePrefix,
    PrefixRead,
    TurnRetries,
    TurnSaid,
)
from eukhe.actors.ports import Broke, CallEvent, Delta, Outage, Replied, Responding, TurnRequest
from eukhe.actors.turn_desk import NAME, Desk, Effects, edge, flat
from eukhe.limits import TURN_RETRY_AFTER_MAX_S, TURN_RETRY_S, TURN_TRIES_MAX
from eukhe.model.request import blocks_to_mark
from eukhe.model.talk import NO_USAGE, Reply, Talk, Usage

TEXT: Final = "text"


class Asked(msgspec.Struct, frozen=True):
    """A request. `prefix`: its name at the gate; `role`, `batch`, `first`: see `CallSent`.

    `agent`: whose it is, "" none's.
    """

    talk: Talk
    prefix: str
    role: str
    batch: int
    first: bool
    agent: str = ""


class Call:
    """`replied`: what follows from a reply; `failed`: what follows where there is none, and why.

    `said`: the text of the reply that is being made, as far as it came. `usage`: of all tries.
    """

    def __init__(
        self, desk: Desk, asked: Asked, replied: Callable[[Reply], Effects], failed: Callable[[str], Effects]
    ) -> None:
        self.said = ""
        self.usage = NO_USAGE
        self._desk = desk
        self._asked = asked
        self._replied = replied
        self._failed = failed
        self._tries = 0
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.said = ""
        self._name = ""  # the call's, once it is counted
        self._at_gate: int | None = None  # its ticket there
        self._order: int | None = None  # the ticket of what is awaited of the owner
        self._call: int | None = None  # once it is sent
        self._timer: int | None = None
        self._hiding = self._desk.secrets.streams()
        self._so_far: Usage | None = None  # what this try has cost, once its response began

    # --- on its way ---

    def begin(self) -> Effects:
        self._begin_anew()
        self._tries += 1
        if not self._desk.mind.paid:
            return self._send()
        self._at_gate, enter = self._desk.order(
            lambda me, ticket: EnterPrefix(self._asked.prefix, me, ticket), lambda opened: self._count()
        )
        self._order = self._at_gate
        return [enter]

    def _count(self) -> Effects:
        self._name = self._desk.name()
        asked, model = self._asked, self._desk.mind.model
        blocks = blocks_to_mark(asked.talk)
        self._order, sent = self._desk.order(
            lambda me, ticket: CallSent(self._name, asked.role, model, asked.batch, blocks, me, ticket, asked.first),
            lambda counted: self._send(),
        )
        return [sent]

    def _send(self) -> Effects:
        self._order = None
        self._call = self._desk.number(self._heard)
        return [AskModel(self._call, TurnRequest(self._desk.mind.model, self._asked.talk))]

    # --- what is heard of it ---

    def _heard(self, message: CallHeard) -> Effects:
        event: CallEvent = message.event
        match event:
            case Responding(usage):
                return self._responded(usage)
            case Delta(kind, text):
                return self._show(self._hiding.take(kind, text))
            case Replied(_, reply, usage):
                assert self._call is not None
                self._desk.forget(self._call)
                return flat(self._rest(), self._over(usage), self._whole(reply))
            case Broke() | Outage():
                assert self._call is not None
                self._desk.forget(self._call)
                return flat(self._rest(), self._over(event.cost, event.why), self._again_or_not(event))

    def _whole(self, reply: Reply | None) -> Effects:
        if reply is None:
            return self._again_or_not(Broke(f"{self._desk.mind.model} gave no reply that a turn can use"))
        return self._replied(self._desk.secrets.hide_reply(reply))

    def _responded(self, usage: Usage | None) -> Effects:
        self._so_far = usage or NO_USAGE
        if self._at_gate is None:
            return []
        read = self._desk.follow(PrefixRead(NAME, self._at_gate))
        return [read, self._desk.follow(CallResponded(self._name, self._so_far))]

    def _show(self, pieces: list[tuple[str, str]]) -> Effects:
        self.said += "".join(text for kind, text in pieces if kind == TEXT)
        return [edge(TurnSaid(kind, text, self._asked.agent)) for kind, text in pieces]

    def _rest(self) -> Effects:
        """What was held back, as it could have been the beginning of a secret."""
        return self._show(self._hiding.rest())

    def _over(self, usage: Usage | None, why: str = "") -> Effects:
        """It has ended, in whatever way: it leaves the gate, and what it cost is told, as far as that is known."""
        usage = usage or self._so_far
        self.usage += usage or NO_USAGE
        self._call = None
        if self._at_gate is None:
            return []
        at_gate, self._at_gate = self._at_gate, None
        left = self._desk.follow(LeavePrefix(NAME, at_gate))
        self._desk.forget(at_gate)
        if not self._name:
            return [left]
        return [left, self._desk.follow(CallOver(self._name, usage, why))]

    # --- again, or not ---

    def _again_or_not(self, event: Broke | Outage) -> Effects:
        why = event.why
        if isinstance(event, Outage) and event.key:
            return self._failed(why)
        if isinstance(event, Broke) and event.final:
            return self._failed(why)
        if self._tries >= TURN_TRIES_MAX:
            return self._failed(f"{why}; {self._tries} tries were made")
        after_s = TURN_RETRY_S * 2 ** (self._tries - 1)
        if isinstance(event, Outage) and event.retry_after_s is not None:
            after_s = max(after_s, event.retry_after_s)
        if after_s > TURN_RETRY_AFTER_MAX_S:
            return self._failed(f"{why}; it is to be tried again in {after_s:.0f} s")
        self._timer, timer = self._desk.later(after_s, self.begin)
        return [edge(TurnRetries(why, after_s, self._asked.agent)), timer]

    def stop(self) -> Effects:
        """Ends it at once, wherever it is; nothing follows. What was held back of its text is in `said`."""
        effects: Effects = []
        if self._timer is not None:
            effects.append(self._desk.no_later(self._timer))
            self._timer = None
        if self._order is not None:
            self._desk.forget(self._order)
            if self._order != self._at_gate:
                effects.append(self._desk.follow(Cancel(NAME, self._order)))
            self._order = None
        if self._call is None:
            return flat(effects, self._over(NO_USAGE, "stopped"))  # it was never sent
        self._desk.forget(self._call)
        return flat(effects, LeaveModel(self._call), self._rest(), self._over(None, "stopped"))
