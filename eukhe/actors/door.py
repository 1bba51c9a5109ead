"""The door: lets other processes in, and passes what they order to the actors and the answers back to them.

A client says `Hello` first. Each of its orders goes to the one actor that its kind is for, under the door's own name
and number, and the answer comes back under the client's own ticket: what a client says in `reply_to` does not count,
and two clients with the same tickets do not meet. Who does what stands in routes.py.

A client that is gone wants no answer: its waits are cancelled, its calls leave the gate, its appends go on. One that
says what no client may say is told so and dropped. How much a client may order before it is answered is counted in
bytes, by the sockets; an order's are granted back when it has ended.
"""

from collections.abc import Sequence

import msgspec

from eukhe.actors.behaviour import (
    EDGE,
    CancelTimer,
    Drop,
    Effect,
    Grant,
    KeepKeys,
    Listen,
    Send,
    SetTimer,
    Tell,
    Unlisten,
)
from eukhe.actors.messages import (
    AgentLogged,
    AgentNamed,
    AppendDone,
    AppendFailed,
    AskStatus,
    Cancel,
    Counted,
    Hello,
    HelloDue,
    IdleDue,
    LeavePrefix,
    Leaving,
    Msg,
    Ping,
    Pong,
    PrefixOpen,
    ReadView,
    Refused,
    Seen,
    Settled,
    SettleFailed,
    SocketHeard,
    Status,
    StopOwner,
    Stopping,
    Sync,
    Synced,
    TextsInForce,
    ViewTaken,
    ViewTexts,
    WaitFailed,
    Welcome,
)
from eukhe.actors.ports import Connected, Deafened, Disconnected, Received, SocketEvent
from eukhe.actors.routes import FOLLOWS, HELD, ROUTES
from eukhe.actors.wire import decode
from eukhe.errors import Bug
from eukhe.limits import FRAME_OVERHEAD_BYTES, HELLO_WAIT_S, NODE_BITS_MAX, OWNER_BUSY_S, OWNER_IDLE_S, PROTOCOL
from eukhe.model.part import Part

NAME = "door"
_IDLE = "idle"


class _Order(msgspec.Struct):
    """An order on its way. `ticket`: the client's own, None where the answer is not wanted any more."""

    client: int
    ticket: int | None
    kind: type[Msg]
    bytes_: int

    @property
    def to(self) -> str:
        return ROUTES[self.kind]


