"""Clients of the owner, each a process: they come, append, wait for views, pass the gate, go, die, and come back.

A client that finds no address starts an owner; of several owners that start, the lock lets one be. What was asked and
not answered is asked again of the next owner, out of the outbox.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any, Final

from eukhe.actors.messages import (
    Append,
    AppendDone,
    AppendFailed,
    AskStatus,
    Cancel,
    EnterPrefix,
    Entry,
    Hello,
    LeavePrefix,
    Msg,
    PrefixOpen,
    PrefixRead,
    ReadView,
    Refused,
    Settle,
    Settled,
    SettleFailed,
    Status,
    StopOwner,
    Stopping,
    TakeView,
    ViewTaken,
    ViewTexts,
    Wait,
    WaitFailed,
    Welcome,
)
from eukhe.actors.outbox import Outbox
from eukhe.actors.wire import decode, encode
from eukhe.limits import (
    MILLISECONDS,
    PIECE_CHARS_MAX,
    PLACEHOLDER,
    PROTOCOL,
    RETRY_TICK_S,
    SETTLE_TIMEOUT_MS,
    SIM_ANSWER_S,
    SIM_AT_ONCE_MAX,
    SIM_COME_AGAIN_S,
    SIM_DEAF_S,
    SIM_TURN_S,
)
from eukhe.model.text import cut
from eukhe.sim.checks import CheckFailed
from eukhe.sim.sockets import Connection

if TYPE_CHECKING:
    from eukhe.sim.machine import Machine

ACTS: Final = ("append",) * 4 + ("turn",) * 4 + ("settle", "status", "leave")  # number: as likely as they are many


class Turn:
    """A turn under way. `ticket`: of what it waits for now. `first`: its message's id, once that is logged."""

    def __init__(self, ticket: int) -> None:
        self.ticket = ticket
        self.view: ViewTaken | None = None
        self.at_gate: int | None = None


