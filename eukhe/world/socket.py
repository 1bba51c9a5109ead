"""The chat's socket, and whoever is connected there.

One thread waits for all of them: it alone reads and closes connections, and tells what it hears. What is sent goes out
on the sender's own thread where the client takes it at once, and waits for that thread where it does not. So a client
that is slow, silent, ahead or dead keeps nobody waiting, and no more is kept for it than its limits say.
"""

import resource
import select
import socket
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock, Thread

from eukhe.actors.ports import Connected, Deafened, Disconnected, Received, SocketEvent
from eukhe.limits import ACCEPT_AGAIN_S, CLIENTS_MAX, HANDLES_KEPT, MILLISECONDS, SOCKET_READ_BYTES
from eukhe.world.address import Address, is_other_user
from eukhe.world.connection import Connection

Heard = Callable[[SocketEvent], None]


class UnixSockets:
    """Implements `Sockets`. Only for the holder of the chat's lock, who closes it, also where nobody has listened."""

    def __init__(self, chat: Path) -> None:
        """Opens the address: clients may come, and wait until they are let in. HomeError where it can't be opened."""
        self._address = Address(chat)
        self._bell = _Bell()
        self._clients: dict[int, Connection] = {}
        # Held for each look at a connection and each change of one, and never for long: no call on them blocks.
        self._lock = Lock()
        self._changed: set[int] = set()  # clients that the thread is to look at
        self._is_closing = False
        self._thread: Thread | None = None

    def listen(self, heard: Heard) -> None:
        assert self._thread is None, "it listens already"
        self._thread = Thread(target=self._run, args=(heard,), name="sockets", daemon=True)
        self._thread.start()

    def send(self, client: int, data: bytes) -> None:
        self._do(client, lambda connection: connection.send(data))

    def grant(self, client: int, bytes_: int) -> None:
        self._do(client, lambda connection: connection.grant(bytes_))

    def drop(self, client: int) -> None:
        self._do(client, lambda connection: connection.drop(time.monotonic()))

    def close(self) -> None:
        """May be called twice."""
        if self._is_closing:
            return
        self._is_closing = True
        if self._thread is not None:
            self._bell.ring()
            self._thread.join()
        self._address.close()
        self._bell.close()

    def _do(self, client: int, change: Callable[[Connection], bool]) -> None:
        """Changes a connection, and where that says so the thread looks at it. Nothing where the client is gone."""
        with self._lock:
            connection = self._clients.get(client)
            if connection is None or not change(connection):
                return
            self._changed.add(client)
        self._bell.ring()

    def _run(self, heard: Heard) -> None:
        loop = _Loop(self._address.listener, self._bell, self._clients, self._lock, heard)
        try:
            while not self._is_closing:
                with self._lock:
                    changed, self._changed = self._changed, set()
                loop.turn(changed)
        except Exception:  # noqa: BLE001, told to the door, whose bug it is
            heard(Deafened(traceback.format_exc()))
        finally:
            self._address.close()  # before the connections: who is cut off does not find it
            loop.close()


class _Bell:
    """Wakes the thread out of its wait."""

    def __init__(self) -> None:
        self._bell, self.ear = socket.socketpair()
        self._bell.setblocking(False)
        self.ear.setblocking(False)

    def ring(self) -> None:
        with suppress(BlockingIOError):  # it has been rung often enough
            self._bell.send(b"\0")

    def hush(self) -> None:
        with suppress(BlockingIOError):
            self.ear.recv(SOCKET_READ_BYTES)

    def close(self) -> None:
        self._bell.close()
        self.ear.close()


