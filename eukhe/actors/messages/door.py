"""The door's messages: what the socket tells it, and what client and owner say to each other first and last.

All else that a client sends is an order to an actor, whose answer comes back under the client's own ticket; what it
says in `reply_to` does not count.
"""

from eukhe.actors.messages.base import Msg
from eukhe.actors.ports import Key, SocketEvent


class SocketHeard(Msg, frozen=True):
    """The host to the door: what is heard of the sockets."""

    event: SocketEvent


class IdleDue(Msg, frozen=True):
    """The door to itself: there has been no client for a long while."""


class HelloDue(Msg, frozen=True):
    """The door to itself: a client has been there for a while, and should have said `Hello`."""

    client: int


# --- between client and owner ---


class Hello(Msg, frozen=True):
    """A client's first frame, in every version of the protocol the same. `version` is the program's.

    `keys`: those that the client has, for the owner to use while it lives; nothing else keeps them.
    """

    protocol: int
    version: str
    pid: int
    keys: tuple[Key, ...] = ()


class Welcome(Msg, frozen=True):
    """The owner's answer to a `Hello` of its own protocol."""

    protocol: int
    version: str
    pid: int


class Refused(Msg, frozen=True):
    """The owner's answer to any other first frame.

    `leaving`: the client is newer, so the owner finishes and ends, and the client may take over.
    """

    why: str
    leaving: bool


class StopOwner(Msg, frozen=True):
    """The owner shall finish what it was told, and end."""

    reply_to: str
    ticket: int


class Stopping(Msg, frozen=True):
    """It does."""

    ticket: int


class Cancel(Msg, frozen=True):
    """Whoever gave the order with this ticket does not want its answer any more. It is not answered."""

    reply_to: str
    ticket: int


class Leaving(Msg, frozen=True):
    """To the edge: the owner is to end. `why`: `stop`, `idle`, or `newer`.

    `failed`: its store can write no more, as `why` says; the next owner finds out what the disk holds.
    """

    why: str
    failed: bool = False
