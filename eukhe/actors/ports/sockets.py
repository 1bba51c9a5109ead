"""The chat's address, and whoever is connected there."""

from collections.abc import Callable
from typing import Protocol

import msgspec


class Connected(msgspec.Struct, frozen=True, tag=True):
    """Someone of the same user connected; `client` is a number never given twice."""

    client: int


class Received(msgspec.Struct, frozen=True, tag=True):
    """A whole frame of a client's. It may hold keys, so a crash does not tell it."""

    client: int
    data: bytes

    def __repr__(self) -> str:
        return f"Received({self.client}, {len(self.data)} bytes)"


class Disconnected(msgspec.Struct, frozen=True, tag=True):
    """A client is gone, or was dropped by the sockets: `why` says so."""

    client: int
    why: str


class Deafened(msgspec.Struct, frozen=True, tag=True):
    """The sockets have failed, which is a bug: nothing more will be heard."""

    why: str


SocketEvent = Connected | Received | Disconnected | Deafened


class Sockets(Protocol):
    """The chat's address, and whoever is connected there. Frames are whole, of at most `FRAME_BYTES_MAX`.

    A client may be ahead by `CLIENT_WINDOW_BYTES` of what was granted back, each frame with `FRAME_OVERHEAD_BYTES`
    on top; then it is not read from. One that has not read more than `CLIENT_BEHIND_BYTES_MAX` of what it was sent is
    dropped. Clients of other users are never heard of.
    """

    def listen(self, heard: Callable[[SocketEvent], None]) -> None:
        """Lets clients in. `heard` is told of them and their frames from any thread, in their order for each."""
        ...

    def send(self, client: int, data: bytes) -> None:
        """Sends a frame, later where the client is slow. Nothing where it is gone."""
        ...

    def grant(self, client: int, bytes_: int) -> None:
        """So many bytes of received frames, with what is on top, are dealt with: the client may send as many more."""
        ...

    def drop(self, client: int) -> None:
        """Closes a connection once what was sent has left, or after a moment. It is not heard of any more."""
        ...

    def close(self) -> None:
        """The address is gone, and every connection."""
        ...


class NoSockets:
    """A system that nobody connects to, since it has no door."""

    def listen(self, heard: Callable[[SocketEvent], None]) -> None:
        raise AssertionError("there is no address to listen at")

    def send(self, client: int, data: bytes) -> None:
        raise AssertionError(f"there is no client {client}")

    def grant(self, client: int, bytes_: int) -> None:
        raise AssertionError(f"there is no client {client}")

    def drop(self, client: int) -> None:
        raise AssertionError(f"there is no client {client}")

    def close(self) -> None:
        raise AssertionError("there is no address to close")