class Door:
    """The behaviour. `version`, `pid`: what the owner says of itself.

    `leaves_when_idle`: it is to end also when no client came for a while and nothing is left to do.
    """

    def __init__(self, version: str, pid: int, *, leaves_when_idle: bool = False) -> None:
        self.version = version
        self.pid = pid
        self.leaves_when_idle = leaves_when_idle
        self.strangers: set[int] = set()  # clients that have not said Hello
        self.clients: dict[int, dict[int, int]] = {}  # client -> its ticket -> the number of the order
        self.orders: dict[int, _Order] = {}
        self.number = 0  # of the newest order
        self.look: int | None = None  # of the door's own question whether there is anything left to do
        self.is_open = False

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case SocketHeard(event):
                return self._heard(event) if self.is_open else ()
            case Ping(reply_to, ticket):
                self.is_open = True
                return [Listen(), *self._idle_in(OWNER_IDLE_S), Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket):
                self._shut()
                return [CancelTimer(_IDLE), Unlisten(), Tell(reply_to, Synced(ticket))]
            case HelloDue(client):
                # There are only so many places, and who has one and says nothing keeps another from it.
                return self._turn_away(client) if client in self.strangers else ()
            case IdleDue():
                return self._ask_whether_idle()
            case Status(ticket, idle=idle) if ticket == self.look:
                return self._leave_or_wait(idle)
            case (
                AppendDone(ticket)
                | AppendFailed(ticket)
                | ViewTaken(ticket)
                | WaitFailed(ticket)
                | Settled(ticket)
                | SettleFailed(ticket)
                | Status(ticket)
                | Synced(ticket)
                | ViewTexts(ticket)
                | PrefixOpen(ticket)
                | Seen(ticket)
                | TextsInForce(ticket)
                | Counted(ticket)
                | AgentNamed(ticket)
                | AgentLogged(ticket)
            ):
                return self._answer(ticket, message)
        raise Bug(f"the door does not know {message}")

    def _heard(self, event: SocketEvent) -> Sequence[Effect]:
        match event:
            case Connected(client):
                self.strangers.add(client)
                return [SetTimer(f"hello {client}", HELLO_WAIT_S, HelloDue(client))]
            case Received(client, data) if client in self.clients:
                return self._order(client, data)
            case Received(client, data) if client in self.strangers:
                return self._greet(client, data)
            case Disconnected(client):
                self.strangers.discard(client)
                return self._forget(client)
            case Deafened(why):
                raise Bug(why)
        return ()  # of a client that was dropped since

    # --- the first frame ---

    def _greet(self, client: int, data: bytes) -> Sequence[Effect]:
        self.strangers.discard(client)
        try:
            hello = decode(data)
        except msgspec.DecodeError as error:
            return self._refuse(client, f"what was said first is no Hello: {error}")
        if not isinstance(hello, Hello):
            return self._refuse(client, f"what was said first is no Hello: {type(hello).__name__}")
        if hello.protocol == PROTOCOL:
            self.clients[client] = {}
            self.look = None
            keys = [KeepKeys(hello.keys)] if hello.keys else []
            welcome = Send(client, Welcome(PROTOCOL, self.version, self.pid))
            busy = [CancelTimer(_IDLE)] if self.leaves_when_idle else []
            return [*keys, *busy, welcome, Grant(client, _counted(len(data)))]
        owner = f"the chat's owner (pid {self.pid}, eukhe {self.version})"
        if hello.protocol < PROTOCOL:
            why = f"{owner} is newer than this eukhe ({hello.version}): update this one, or end that process"
            return self._refuse(client, why)
        # Not dropped: that the connection ends tells the client that it may take over.
        why = f"{owner} is older than this eukhe ({hello.version}), and makes room for it"
        return [Send(client, Refused(why, leaving=True)), Tell(EDGE, Leaving("newer"))]

    def _turn_away(self, client: int) -> Sequence[Effect]:
        self.strangers.discard(client)
        return self._refuse(client, f"no Hello was said in {HELLO_WAIT_S} s")

    def _refuse(self, client: int, why: str) -> Sequence[Effect]:
        return [*self._forget(client), Send(client, Refused(why, leaving=False)), Drop(client)]

    def _forget(self, client: int) -> Sequence[Effect]:
        """Ends what would last on for a client that is gone; what else it ordered goes on, for nobody."""
        numbers = self.clients.pop(client, None)
        if numbers is None:
            return ()
        orders = [(number, self.orders.pop(number)) for number in numbers.values()]
        ended = [Tell(order.to, Cancel(NAME, number)) for number, order in orders if order.kind in HELD]
        return [*ended, *(() if self.clients else self._idle_in(OWNER_IDLE_S))]

    # --- orders ---

    def _order(self, client: int, data: bytes) -> Sequence[Effect]:
        try:
            order = decode(data)
        except msgspec.DecodeError as error:
            return self._refuse(client, f"what was said is no order: {error}")
        kind = type(order)
        if kind in ROUTES:
            return self._give(client, order, len(data))
        if kind in FOLLOWS:
            return self._follow(client, order, len(data))
        if isinstance(order, StopOwner):
            return [
                Send(client, Stopping(order.ticket)),
                Grant(client, _counted(len(data))),
                Tell(EDGE, Leaving("stop")),
            ]
        return self._refuse(client, f"{kind.__name__} is no order that a client may give")

    def _give(self, client: int, order: Msg, length: int) -> Sequence[Effect]:
        ticket: int = order.ticket  # type: ignore[attr-defined]  # as all orders have
        if ticket in self.clients[client]:
            return self._refuse(client, f"ticket {ticket} is that of another order, which has not ended")
        if isinstance(order, ReadView) and not (_can_be_view(order.lines) and _can_be_view(order.unbuilt)):
            return self._refuse(client, "a view of lines that no chat can have")
        self.number += 1
        self.clients[client][ticket] = self.number
        given = self.orders[self.number] = _Order(client, ticket, type(order), _counted(length))
        return [Tell(given.to, _renamed(order, self.number))]

    def _follow(self, client: int, follower: Msg, length: int) -> Sequence[Effect]:
        kind = type(follower)
        tickets = self.clients[client]
        ticket: int = follower.ticket  # type: ignore[attr-defined]  # as above
        grant = Grant(client, _counted(length))
        number = tickets.get(ticket)
        if number is None:
            return [grant]  # what it follows has ended meanwhile
        order = self.orders[number]
        if order.kind not in FOLLOWS[kind]:
            return self._refuse(client, f"{kind.__name__} does not follow {order.kind.__name__}")
        told = [Tell(order.to, _renamed(follower, number))] if order.kind in HELD else []
        if kind not in (LeavePrefix, Cancel):
            return [*told, grant]
        del tickets[ticket]
        if order.kind in HELD:
            del self.orders[number]
            return [*told, grant, Grant(client, order.bytes_)]
        order.ticket = None
        return [grant]

    def _answer(self, number: int, answer: Msg) -> Sequence[Effect]:
        order = self.orders.get(number)
        if order is None:
            return ()
        if isinstance(answer, PrefixOpen):  # the call stays at the gate until it leaves
            assert order.ticket is not None, "a call that has left keeps no order"
            return [Send(order.client, msgspec.structs.replace(answer, ticket=order.ticket))]
        del self.orders[number]
        if order.client not in self.clients:
            return ()
        grant = Grant(order.client, order.bytes_)
        if order.ticket is None:
            return [grant]
        del self.clients[order.client][order.ticket]
        return [Send(order.client, msgspec.structs.replace(answer, ticket=order.ticket)), grant]

    # --- leaving ---

    def _idle_in(self, after_s: float) -> Sequence[Effect]:
        return [SetTimer(_IDLE, after_s, IdleDue())] if self.leaves_when_idle else ()

    def _ask_whether_idle(self) -> Sequence[Effect]:
        if self.clients or not self.is_open:
            return ()
        self.number += 1
        self.look = self.number
        return [Tell("planner", AskStatus(NAME, self.look))]

    def _leave_or_wait(self, idle: bool) -> Sequence[Effect]:
        self.look = None
        return [Tell(EDGE, Leaving("idle"))] if idle else self._idle_in(OWNER_BUSY_S)

    def _shut(self) -> None:
        """What comes from now on was said before: by clients that are cut off, and in answer to them."""
        self.is_open = False
        self.strangers.clear()
        self.clients.clear()
        self.orders.clear()
        self.look = None


def _counted(length: int) -> int:
    """A frame's bytes as the sockets count them."""
    return length + FRAME_OVERHEAD_BYTES


def _renamed(order: Msg, number: int) -> Msg:
    """A client's order as the door's own."""
    return msgspec.structs.replace(order, reply_to=NAME, ticket=number)


def _can_be_view(lines: Sequence[Part]) -> bool:
    """Each line once: the texts of one that stands there a million times would fill the memory."""
    return len(set(lines)) == len(lines) and all(map(_can_be, lines))


def _can_be(part: Part) -> bool:
    return part.level >= 0 and part.i >= 0 and part.level + part.i.bit_length() <= NODE_BITS_MAX