class _Loop:
    """What the thread does. `clients` is changed by it alone, under the lock."""

    def __init__(
        self, listener: socket.socket, bell: _Bell, clients: dict[int, Connection], lock: Lock, heard: Heard
    ) -> None:
        self._listener = listener
        self._bell = bell
        self._clients = clients
        self._lock = lock
        self._heard = heard
        self._numbers = count(1)
        self._of_fd: dict[int, int] = {}
        self._awaited: dict[int, int] = {}  # client -> the events that its connection waits for
        self._dropped: dict[int, float] = {}  # client -> when it is closed, though it has not read all
        self._is_open = True
        self._shut_until_s: float | None = None  # for want of a file handle, for one
        self._room = memoryview(bytearray(SOCKET_READ_BYTES))
        self._poll = select.poll()
        self._poll.register(bell.ear, select.POLLIN)
        self._poll.register(listener, select.POLLIN)

    def turn(self, changed: set[int]) -> None:
        """Looks at the connections that were changed, then waits for something to happen, and does what is due."""
        for client in changed:
            self._look(client)
        for fd, events in self._poll.poll(self._wait_ms()):
            if fd == self._bell.ear.fileno():
                self._bell.hush()
            elif fd == self._listener.fileno():
                self._let_in()
            else:
                self._go_on(self._of_fd[fd], events)
        self._end_dropped()
        self._open_or_shut()

    def close(self) -> None:
        """What can be sent at once still goes out."""
        for client, connection in list(self._clients.items()):
            with self._lock:
                connection.flush()
            self._end(client)

    def _wait_ms(self) -> float | None:
        """Until a dropped client is cut off, or the door opens again."""
        ends_s = list(self._dropped.values())
        if self._shut_until_s is not None:
            ends_s.append(self._shut_until_s)
        return max(0, min(ends_s) - time.monotonic()) * MILLISECONDS if ends_s else None

    # --- who comes ---

    def _open_or_shut(self) -> None:
        """Those who can't be let in wait before the door. Looking at them all the time would take a whole core."""
        if self._shut_until_s is not None and self._shut_until_s <= time.monotonic():
            self._shut_until_s = None
        is_open = len(self._clients) < _clients_max() and self._shut_until_s is None
        if is_open != self._is_open:
            self._is_open = is_open
            self._poll.modify(self._listener, select.POLLIN if is_open else 0)

    def _let_in(self) -> None:
        while len(self._clients) < _clients_max():
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError:  # of a free file handle, for one; nobody else is harmed by that
                self._shut_until_s = time.monotonic() + ACCEPT_AGAIN_S
                return
            if is_other_user(connection):
                connection.close()
                continue
            connection.setblocking(False)
            client = next(self._numbers)
            with self._lock:
                self._clients[client] = Connection(connection)
            self._of_fd[connection.fileno()] = client
            self._awaited[client] = select.POLLIN
            self._poll.register(connection, select.POLLIN)
            self._heard(Connected(client))

    # --- who is there ---

    def _go_on(self, client: int, events: int) -> None:
        connection = self._clients[client]
        with self._lock:
            if events & select.POLLOUT:
                connection.flush()
            if events & select.POLLIN:
                connection.read(self._room)
            elif events & ~select.POLLOUT:  # as is heard also of one that is not read from
                connection.gone()
        self._look(client)

    def _look(self, client: int) -> None:
        """Hands over the frames that are whole, and says what is waited for next."""
        connection = self._clients.get(client)
        if connection is None:
            return
        with self._lock:
            frames = connection.frames()
            why, end_s, awaited = connection.why, connection.end_s, connection.awaited()
        if awaited != self._awaited[client]:
            self._awaited[client] = awaited
            self._poll.modify(connection.socket, awaited)
        for data in frames:
            self._heard(Received(client, data))
        if end_s is not None and (why is not None or not awaited):
            self._end(client)
        elif why is not None:
            self._end(client)
            self._heard(Disconnected(client, why))
        elif end_s is not None:
            self._dropped[client] = end_s

    def _end_dropped(self) -> None:
        """Those who have had their moment to read what they were sent."""
        if self._dropped:
            now_s = time.monotonic()
            for client in [client for client, end_s in self._dropped.items() if end_s <= now_s]:
                self._end(client)

    def _end(self, client: int) -> None:
        with self._lock:
            connection = self._clients.pop(client)
            self._dropped.pop(client, None)
            del self._awaited[client]
            del self._of_fd[connection.socket.fileno()]
            self._poll.unregister(connection.socket)
            connection.socket.close()


def _clients_max() -> int:
    """How many may be there at a time. With all file handles theirs the store could not open its next file."""
    handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if handles == resource.RLIM_INFINITY:
        return CLIENTS_MAX
    return max(1, min(CLIENTS_MAX, handles - HANDLES_KEPT))
