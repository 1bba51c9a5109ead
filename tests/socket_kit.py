"""Sockets in a test's hand and what they hear, one event after the other; clients, also those that are no program's."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

import orjson
import pytest

from eukhe.actors.messages import Append, AppendDone, AskStatus, Entry, Hello, Status, Welcome
from eukhe.actors.ports import Connected, Disconnected, Received, SocketEvent
from eukhe.actors.wire import decode, encode
from eukhe.limits import FRAME_HEAD_BYTES, PROTOCOL
from eukhe.world.address import find
from eukhe.world.frames import frame
from eukhe.world.link import Link
from eukhe.world.socket import UnixSockets

WAIT_S = 30


@pytest.fixture
def shallow() -> Iterator[Path]:
    """An empty folder whose path is short; a socket below a test's own may not fit."""
    with TemporaryDirectory(prefix="eukhe-") as name:
        yield Path(name)


class Ear:
    """Sockets that listen, and what they have heard."""

    def __init__(self, sockets: UnixSockets) -> None:
        self.events: SimpleQueue[SocketEvent] = SimpleQueue()
        self.sockets = sockets
        sockets.listen(self.events.put)

    def next(self) -> SocketEvent:
        return self.events.get(timeout=WAIT_S)

    def connected(self) -> int:
        event = self.next()
        assert isinstance(event, Connected)
        return event.client

    def received(self) -> bytes:
        event = self.next()
        assert isinstance(event, Received)
        return event.data

    def disconnected(self) -> tuple[int, str]:
        event = self.next()
        assert isinstance(event, Disconnected), event
        return event.client, event.why


@contextmanager
def listening(chat: Path) -> Iterator[Ear]:
    ear = Ear(UnixSockets(chat))
    try:
        yield ear
    finally:
        ear.sockets.close()


def plug(chat: Path) -> socket.socket:
    """A bare connection, which waits for a limited time."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    path = find(chat)
    assert path is not None
    connection.connect(str(path))  # waits while too many wait; with a time-out it would not
    connection.settimeout(WAIT_S)
    return connection


def read_frame(connection: socket.socket) -> bytes:
    """The next frame; fewer bytes where the connection ends before."""
    return read(connection, int.from_bytes(read(connection, FRAME_HEAD_BYTES)))


def read(connection: socket.socket, length: int) -> bytes:
    found = bytearray()
    while len(found) < length and (part := connection.recv(min(length - len(found), 1 << 20))):
        found += part
    return bytes(found)


def has_ended(connection: socket.socket) -> bool:
    """Whether nothing comes any more, by an end or a reset."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


# --- what clients say to a whole owner ---


def greet(connection: socket.socket) -> None:
    """Makes a bare connection one that is welcome."""
    connection.sendall(frame(encode(Hello(PROTOCOL, "1.2", 9))))
    assert isinstance(decode(read_frame(connection)), Welcome)


def append(link: Link, text: str) -> int:
    """Logs a text, which is its key; its id."""
    link.tell("", Append((Entry("user", text, key=text),), "", 1))
    answer = link.hear(WAIT_S)
    assert isinstance(answer, AppendDone)
    return answer.entries[0].first


def status(link: Link) -> Status:
    link.tell("", AskStatus("", 2))
    answer = link.hear(WAIT_S)
    assert isinstance(answer, Status)
    return answer


def logged(chat: Path) -> list[str]:
    """The texts of the log, in its order."""
    lines = [line for day in sorted((chat / "main").iterdir()) for line in day.read_bytes().splitlines()]
    return [orjson.loads(line)["text"] for line in lines]