class Client:
    """`name`: given once. `doing`: what it does next, None while it waits for something. `gone`: it has left for good.

    `think_s`: how long it waits at most between two things that it does.
    """

    def __init__(self, machine: "Machine", name: str, think_s: float) -> None:
        self.machine = machine
        self.name = name
        self.think_s = think_s
        self.random: Random = machine.scheduler.random
        self.outbox = Outbox(name)
        self.connection: Connection | None = None
        self.greeted = False
        self.gone = False
        self.newer = False
        self.doing: Callable[[], None] | None = self._come
        self.turn: Turn | None = None
        self.orders: dict[int, tuple[Msg, float]] = {}  # not answered, and since when
        self.cancelled: set[int] = set()
        self.again: list[Entry] = []  # what a poisoned owner did not take
        self.acknowledged: list[Entry] = []
        self.total = 0
        self.settled = False
        self.idle = False  # until something that it waits for has ended
        machine.scheduler.add(self)

    # --- the scheduler's ---

    def waiting(self) -> object | None:
        return None if self.doing is None else self.doing.__name__

    def step(self) -> None:
        doing, self.doing = self.doing, None
        assert doing is not None
        doing()

    def later(self, after_s: float, do: Callable[[], None]) -> None:
        """Does something after a while, instead of what was to be done next."""
        self.doing = None
        self.machine.scheduler.set_timer((self.name, "next"), after_s, lambda: self._next(do))

    def _next(self, do: Callable[[], None]) -> None:
        self.doing = do

    # --- coming and going ---

    def _come(self) -> None:
        network = self.machine.network
        self.connection = network.connect(self)
        if self.connection is None:
            self.machine.start_owner()
            self.later(SIM_COME_AGAIN_S * self.random.random(), self._come)
            return
        self.newer = self.machine.faults.strikes("newer-client")
        network.send(self.connection, encode(Hello(PROTOCOL + self.newer, "1", 1)))

    def cut(self) -> None:
        """The owner or the connection is gone."""
        self.connection = None
        self.greeted = False
        self.later(SIM_COME_AGAIN_S * self.random.random(), self._come)

    def die(self) -> None:
        """Gone without a word, and nothing of it is left but what it has sent."""
        self.gone = True
        self.machine.scheduler.forget((self.name,))
        if self.connection is not None:
            self.machine.network.leave(self.connection)
            self.connection = None

    def _leave(self) -> None:
        if self.connection is not None:
            self.machine.network.leave(self.connection)
        self.connection = None
        self.greeted = False
        if self.machine.finishing and self.settled:
            self.gone = True
            self.machine.scheduler.forget((self.name,))
        else:
            self.later(self.think_s * self.random.random(), self._come)

    # --- what it does ---

    def _act(self) -> None:
        machine, faults = self.machine, self.machine.faults
        if not self.greeted:
            return
        if faults.strikes("dead-client"):
            if self.orders:
                faults.meet("dead-client")
            machine.replace(self)
            return
        if faults.strikes("odd-frame"):
            self._send_oddly()
            return
        if faults.strikes("deaf-client"):
            assert self.connection is not None
            machine.network.deafen(self.connection, SIM_DEAF_S)
        if faults.strikes("owner-ends"):
            self._order(StopOwner(self.name, self.outbox.ticket()))
        if self.acknowledged and faults.strikes("sent-twice"):
            self._append([self.random.choice(self.acknowledged)])
        act = self._chosen()
        if act == "wait":
            self.idle = True
            return
        self._do(act)
        self._think()

    def _chosen(self) -> str:
        if self.machine.finishing or self.machine.text.left <= 0:
            if self.orders or self.turn or self.again:
                return "wait" if not self.again else "append"
            return "leave" if self.settled else "settle"
        if len(self.orders) >= SIM_AT_ONCE_MAX:
            return "wait"
        return self.random.choice(ACTS)

    def _do(self, act: str) -> None:
        match act:
            case "append":
                self._append(self._entries())
            case "turn" if self.turn is None:
                self.turn = Turn(self.outbox.ticket())
                self._order(Wait(self.name, self.turn.ticket))
                self._deadline(self.turn.ticket)
            case "settle":
                self._order(Settle(self.name, self.outbox.ticket(), self.total, take=True))
            case "status":
                self._order(AskStatus(self.name, self.outbox.ticket()))
            case "leave" if not self.orders and self.turn is None:
                self._leave()

    def _go_on(self) -> None:
        """Something that it waited for has ended."""
        if self.idle:
            self._think()

    def _think(self) -> None:
        self.idle = False
        if self.greeted and not self.gone and self.connection is not None:
            least_s = RETRY_TICK_S if self.machine.finishing else 0  # an outage that lasts is not asked about for ever
            self.later(least_s + self.think_s * self.random.random(), self._act)

    def _entries(self) -> list[Entry]:
        if self.again:
            again, self.again = self.again, []
            return again
        return [self.machine.text.entry() for _ in range(self.random.randint(1, 5))]  # number: a few at once

    def _append(self, entries: Sequence[Entry]) -> None:
        self._order(Append(tuple(entries), self.name, self.outbox.ticket()))

    def _send_oddly(self) -> None:
        dice = self.machine.faults.dice("odd-frame")
        assert self.connection is not None
        self.machine.network.send(self.connection, dice.randbytes(dice.randrange(40)))  # number: bytes of garbage

    # --- orders and answers ---

    def _order(self, order: Msg) -> None:
        order = self.outbox.put(order)
        match order:
            case TakeView() | PrefixRead() | LeavePrefix() | Cancel():
                pass
            case _:
                self.orders[order.ticket] = order, self.machine.clock.monotonic_s()  # type: ignore[attr-defined]
        self._send(order)

    def _send(self, order: Msg) -> None:
        if self.greeted and self.connection is not None:
            self.machine.network.send(self.connection, encode(order))

    def frame(self, data: bytes) -> None:
        message = decode(data)
        match message:
            case Welcome():
                self.greeted = True
                for order in self.outbox.again():
                    self._send(order)
                self._think()
            case Refused(_, leaving):
                self.machine.faults.meet("newer-client" if leaving else "odd-frame")
            case _:
                self._answered(message)

    def _answered(self, answer: Msg) -> None:
        ticket: int = answer.ticket  # type: ignore[attr-defined]  # every answer has one
        if not self.outbox.answered(answer):
            if ticket not in self.cancelled:
                raise CheckFailed("answer-once", f"nothing more to ticket {ticket} of {self.name}", answer)
            return
        order, _ = self.orders.pop(ticket)
        self._heard(order, answer)
        self._go_on()

    def _heard(self, order: Any, answer: Msg) -> None:
        match answer:
            case AppendDone(_, loggings):
                self.settled = False
                for entry, logging in zip(order.entries, loggings, strict=True):
                    if not logging.new:
                        self.machine.faults.meet("sent-twice")
                    if len(entry.text) > PIECE_CHARS_MAX:
                        self.machine.faults.meet("long-message")
                    self.machine.watch.acknowledge(entry, logging)
                    self.acknowledged.append(entry)
                    self.total = max(self.total, logging.first + logging.count)
            case AppendFailed():
                self.again += order.entries
                self._stop_owner()
            case WaitFailed():
                self.turn = None
                self._stop_owner()
            case SettleFailed():
                self._stop_owner()
            case Settled():
                self._order(AskStatus(self.name, self.outbox.ticket()))
            case Status():
                self.settled = answer.idle and not (answer.paused or answer.parked)
            case ViewTaken():
                self._view(answer)
            case ViewTexts():
                self._texts(answer)
            case PrefixOpen():
                self._sent()
            case Stopping():
                self.machine.faults.meet("owner-ends")
            case _:
                raise CheckFailed("answer-once", f"an answer to {order}", answer)

    def _stop_owner(self) -> None:
        """The owner can't write: the user stops it, and the next one reads what is really there."""
        self._order(StopOwner(self.name, self.outbox.ticket()))

    # --- a turn ---

    def _deadline(self, ticket: int) -> None:
        """The client's own: 20 seconds, then the view as it is; or the turn is given up."""
        after_s = SETTLE_TIMEOUT_MS / MILLISECONDS
        self.machine.scheduler.set_timer((self.name, "deadline"), after_s, lambda: self._overdue(ticket))
        if self.machine.faults.strikes("cancelled-wait"):
            after_s = self.machine.faults.dice("cancelled-wait").random() * after_s
            self.machine.scheduler.set_timer((self.name, "cancel"), after_s, lambda: self._cancel(ticket))

    def _overdue(self, ticket: int) -> None:
        if self.turn is not None and self.turn.ticket == ticket:
            self._order(TakeView(self.name, ticket))

    def _cancel(self, ticket: int) -> None:
        if self.turn is not None and self.turn.ticket == ticket:
            self.machine.faults.meet("cancelled-wait")
            self.cancelled.add(ticket)
            self.orders.pop(ticket)
            self._order(Cancel(self.name, ticket))
            self.turn = None
            self._go_on()

    def _view(self, view: ViewTaken) -> None:
        """Pinned: its texts may come later, and the turn's message is logged now."""
        turn = self.turn
        assert turn is not None
        lines = view.lines
        covers = [(0, 0), *((line.start, line.end) for line in lines), (view.t, view.t)]
        if any(left[1] != right[0] for left, right in pairwise(covers)):
            raise CheckFailed("view-tiles", f"0 to {view.t}", [line.name for line in lines])
        if view.paused:
            self.machine.faults.meet("outage")
        turn.view = view
        turn.ticket = self.outbox.ticket()
        self._order(ReadView(view.lines, view.unbuilt, self.name, turn.ticket))
        self._append([self.machine.text.entry()])

    def _texts(self, answer: ViewTexts) -> None:
        turn = self.turn
        assert turn is not None and turn.view is not None
        unbuilt = set(turn.view.unbuilt)
        ledger = self.machine.watch.ledger
        for part, text in zip(turn.view.lines, answer.texts, strict=True):
            right = cut(ledger.messages[part.i].label) if part in unbuilt else ledger.nodes[part].text
            if text != right or text == PLACEHOLDER:
                raise CheckFailed("view-texts", f"{part.name}: {right!r}", repr(text))
        turn.ticket = turn.at_gate = self.outbox.ticket()
        self._order(EnterPrefix(f"turn of {len(turn.view.lines) // 4}", self.name, turn.ticket))  # number: a block

    def _sent(self) -> None:
        """The gate is open: the turn's call is sent, its response begins, and it ends."""
        at_gate = self.turn.at_gate if self.turn is not None else None
        if at_gate is None:
            return
        timers = self.machine.scheduler
        begins_s, ends_s = sorted(self.random.random() * SIM_TURN_S for _ in range(2))
        timers.set_timer((self.name, "begins"), begins_s, lambda: self._order(PrefixRead(self.name, at_gate)))
        timers.set_timer((self.name, "ends"), ends_s, lambda: self._turn_ends(at_gate))

    def _turn_ends(self, at_gate: int) -> None:
        self._order(LeavePrefix(self.name, at_gate))
        self.turn = None
        self._append([self.machine.text.entry()])
        self._go_on()

    # --- what must hold ---

    def overdue(self) -> Msg | None:
        """An order that has waited for longer than it may, where nothing goes wrong."""
        now_s = self.machine.clock.monotonic_s()
        for order, since_s in self.orders.values():
            if now_s - since_s > SIM_ANSWER_S[type(order).__name__]:
                return order
        return None

    def ask_again_from(self, now_s: float) -> None:
        """All limits begin anew, and what was built before counts no more."""
        self.settled = False
        self.orders = {ticket: (order, now_s) for ticket, (order, _) in self.orders.items()}
