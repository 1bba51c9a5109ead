"""The chat's address, and connections whose frames come late, that break between any two steps, and that nobody reads.

The network outlives owners. An owner's `SimSockets` listens there; a client connects. Each way of a connection is a
queue; a step of the network hands over the oldest frame of one of them.
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from eukhe.actors.ports import Connected, Disconnected, Received, SocketEvent
from eukhe.limits import FRAME_OVERHEAD_BYTES, SIM_BEHIND_BYTES, SIM_LATE_FRAME_S, SIM_WINDOW_BYTES
from eukhe.sim.faults import Faults
from eukhe.sim.scheduler import Scheduler


class Peer(Protocol):
    """The client's end."""

    def frame(self, data: bytes) -> None:
        """A frame of the owner's."""
        ...

    def cut(self) -> None:
        """The connection is gone."""
        ...


class Connection:
    """`sent`, `received`: frames under way from the client, and to it. None is the end.

    `ahead_bytes`: of the client's frames, delivered and not granted back. `deaf`: the client does not read;
    `left`: it never will.
    """

    def __init__(self, number: int, peer: Peer, sockets: "SimSockets") -> None:
        self.number = number
        self.peer = peer
        self.sockets = sockets
        self.sent: deque[bytes | None] = deque()
        self.received: deque[bytes | None] = deque()
        self.ahead_bytes = 0
        self.behind_bytes = 0
        self.deaf = self.left = False
        self.held = 0  # ways that a late frame holds up

    @property
    def open(self) -> bool:
        """Whether the client may send: it does not know yet that the other end is gone."""
        return self.number in self.sockets.network.connections


class Network:
    """`listening`: the owner's end, None where there is no address."""

    name = "network"

    def __init__(self, scheduler: Scheduler, faults: Faults) -> None:
        self.scheduler = scheduler
        self.faults = faults
        self.listening: SimSockets | None = None
        self.connections: dict[int, Connection] = {}
        self.numbers = 0
        self._ways: dict[tuple[int, str], Connection] = {}  # those with a frame that can be handed over
        self._held: dict[int, Connection] = {}  # those with a late frame, or whose client is deaf
        scheduler.add(self)

    # --- the client's end ---

    def connect(self, peer: Peer) -> Connection | None:
        """None where nobody listens."""
        if self.listening is None:
            return None
        self.numbers += 1
        connection = self.connections[self.numbers] = Connection(self.numbers, peer, self.listening)
        self.listening.come(connection)
        return connection

    def send(self, connection: Connection, data: bytes) -> None:
        """A frame of the client's; lost where the connection is."""
        if connection.open:
            self._put(connection, "sent", data)

    def leave(self, connection: Connection) -> None:
        """The client closes it: what it sent arrives, what was sent to it does not."""
        connection.left = True
        connection.received.clear()
        self._ways.pop((connection.number, "received"), None)
        if connection.open:
            self._put(connection, "sent", None)

    def cut(self, connection: Connection) -> None:
        """It breaks: what is under way is lost."""
        connection.sent.clear()
        connection.received.clear()
        for way in ("sent", "received"):
            self._ways.pop((connection.number, way), None)
        self._gone(connection, "the connection broke")
        if not connection.left:  # else the client is elsewhere by now, and is not told
            connection.peer.cut()

    def deafen(self, connection: Connection, for_s: float) -> None:
        """The client does not read for a while."""
        connection.deaf = True
        self._held[connection.number] = connection
        self._offer(connection, "received")
        self.scheduler.set_timer((self.name, "deaf", connection.number), for_s, lambda: self._read(connection))

    def _read(self, connection: Connection) -> None:
        connection.deaf = False
        self._offer(connection, "received")

    def release(self) -> None:
        """No frame is late any more."""
        for connection in self._held.values():
            connection.held = 0
            connection.deaf = False
            for way in ("sent", "received"):
                self._offer(connection, way)
        self._held.clear()

    # --- both ---

    def put(self, connection: Connection, data: bytes | None) -> None:
        """A frame for the client, None for the end; of no use where the client has left."""
        if not connection.left:
            self._put(connection, "received", data)

    def gone(self, connection: Connection) -> None:
        """Nobody is at it any more; what was sent to the client is still read."""
        self.connections.pop(connection.number, None)
        self._ways.pop((connection.number, "sent"), None)

    def grant(self, connection: Connection) -> None:
        self._offer(connection, "sent")

    def _put(self, connection: Connection, way: str, data: bytes | None) -> None:
        getattr(connection, way).append(data)
        if self.faults.strikes("late-frame"):
            connection.held += 1
            self._held[connection.number] = connection
            late_s = self.faults.dice("late-frame").random() * self.faults.dice("late-frame").choice(
                (1, SIM_LATE_FRAME_S)
            )
            timer = (self.name, connection.number, self.faults.came_up["late-frame"])
            self.scheduler.set_timer(timer, late_s, lambda: self._arrives(connection))
        self._offer(connection, way)

    def _arrives(self, connection: Connection) -> None:
        connection.held = max(0, connection.held - 1)
        if not (connection.held or connection.deaf):
            self._held.pop(connection.number, None)
        self.faults.meet("late-frame")
        for way in ("sent", "received"):
            self._offer(connection, way)

    def _offer(self, connection: Connection, way: str) -> None:
        """Whether a way's oldest frame can be handed over now."""
        frames: deque[bytes | None] = getattr(connection, way)
        can = bool(frames) and not connection.held
        if way == "sent":
            can = can and connection.sockets.hears and connection.open and connection.ahead_bytes <= SIM_WINDOW_BYTES
        else:
            can = can and not connection.deaf
        if can:
            self._ways[connection.number, way] = connection
        else:
            self._ways.pop((connection.number, way), None)

    def waiting(self) -> object | None:
        return f"{len(self._ways)} frames" if self._ways else None

    def step(self) -> None:
        number, way = self.scheduler.random.choice(tuple(self._ways))
        connection = self._ways[number, way]
        data = getattr(connection, way).popleft()
        self._offer(connection, way)
        if way == "sent":
            if data is None:
                self._gone(connection, "the client left")
            else:
                connection.ahead_bytes += len(data) + FRAME_OVERHEAD_BYTES
                self._offer(connection, way)
                connection.sockets.tell(Received(number, data))
        elif data is None:
            connection.peer.cut()
        else:
            connection.behind_bytes -= len(data) + FRAME_OVERHEAD_BYTES
            connection.peer.frame(data)

    def _gone(self, connection: Connection, why: str) -> None:
        """The owner hears that a client is gone."""
        if connection.number in self.connections:
            self.gone(connection)
            connection.sockets.gone(connection, why)


