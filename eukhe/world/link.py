"""A client's connection to the owner of a chat.

Nothing here waits longer than it is told to. What can't be sent yet goes out while an answer is waited for, a frame
that came in part stays for the next time, and an owner that is gone is noticed by hearing, after all that it still
said. Ctrl-C is safe at any moment: where it strikes between a system call and the note of what it did, what was sent
or read is not known, and the link counts as broken; whoever asks again asks with the same keys.
"""

import os
import select
import socket
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from eukhe import __version__
from eukhe.actors.messages import Hello, Msg, Refused, Welcome
from eukhe.actors.ports import Key
from eukhe.actors.wire import decode, encode
from eukhe.errors import HomeError, OwnerGone, OwnerRefused
from eukhe.limits import CONNECT_RETRY_S, MILLISECONDS, OWNER_SILENT_S, PROTOCOL, SOCKET_READ_BYTES
from eukhe.world.address import find, is_other_user
from eukhe.world.frames import Frames, FrameTooLong, frame

_GONE: Final = "the chat's owner is gone"
_INTERRUPTED: Final = "it is not known what the chat's owner was told"


class Link:
    """One thread's, but for `wake`. `pid`: the owner's process.

    Whoever has it closes it, also one whose owner is gone: others may be about to wake it.
    """

    def __init__(self, connection: socket.socket) -> None:
        """Of a connection that was made, and does not block; use `connect`."""
        self.pid = 0
        self._connection = connection
        self._poll = select.poll()
        self._room = memoryview(bytearray(SOCKET_READ_BYTES))
        self._frames = Frames()
        self._unsent: deque[memoryview] = deque()
        self._bell, self._bell_rope = socket.socketpair()
        for end in (self._bell, self._bell_rope):
            end.setblocking(False)
        self._is_mute = False  # nothing can be sent any more
        self._gone: str | None = None  # why nothing comes after what is in `frames`

    @classmethod
    def connect(
        cls, chat: Path, wait_s: float = OWNER_SILENT_S, *, keys: tuple[Key, ...] = (), protocol: int = PROTOCOL
    ) -> Self:
        """A link to the owner of a chat, who has welcomed it, and who has the `keys` from now on.

        OwnerGone where there is none, also after an older one has gone to make room for this newer program;
        OwnerRefused where the owner is the newer; TimeoutError where it does not answer within `wait_s`: it may be
        stopped. HomeError where the address can't be reached, or is another user's.
        """
        until_s = time.monotonic() + wait_s
        link = cls(_connected(chat, until_s))
        try:
            link.tell("", Hello(protocol, __version__, os.getpid(), keys))
            answer = link.hear(until_s - time.monotonic())
            if not isinstance(answer, Welcome):
                raise OwnerRefused(f"the chat's owner answers {type(answer).__name__} and no Welcome")
        except BaseException:
            link.close()
            raise
        link.pid = answer.pid
        return link

    def tell(self, to: str, message: Msg) -> None:
        """Sends a message, now or while an answer is waited for. `to` does not count: the owner knows who it is for.

        FrameTooLong. An owner that is gone is noticed by `hear`.
        """
        del to
        data = frame(encode(message))
        if not self._is_mute and self._gone is None:
            self._unsent.append(memoryview(data))
            self._send()

    def hear(self, wait_s: float | None) -> Msg:
        """The next message. TimeoutError where none comes; OwnerGone where none will; OwnerRefused.

        `wait_s`: None for as long as it takes.
        """
        until_s = None if wait_s is None else time.monotonic() + wait_s
        while True:
            while (message := self._next()) is None:
                if self._gone is not None:
                    raise OwnerGone(self._gone)
                self._wait(until_s)
            if not isinstance(message, Refused):
                return message
            if not message.leaving:
                raise OwnerRefused(message.why)
            # It has to finish first; that it is gone is what will be heard of it.

    def wake(self) -> None:
        """Makes `hear` on the link's own thread return at once, by a TimeoutError. Any thread's, until it is closed."""
        with suppress(BlockingIOError):  # it was woken so often that it will be
            self._bell_rope.send(b"!")

    def close(self) -> None:
        """May be called twice."""
        self._gone = self._gone or _GONE
        for end in (self._connection, self._bell, self._bell_rope):
            end.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next(self) -> Msg | None:
        try:
            data = self._frames.next()
            return None if data is None else decode(data)
        except (FrameTooLong, msgspec.DecodeError) as error:
            raise OwnerRefused(f"the chat's owner says what can't be understood: {error}") from error

    def _wait(self, until_s: float | None) -> None:
        """Until something was read, or sent. TimeoutError."""
        wait_ms = None if until_s is None else max(0, until_s - time.monotonic()) * MILLISECONDS
        self._poll.register(self._connection, select.POLLIN | (select.POLLOUT if self._unsent else 0))
        self._poll.register(self._bell, select.POLLIN)
        ready = dict(self._poll.poll(wait_ms))
        if ready.pop(self._bell.fileno(), 0):
            self._bell.recv(SOCKET_READ_BYTES)
        if not ready:
            raise TimeoutError("nothing was heard of the chat's owner")
        ((_, events),) = ready.items()
        if events & select.POLLOUT:
            self._send()
        if events & ~select.POLLOUT:
            self._read()

    def _send(self) -> None:
        """What the system takes now."""
        while self._unsent:
            self._gone = _INTERRUPTED
            data = self._unsent[0]
            try:
                sent = self._connection.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:  # what it said before is still to be read
                self._is_mute = True
                self._unsent.clear()
                self._gone = None
                return
            if sent == len(data):
                self._unsent.popleft()
            else:
                self._unsent[0] = data[sent:]
            self._gone = None
            if sent < len(data):
                return

    def _read(self) -> None:
        self._gone = _INTERRUPTED
        try:
            read = self._connection.recv_into(self._room)
        except BlockingIOError:
            self._gone = None
            return
        except OSError:
            read = 0
        self._frames.take(self._room[:read])
        self._gone = None if read else _GONE


def _connected(chat: Path, until_s: float) -> socket.socket:
    """OwnerGone, TimeoutError, HomeError."""
    path = find(chat)
    if path is None:
        raise OwnerGone(_GONE)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        _reach(connection, path, until_s)
    except BaseException:
        connection.close()
        raise
    return connection


def _reach(connection: socket.socket, path: Path, until_s: float) -> None:
    while True:
        try:
            connection.connect(str(path))
            break
        except BlockingIOError:  # too many wait to be let in
            if time.monotonic() >= until_s:
                raise TimeoutError("the chat's owner lets nobody in") from None
            time.sleep(CONNECT_RETRY_S)
        except (FileNotFoundError, ConnectionError):
            raise OwnerGone(_GONE) from None
        except OSError as error:
            raise HomeError(f"{path}: {error.strerror or error}; the chat's owner can't be reached") from error
    if is_other_user(connection):
        raise HomeError(f"{path}: another user's program listens here; remove this file")
