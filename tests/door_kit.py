"""A door in a test's hand: what clients say to it, what it does, and what it says to whom."""

from collections.abc import Sequence

from eukhe.actors.behaviour import Drop, Effect, Grant, Send, SetTimer, Tell
from eukhe.actors.door import NAME, Door
from eukhe.actors.messages import Hello, HelloDue, Msg, Ping, Refused, SocketHeard, Status, Welcome
from eukhe.actors.ports import Connected, Disconnected, Received, SocketEvent
from eukhe.actors.wire import encode
from eukhe.limits import FRAME_OVERHEAD_BYTES, HELLO_WAIT_S, PROTOCOL
from tests.actor_kit import Rig

HELLO = Hello(PROTOCOL, "1.2", 99)


class DoorKit:
    """A door that is open, in its host on the runtime whose turn it is."""

    def __init__(self, *, leaves_when_idle: bool = False) -> None:
        self.rig = Rig(lambda: Door("1.2", 41, leaves_when_idle=leaves_when_idle), name=NAME)
        self.up = self.receive(Ping("supervisor", 1))
        self.clients = 0

    @property
    def door(self) -> Door:
        return self.rig.behaviour

    def receive(self, message: Msg) -> list[Effect]:
        return self.rig.receive(message)

    def hear(self, event: SocketEvent) -> list[Effect]:
        return self.receive(SocketHeard(event))

    def connect(self) -> int:
        """A client that has said nothing."""
        self.clients += 1
        due = SetTimer(f"hello {self.clients}", HELLO_WAIT_S, HelloDue(self.clients))
        assert [due] == self.hear(Connected(self.clients))
        return self.clients

    def welcome(self) -> int:
        """A client that has said Hello."""
        client = self.connect()
        assert Send(client, Welcome(PROTOCOL, "1.2", 41)) in self.say(client, HELLO)
        return client

    def say(self, client: int, message: Msg) -> list[Effect]:
        return self.bytes(client, encode(message))

    def bytes(self, client: int, data: bytes) -> list[Effect]:
        return self.hear(Received(client, data))

    def leave(self, client: int) -> list[Effect]:
        return self.hear(Disconnected(client, "it is gone"))

    def order(self, client: int, message: Msg) -> int:
        """The door's own number of an order that is given."""
        (effect,) = self.say(client, message)
        assert isinstance(effect, Tell)
        return effect.message.ticket  # type: ignore[attr-defined, no-any-return]


def grant(client: int, *orders: Msg) -> Effect:
    """What is granted back for an order."""
    return Grant(client, sum(len(encode(order)) + FRAME_OVERHEAD_BYTES for order in orders))


def refusal(client: int, effects: Sequence[Effect]) -> str:
    """Why a client was refused, as the last that was done: it was told so, then dropped."""
    *_, sent, dropped = effects
    assert Drop(client) == dropped
    assert isinstance(sent, Send)
    assert isinstance(sent.message, Refused)
    assert (client, False) == (sent.client, sent.message.leaving)
    return sent.message.why


def idle_or_not(ticket: int, *, idle: bool) -> Status:
    """What the planner says when it is asked whether anything is left to do."""
    return Status(ticket, 3, 2, 0, 100, 0, 0, 0, 0, 0, idle, None, None)
