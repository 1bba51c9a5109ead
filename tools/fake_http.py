"""The fake API's server: connections on loopback, responses that go wrong as they are told to.

Threads and sockets stand here alone; what is answered is decided in `fake_api`.
"""

import select
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import NamedTuple

from fake_acts import End, Ending, Event, Gate, Hold, Pings, Put, Step

BODY_BYTES_MAX = 32 * 1024 * 1024
PING_EVERY_S = 0.02


class Got(NamedTuple):
    """A request as it came. `body`: None where it is larger than a server takes."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None


class Response(NamedTuple):
    """What is sent. `steps`: the body; it is in pieces where it is a stream. `ended` hears whether all of it went out.

    `begins` is called before the first byte, `sends` before each event, so that who has heard something finds it
    counted; `odd` gives the bytes of a `Put`.
    """

    status: int
    headers: Mapping[str, str]
    steps: Iterable[Step]
    stream: bool
    begins: Callable[[], None]
    sends: Callable[[Event], None]
    ended: Callable[[bool], None]
    odd: Callable[[Put], bytes]


class Nothing(NamedTuple):
    """No response: the connection ends."""

    how: Ending


Answered = Response | Nothing
Handle = Callable[[Got], Answered]


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """One thread a connection. `cut_off` and then `close` end them all."""

    allow_reuse_address = True
    request_queue_size = 128
    daemon_threads = False

    def __init__(self, port: int, handle: Handle) -> None:
        super().__init__(("127.0.0.1", port), _Connection)
        self.handle_request_of = handle
        self.broken: list[BaseException] = []
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), name="fake-api")
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def cut_off(self) -> None:
        """Nobody is let in any more, and every connection is shut down."""
        self.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Waits until nothing is under way, and closes all."""
        self.server_close()

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        """Closes a connection. One that lingers for no time is not ended politely first: that makes it a reset."""
        with self._lock:
            self._open.discard(request)
        if not _is_reset(request):
            with suppress(OSError):
                request.shutdown(socket.SHUT_WR)
        request.close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves is no error; anything else is a bug of the fake, told at its end."""
        import sys

        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self.broken.append(error)


class _Connection(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _handle(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        answered = self.server.handle_request_of(Got(self.command, self.path, headers, self._body(headers)))
        if isinstance(answered, Nothing):
            self._end(answered.how)
            return
        whole = False
        try:
            answered.begins()
            self._begin(answered)
            whole = self._play(answered)
        except OSError:
            self.close_connection = True
        finally:
            answered.ended(whole)

    def _body(self, headers: Mapping[str, str]) -> bytes | None:
        size = int(headers.get("content-length", 0))
        if size <= BODY_BYTES_MAX:
            return self.rfile.read(size)
        while size > 0 and (piece := self.rfile.read(min(size, 1 << 20))):
            size -= len(piece)
        return None

    def _begin(self, response: Response) -> None:
        self.send_response_only(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.stream:
            self.send_header("transfer-encoding", "chunked")
        else:
            size = sum(len(step.data) for step in response.steps if isinstance(step, Event))
            self.send_header("content-length", str(size))
        self.end_headers()

    def _play(self, response: Response) -> bool:
        """Sends the steps. Whether all of them went to a client that was still there."""
        for step in response.steps:
            if self._left():
                self.close_connection = True
                return False
            if isinstance(step, End):
                if step.how == "end" and response.stream:
                    self.wfile.write(b"0\r\n\r\n")
                else:
                    self._end(step.how)
                return False
            if isinstance(step, Event):
                response.sends(step)
            for data in self._bytes(step, response):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if response.stream else data)
        if response.stream:
            self.wfile.write(b"0\r\n\r\n")
        return True

    def _bytes(self, step: Step, response: Response) -> Iterator[bytes]:
        """What a step sends, after whatever it waits for."""
        match step:
            case Event():
                if step.data:
                    yield step.data
            case Put():
                yield response.odd(step)
            case Hold():
                step.gate.wait()
            case Pings():
                yield from self._pings(step.gate, response)

    def _pings(self, gate: Gate, response: Response) -> Iterator[bytes]:
        while not gate.opened_within(PING_EVERY_S) and not self._left():
            yield response.odd(Put("ping"))

    def _end(self, how: Ending) -> None:
        """The connection is closed after this."""
        self.close_connection = True
        if how == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _left(self) -> bool:
        """Whether the client has closed the connection."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)


def _is_reset(connection: socket.socket) -> bool:
    try:
        return bool(connection.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)[0])
    except OSError:
        return False
