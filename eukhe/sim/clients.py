"""Clients of the owner, each a process: they come, append, wait, look, have subagents, go, die, and come back.

A client that finds no address starts an owner; of several owners that start, the lock lets one be. What was asked and
not answered is asked again of the next owner, out of the outbox.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final

import msgspec

from eukhe.actors.messages import (
    AgentLogged,
    AgentNamed,
    Append,
    AppendDone,
    AppendFailed,
    AskStatus,
    Attend,
    Cancel,
    Entry,
    Hello,
    Msg,
    Refused,
    Seen,
    Settle,
    Settled,
    SettleFailed,
    Status,
    StopOwner,
    Stopping,
    TakeView,
    ViewTaken,
    WaitFailed,
    Welcome,
)
from eukhe.actors.outbox import Outbox
from eukhe.actors.wire import decode, encode
from eukhe.limits import (
    PROTOCOL,
    RETRY_TICK_S,
    SIM_ANSWER_S,
    SIM_AT_ONCE_MAX,
    SIM_COME_AGAIN_S,
    SIM_DEAF_S,
    SIM_PATIENCE_S,
    SIM_WINDOW_BYTES,
)
from eukhe.sim import rude
from eukhe.sim.agents import Agents
from eukhe.sim.attendance import Presence
from eukhe.sim.checks import CheckFailed
from eukhe.sim.looks import Looks
from eukhe.sim.scheduler import Doer
from eukhe.sim.sockets import Connection
from eukhe.sim.waits import Waits

if TYPE_CHECKING:
    from eukhe.sim.machine import Machine

PAID_ACTS: Final = ("attend",) * 2  # number: as below
ACTS: Final = (*("append", "view") * 4, *("look", "agent") * 2, "settle", "status", "leave")  # number: by their odds


class Client(Doer):
    """`name`: given once. `gone`: it has left for good. `outbox`: its orders that are not answered, sent again.

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
        self.doing: Callable[[], None] | None = self._come
        self.looks = Looks(self)
        self.waits = Waits(self)
        self.agents = Agents(self)
        self.presence = Presence(self)
        self.orders: dict[int, tuple[Msg, float]] = {}  # not answered, and since when
        self.cancelled: set[int] = set()
        self.faulty: dict[int, str] = {}  # orders that are faults
        self.unkeyed: dict[int, Entry] = {}  # sent once, without a key
        self.again: list[Entry] = []  # what a poisoned owner did not take
        self.acknowledged: list[Entry] = []
        self.total = 0
        self.settled = False
        self.idle = False  # until something that it waits for has ended
        machine.scheduler.add(self)

    # --- when ---

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
            if self.machine.faults.strikes("race"):
                self.machine.start_owner()
            self.later(SIM_COME_AGAIN_S * self.random.random(), self._come)
            return
        faults = self.machine.faults
        if faults.strikes("odd-frame"):
            self._say(rude.first_frames(faults.dice("odd-frame")))
        else:
            self._say([encode(Hello(PROTOCOL + faults.strikes("newer-client"), "1", 1))])

    def cut(self) -> None:
        """The owner or the connection is gone."""
        self._disconnected()
        self.later(SIM_COME_AGAIN_S * self.random.random(), self._come)

    def _disconnected(self) -> None:
        """Texts without a key that were not answered by now are given up: nobody knows whether they are logged."""
        self.unkeyed.clear()
        self.connection = None
        self.greeted = False

    def die(self) -> None:
        """Gone for good, without a word: nothing of it is left but what it has sent."""
        self.gone = True
        self.machine.scheduler.forget((self.name,))
        if self.connection is not None:
            self.machine.network.leave(self.connection)
        self._disconnected()

    def _leave(self) -> None:
        if self.machine.finishing and self.settled:
            self.die()
            return
        if self.connection is not None:
            self.machine.network.leave(self.connection)
        self._disconnected()
        self.later(self.think_s * self.random.random(), self._come)

    # --- what it does ---

    def _act(self) -> None:
        faults = self.machine.faults
        if not self.greeted:
            return
        if faults.strikes("dead-client"):
            if self.orders:
                faults.meet("dead-client")
            self.machine.replace(self)
            return
        if faults.strikes("odd-frame"):
            self._say(rude.frames(faults.dice("odd-frame")))
            return
        self._misbehave()
        act = self._chosen()
        if act == "wait":
            self.idle = True
            return
        if act == "rest":  # until those who talk have ended: they say more
            self.settled = False
            self.later(SIM_PATIENCE_S, self._act)
            return
        self._do(act)
        self._think()

    def _misbehave(self) -> None:
        """What a client does besides, where a fault strikes."""
        machine, faults = self.machine, self.machine.faults
        if faults.strikes("deaf-client"):
            assert self.connection is not None
            machine.network.deafen(self.connection, SIM_DEAF_S)
        if faults.strikes("owner-ends"):
            self.order(StopOwner(self.name, self.outbox.ticket()))
        if self.acknowledged and faults.strikes("sent-twice"):
            self.append([self.random.choice(self.acknowledged)])
        if faults.strikes("refused-text"):
            self.order(Append((machine.text.refused(),), self.name, self._note("refused-text")))
        if self.acknowledged and faults.strikes("key-reused"):
            again = self.random.choice(self.acknowledged)
            other = msgspec.structs.replace(again, text=f"another {again.text}", images=())
            self.order(Append((other,), self.name, self._note("key-reused")))
        if faults.strikes("no-key"):
            self._append_once(machine.text.entry())

    def _chosen(self) -> str:
        if self.machine.finishing or self.machine.text.left <= 0:
            if self.orders or self.again:
                return "wait" if not self.again else "append"
            if self.machine.talkers:
                return "rest"
            return "leave" if self.settled else "settle"
        if len(self.orders) >= SIM_AT_ONCE_MAX:
            return "wait"
        return self.random.choice(ACTS + PAID_ACTS if self.machine.options.paid else ACTS)

    def _do(self, act: str) -> None:
        match act:
            case "append":
                self.append(self._entries())
            case "attend":
                self.presence.change()
            case "settle":
                self.order(Settle(self.name, self.outbox.ticket(), self.total, take=True))
            case "status":
                ticket = self.outbox.ticket()
                self.order(AskStatus(self.name, ticket))
                if self.machine.faults.strikes("cancelled-wait"):
                    self.cancel(ticket)
            case "view":
                self.waits.order()
            case "look":
                self.looks.order()
            case "agent":
                self.agents.order()
            case "leave" if not self.orders:
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

    def append(self, entries: Sequence[Entry]) -> None:
        self.order(Append(tuple(entries), self.name, self.outbox.ticket()))

    def _note(self, fault: str) -> int:
        """The ticket of an order that is a fault."""
        ticket = self.outbox.ticket()
        self.faulty[ticket] = fault
        return ticket

    def _append_once(self, entry: Entry) -> None:
        """Without a key, so it can't be sent again; whether it is logged is not known until that is said."""
        ticket = self.outbox.ticket()
        self.unkeyed[ticket] = entry
        self._send(Append((entry,), self.name, ticket))

    # --- orders and answers ---

    def order(self, order: Msg) -> None:
        order = self.outbox.put(order)
        match order:
            case TakeView() | Cancel() | Attend():
                pass
            case _:
                self.orders[order.ticket] = order, self.machine.clock.monotonic_s()  # type: ignore[attr-defined]
        self._send(order)

    def _send(self, order: Msg) -> None:
        if self.greeted:
            self._say([encode(order)])

    def _say(self, frames: Sequence[bytes]) -> None:
        for data in frames:
            if self.connection is not None:  # which any frame may be the last of
                self.machine.network.send(self.connection, data)

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
        if ticket == rude.TICKET:
            return
        if ticket in self.unkeyed:
            self._logged_once(self.unkeyed.pop(ticket), answer)
            return
        if not self.outbox.answered(answer):
            if ticket not in self.cancelled:
                raise CheckFailed("answer-once", f"nothing more to ticket {ticket} of {self.name}", answer)
            return
        order, _ = self.orders.pop(ticket)
        self._heard(order, answer)
        self._go_on()

    def _logged_once(self, entry: Entry, answer: Msg) -> None:
        if isinstance(answer, AppendDone):
            self.machine.faults.meet("no-key")
            self.machine.text.logged(entry)
            self.machine.watch.acknowledge_once(entry, answer.entries[0])

    def _heard(self, order: Any, answer: Msg) -> None:
        match answer:
            case AppendDone(ticket, loggings) if ticket in self.faulty:
                if self.faulty[ticket] == "refused-text" or not loggings[0].differs or loggings[0].new:
                    raise CheckFailed("acknowledged", f"{order} is not logged", loggings)
                self.machine.faults.meet("key-reused")
            case AppendFailed(ticket) if ticket in self.faulty:
                self.machine.faults.meet(self.faulty[ticket])
            case AppendDone(_, loggings):
                self.settled = False
                for entry, logging in zip(order.entries, loggings, strict=True):
                    if entry in self.acknowledged:
                        self.machine.faults.meet("sent-twice")
                    self.machine.text.logged(entry)
                    self.machine.watch.acknowledge(entry, logging)
                    self.acknowledged.append(entry)
                    self.total = max(self.total, logging.first + logging.count)
                self.looks.order_newest(self.total - 1)
            case AppendFailed():
                self.again += order.entries
                self._stop_owner()
            case SettleFailed() | WaitFailed():
                self._stop_owner()
            case Settled():
                self.order(AskStatus(self.name, self.outbox.ticket()))
            case Status():
                all_ = sum(answer.t >> level for level in range(answer.t.bit_length()))
                self.settled = answer.idle and answer.nodes == all_
            case Stopping():
                self.machine.faults.meet("owner-ends")
            case ViewTaken():
                self.waits.heard(answer)
            case Seen():
                self.looks.heard(order, answer)
            case AgentNamed() | AgentLogged():
                self.agents.heard(order, answer)

    def cancel(self, ticket: int) -> None:
        """It does not want the answer any more, which may be on its way."""
        self.cancelled.add(ticket)
        self.orders.pop(ticket, None)
        self.order(Cancel(self.name, ticket))
        self._go_on()

    def _stop_owner(self) -> None:
        """The owner can't write: the user stops it, and the next one reads what is really there."""
        self.order(StopOwner(self.name, self.outbox.ticket()))

    # --- what must hold ---

    def overdue(self) -> Msg | None:
        """An order that has waited for longer than it may, where nothing goes wrong.

        A client that is ahead is not read from until something of its is answered: its limits begin anew then.
        """
        now_s = self.machine.clock.monotonic_s()
        if self.connection is not None and self.connection.ahead_bytes > SIM_WINDOW_BYTES:
            self._begin_anew(now_s)
        for order, since_s in self.orders.values():
            if now_s - since_s > SIM_ANSWER_S[type(order).__name__]:
                return order
        return None

    def ask_again_from(self, now_s: float) -> None:
        """All limits begin anew, and what was built before counts no more."""
        self.settled = False
        self._begin_anew(now_s)

    def _begin_anew(self, now_s: float) -> None:
        self.orders = {ticket: (order, now_s) for ticket, (order, _) in self.orders.items()}
