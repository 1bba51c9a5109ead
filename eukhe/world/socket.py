"""The chat's socket, and whoever is connected there: one thread waits for all of them."""

from collections.abc import Callable
from pathlib import Path

from eukhe.actors.ports import SocketEvent
from eukhe.world.address import Address


class UnixSockets:
    """Implements `Sockets`. Only for the holder of the chat's lock, who closes it, also where nobody has listened."""

    def __init__(self, chat: Path) -> None:
        """Opens the address: clients may come, and wait until they are let in. HomeError where it can't be opened."""
        self._address = Address(chat)

    def listen(self, heard: Callable[[SocketEvent], None]) -> None:
        """Lets clients in."""

    def send(self, client: int, data: bytes) -> None: ...

    def grant(self, client: int, bytes_: int) -> None: ...

    def drop(self, client: int) -> None: ...

    def close(self) -> None:
        """May be called twice."""
        self._address.close()
