"""The courier: carries the orders of a client's actors to the chat's owner, and the answers back. Rule 7.

Whoever wants something of an owner's actor tells the courier, with its own name and ticket; the courier gives the
order a ticket of its own. When the owner dies, the next one is told again all that was not answered: appends carry
keys, so nothing is lost and nothing comes twice. A call that waits at the gate enters the next owner's; one that was
sent already goes on, and its leaving comes to nothing there.

Before a client ends, what it has said has arrived, or has had its time to.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from eukhe.actors.behaviour import EDGE, CancelTimer, Dial, Effect, Hang, Order, SetTimer, Tell
from eukhe.actors.messages import (
    Cancel,
    LeavePrefix,
    Msg,
    OwnerHeard,
    OwnerIs,
    Ping,
    Pong,
    PrefixOpen,
    Sync,
    Synced,
    TurnDue,
)
from eukhe.actors.outbox import Outbox
from eukhe.actors.ports import OwnerFound, OwnerLost, OwnerSaid
from eukhe.actors.routes import FOLLOWS, HELD, ROUTES
from eukhe.actors.wire import decode
from eukhe.errors import Bug
from eukhe.limits import CLIENT_END_S

NAME: Final = "courier"
TURN: Final = "turn"
_END: Final = "end"
Asker = tuple[str, int]
"""Who asked, and its ticket."""


class _Given(msgspec.Struct):
    """An order on its way, or at the gate."""

    asker: Asker
    kind: type[Msg]


class Courier:
    """The behaviour. `name`: the client's, given to no other client of the chat, ever."""

    def __init__(self, name: str) -> None:
        self._outbox = Outbox(name)
        self._given: dict[int, _Given] = {}  # by the courier's ticket
        self._tickets: dict[Asker, int] = {}
        self._is_there = False
        self._dials = False  # begun with the first order, and again with the first after no owner could be had
        self._sync: Sync | None = None

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case OwnerHeard(OwnerFound(pid)):
                return self._found(pid)
            case OwnerHeard(OwnerSaid(data)):
                return self._said(decode(data))
            case OwnerHeard(OwnerLost(why)):
                return self._none(why)
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync():
                return self._end(message)
            case TurnDue():
                return self._leave()
        if type(message) in ROUTES:
            return self._give(message)
        if type(message) in FOLLOWS:
            return self._follow(message)
        raise Bug(f"the courier does not know {message}")

    # --- to the owner ---

    def _give(self, order: Msg) -> Sequence[Effect]:
        ticket = self._outbox.ticket()
        asker = _asker(order)
        assert asker not in self._tickets, f"{asker} is the ticket of an order that has not ended"
        self._given[ticket] = _Given(asker, type(order))
        if asker[0]:  # else no answer is wanted
            self._tickets[asker] = ticket
        sent = self._outbox.put(_renamed(order, ticket))
        if not self._dials:
            self._dials = True
            return [Dial()]
        return [self._order(ticket, sent)] if self._is_there else ()

    def _follow(self, follower: Msg) -> Sequence[Effect]:
        ticket = self._tickets.get(_asker(follower))
        if ticket is None:
            return ()  # what it follows has ended
        given = self._given[ticket]
        sent = self._outbox.put(_renamed(follower, ticket))
        effects = [self._order(ticket, sent)] if self._is_there and given.kind in HELD else []
        if isinstance(follower, Cancel | LeavePrefix):
            self._forget(ticket)
        return [*effects, *self._leave_if_done()]

    def _order(self, ticket: int, order: Msg) -> Order:
        return Order(ROUTES[self._given[ticket].kind], order)

    # --- from the owner ---

    def _found(self, pid: int) -> Sequence[Effect]:
        self._is_there = True
        again = [self._order(order.ticket, order) for order in self._outbox.again()]  # type: ignore[attr-defined]
        found = OwnerIs(pid)
        return [Dial(), Tell(TURN, found), Tell(EDGE, found), *again]

    def _none(self, why: str) -> Sequence[Effect]:
        """Nobody will be asked again what was asked until now: who asked is told so, once for all."""
        self._is_there = self._dials = False
        for ticket in list(self._given):
            self._outbox.put(Cancel(EDGE, ticket))
            self._forget(ticket)
        lost = OwnerIs(0, why)
        return [Tell(TURN, lost), Tell(EDGE, lost), *self._leave_if_done()]

    def _said(self, answer: Msg) -> Sequence[Effect]:
        if not self._outbox.answered(answer):
            return ()  # cancelled, or an owner before this one has answered it
        ticket: int = answer.ticket  # type: ignore[attr-defined]  # what is answered has one
        reply_to, asked = self._given[ticket].asker
        if not isinstance(answer, PrefixOpen):  # the call stays at the gate until it leaves
            self._forget(ticket)
        told = [Tell(reply_to, msgspec.structs.replace(answer, ticket=asked))] if reply_to else []
        return [*told, *self._leave_if_done()]

    def _forget(self, ticket: int) -> None:
        given = self._given.pop(ticket)
        self._tickets.pop(given.asker, None)

    # --- the end ---

    def _end(self, sync: Sync) -> Sequence[Effect]:
        """What is held, as a wait, is wanted by nobody any more; all else should still arrive."""
        self._sync = sync
        held = [ticket for ticket, given in self._given.items() if given.kind in HELD]
        effects: list[Effect] = []
        for ticket in held:
            cancel = self._outbox.put(Cancel(EDGE, ticket))
            effects += [self._order(ticket, cancel)] if self._is_there else []
            self._forget(ticket)
        left = self._leave_if_done()
        return [*effects, *(left or [SetTimer(_END, CLIENT_END_S, TurnDue(0))])]

    def _leave_if_done(self) -> Sequence[Effect]:
        return self._leave() if self._sync is not None and not self._given else ()

    def _leave(self) -> Sequence[Effect]:
        if self._sync is None:
            return ()  # it left when all was done, as the timer went off
        sync, self._sync = self._sync, None
        return [CancelTimer(_END), Hang(), Tell(sync.reply_to, Synced(sync.ticket))]


def _asker(order: Msg) -> Asker:
    return order.reply_to, order.ticket  # type: ignore[attr-defined]  # every order has both


def _renamed(order: Msg, ticket: int) -> Msg:
    return msgspec.structs.replace(order, reply_to=EDGE, ticket=ticket)
