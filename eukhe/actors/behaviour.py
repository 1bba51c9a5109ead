"""A behaviour decides, its host does.

A behaviour takes one message at a time and returns effects, which the host performs in their order; an effect that
fails ends the rest of its list, and the behaviour gets a `Failed` instead. So what stands before a `Tell` has
happened when the message is sent: persist, then acknowledge.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from eukhe.actors.messages import Msg
from eukhe.actors.ports import Key, Request, TurnRequest

EDGE = "edge"
"""The name by which actors answer the program that asks them from outside."""


class Persist(msgspec.Struct, frozen=True):
    """Appends bytes to a log and syncs it."""

    path: str
    data: bytes


class Replace(msgspec.Struct, frozen=True):
    """Replaces a small file whole. `sync`: it must outlive lost power."""

    path: str
    data: bytes
    sync: bool


class Tell(msgspec.Struct, frozen=True):
    """Sends a message to an actor by its name."""

    to: str
    message: Msg


class SetTimer(msgspec.Struct, frozen=True):
    """Sends the actor itself a message after a while; a second timer of a name takes the first one's place."""

    name: str
    after_s: float
    message: Msg


class CancelTimer(msgspec.Struct, frozen=True):
    name: str


class StartCall(msgspec.Struct, frozen=True):
    """Starts a model call; what is heard of it comes back as `CallHeard`."""

    call: int
    request: Request


class StopCall(msgspec.Struct, frozen=True):
    """Ends a call at once; nothing comes back."""

    call: int


class Listen(msgspec.Struct, frozen=True):
    """Opens the chat's address; what is heard there comes back as `SocketHeard`. The door's alone, as the next four."""


class Send(msgspec.Struct, frozen=True):
    """Sends a message to a client."""

    client: int
    message: Msg


class Grant(msgspec.Struct, frozen=True):
    """So many bytes of a client's frames are dealt with, `FRAME_OVERHEAD_BYTES` for each included."""

    client: int
    bytes_: int


class Drop(msgspec.Struct, frozen=True):
    """Closes a client's connection, once what was sent has left."""

    client: int


class Unlisten(msgspec.Struct, frozen=True):
    """Closes the address and every connection."""


class KeepKeys(msgspec.Struct, frozen=True):
    """Hands the workers the keys that a client brought; where one is new, `Resume` goes to the planner."""

    keys: tuple[Key, ...]


class AskModel(msgspec.Struct, frozen=True):
    """Starts a call of a turn; what is heard of it comes back as `CallHeard`. A client's, as all down to `Hang`."""

    call: int
    request: TurnRequest


class LeaveModel(msgspec.Struct, frozen=True):
    """Ends a turn's call at once; nothing comes back."""

    call: int


class StartTool(msgspec.Struct, frozen=True):
    """Runs a tool of a turn; what is heard of it comes back as `ToolHeard`."""

    call: int
    name: str
    input: str


class StopTool(msgspec.Struct, frozen=True):
    """Ends a tool at once, with all its processes; nothing comes back."""

    call: int


class Dial(msgspec.Struct, frozen=True):
    """Looks for the chat's owner; what is heard of it comes back as `OwnerHeard`."""


class Order(msgspec.Struct, frozen=True):
    """Sends an order to one of the owner's actors."""

    to: str
    message: Msg


class Hang(msgspec.Struct, frozen=True):
    """Lets go of the owner."""


class StartActor(msgspec.Struct, frozen=True):
    """Starts an actor of the system; the supervisor's alone, as is `StopActor`."""

    name: str


class StopActor(msgspec.Struct, frozen=True):
    """Stops an actor once its mailbox is empty."""

    name: str


OutsideEffect = AskModel | LeaveModel | StartTool | StopTool | Dial | Order | Hang
Effect = (
    Persist
    | Replace
    | Tell
    | SetTimer
    | CancelTimer
    | StartCall
    | StopCall
    | Listen
    | Send
    | Grant
    | Drop
    | Unlisten
    | KeepKeys
    | OutsideEffect
    | StartActor
    | StopActor
)


class Behaviour(Protocol):
    """What an actor does, apart from doing it."""

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        """The effects of a message; `now` is the clock's monotonic seconds. Raises only for a bug."""
        ...
