"""What a client's turn has besides models: tools, and the way to the chat's owner."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec

from eukhe.actors.ports.calls import CallEvent, TurnRequest


class ToolSaid(msgspec.Struct, frozen=True, tag=True):
    """A tool printed something, while it runs."""

    text: str


class ToolEnded(msgspec.Struct, frozen=True, tag=True):
    """A tool has ended: what the model is told. `failed`: it could not do it, as `text` says."""

    text: str
    images: tuple[bytes, ...] = ()
    failed: bool = False


ToolEvent = ToolSaid | ToolEnded


class Tools(Protocol):
    """The tools that touch the user's machine: `bash`, `read`, `write`, `edit`. A client's."""

    def start(self, call: int, name: str, input_: str, heard: Callable[[ToolEvent], None]) -> None:
        """Runs a tool on its input, JSON as the model gave it. Of its end `heard` is told once, unless it was stopped.

        From any thread, and maybe at once. An input that is wrong ends it as failed, with a word to the model.
        """
        ...

    def stop(self, call: int) -> None:
        """Ends a tool with all its processes; nothing is heard of it any more."""
        ...


class OwnerFound(msgspec.Struct, frozen=True, tag=True):
    """There is an owner; another than the one before, if there was one. `pid`: its process."""

    pid: int


class OwnerSaid(msgspec.Struct, frozen=True, tag=True):
    """An answer of the owner's: a message, as `wire` encodes it."""

    data: bytes


class OwnerLost(msgspec.Struct, frozen=True, tag=True):
    """There is no owner, and none can be had, as `why` says: nothing more is heard."""

    why: str


OwnerEvent = OwnerFound | OwnerSaid | OwnerLost


class OwnerLink(Protocol):
    """A client's way to the chat's owner, which finds the next one when the owner ends."""

    def open(self, heard: Callable[[OwnerEvent], None]) -> None:
        """Looks for the owner. `heard` is told from any thread, `OwnerFound` first.

        Said again after each `OwnerFound`: what is sent from then on is for that one, what was sent before is not, so
        that it does not come twice where it is sent again. After `OwnerLost`: looks once more.
        """
        ...

    def send(self, to: str, data: bytes) -> None:
        """Sends an order, encoded, for one of its actors; to nobody where that is gone, of which is heard."""
        ...

    def close(self) -> None:
        """Nothing more is heard."""
        ...


class Models(Protocol):
    """Runs the calls of turns, as `Workers` runs those for lines."""

    def start(self, call: int, request: TurnRequest, heard: Callable[[CallEvent], None]) -> None:
        """Starts a call. Of its end `heard` is told once, unless it was stopped; from any thread, and maybe at once."""
        ...

    def stop(self, call: int) -> None:
        """Ends a call at once; nothing is heard of it any more."""
        ...


class Outside(NamedTuple):
    """All that a client's actors have, and an owner's have not."""

    models: Models
    tools: Tools
    owner: OwnerLink