class SimSockets:
    """Implements `Sockets`, for one owner."""

    def __init__(self, network: Network) -> None:
        """Opens the address: clients may come, and wait until they are let in."""
        assert network.listening is None, "someone listens there already"
        self.network = network
        self.clients: dict[int, Connection] = {}
        self._heard: Callable[[SocketEvent], None] | None = None
        network.listening = self

    @property
    def hears(self) -> bool:
        return self._heard is not None

    def come(self, connection: Connection) -> None:
        self.clients[connection.number] = connection
        if self._heard is not None:
            self._heard(Connected(connection.number))

    def tell(self, event: SocketEvent) -> None:
        assert self._heard is not None
        self._heard(event)

    def gone(self, connection: Connection, why: str) -> None:
        if self.clients.pop(connection.number, None) is not None and self._heard is not None:
            self._heard(Disconnected(connection.number, why))

    # --- the port ---

    def listen(self, heard: Callable[[SocketEvent], None]) -> None:
        self._heard = heard
        for connection in self.clients.values():
            heard(Connected(connection.number))
            self.network.grant(connection)

    def send(self, client: int, data: bytes) -> None:
        connection = self.clients.get(client)
        if connection is None:
            return
        connection.behind_bytes += len(data) + FRAME_OVERHEAD_BYTES
        self.network.put(connection, data)
        if connection.deaf and connection.behind_bytes > SIM_BEHIND_BYTES:
            self.network.faults.meet("deaf-client")
            self.network.cut(connection)

    def grant(self, client: int, bytes_: int) -> None:
        connection = self.clients.get(client)
        if connection is None:
            return
        connection.ahead_bytes -= bytes_
        assert connection.ahead_bytes >= 0, f"more is granted to client {client} than it sent"
        self.network.grant(connection)

    def drop(self, client: int) -> None:
        connection = self.clients.pop(client, None)
        if connection is not None:
            self.network.gone(connection)
            self.network.put(connection, None)

    def close(self) -> None:
        if self.network.listening is self:
            self.network.listening = None
        for client in list(self.clients):
            self.drop(client)

    def crash(self) -> None:
        """The owner is dead: nothing is heard any more, and every client finds the end."""
        self._heard = None
        self.close()
