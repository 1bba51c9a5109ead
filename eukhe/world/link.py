"""A client's connection to the owner of a chat.

Nothing here waits longer than it is told to. What can't be sent yet goes out while an answer is waited for, a frame
that came in part stays for the next time, and an owner that is gone is noticed by hearing, after all that it still
said. Ctrl-C is safe at any moment: where it strikes between the system and the books of what was sent or read, they
can't be trusted, and the link says that its owner is gone; whoever asks again asks with the same keys.
"""

import os
import select
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from eukhe import __version__
from eukhe.actors.messages import Hello, Msg, Refused, Welcome
from eukhe.actors.wire import decode, encode
from eukhe.errors import HomeError, OwnerGone, OwnerRefused
from eukhe.limits import CONNECT_RETRY_S, MILLISECONDS, OWNER_SILENT_S, PROTOCOL, SOCKET_READ_BYTES
from eukhe.world.address import find, is_other_user
from eukhe.world.frames import Frames, FrameTooLong, frame


class Link:
    """One thread's. `owner` is what the owner said of itself."""

    def __init__(self, connection: socket.socket, owner: str) -> None:
        """`owner`: the address, for messages. Use `connect`."""

    @classmethod
    def connect(cls, chat: Path, wait_s: float = OWNER_SILENT_S, *, protocol: int = PROTOCOL) -> Self:
        """A link to the owner of a chat, who has welcomed it.

        OwnerGone where there is none, also after an older one has gone to make room for this newer program;
        OwnerRefused where the owner is the newer; TimeoutError where it does not answer within `wait_s`: it may be
        stopped. HomeError where the address can't be reached, or is another user's.
        """
        raise NotImplementedError

    def tell(self, to: str, message: Msg) -> None:
        """Sends a message, now or while an answer is waited for. `to` does not count: the owner knows who it is for.

        FrameTooLong. Never OwnerGone.
        """

    def hear(self, wait_s: float) -> Msg:
        """The next message. TimeoutError where none comes; OwnerGone where none will; OwnerRefused."""
        raise NotImplementedError

    def close(self) -> None:
        """May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
