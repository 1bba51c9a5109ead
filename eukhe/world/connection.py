"""One client's connection: what was read of it and not dealt with, what it was sent and has not read. Never blocks."""

import socket
from collections import deque
from select import POLLIN, POLLOUT

from eukhe.limits import CLIENT_BEHIND_BYTES_MAX, CLIENT_WINDOW_BYTES, DROP_S, FRAME_OVERHEAD_BYTES
from eukhe.world.frames import Frames, FrameTooLong, frame


class Connection:
    """`why`: it is to be closed, for this reason. `end_s`: it was dropped, and is closed then at the latest.

    What changes it says whether whoever waits for the connection has to look at it again.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.why: str | None = None
        self.end_s: float | None = None
        self._frames = Frames()
        self._ahead_bytes = 0  # handed over and not granted back
        self._is_ahead = False  # the next frame has no room in the window
        self._unsent: deque[memoryview] = deque()
        self._behind_bytes = 0  # of these

    def send(self, data: bytes) -> bool:
        if self.why is not None or self.end_s is not None:
            return False
        if self._behind_bytes + len(data) > CLIENT_BEHIND_BYTES_MAX:
            self.why = f"it has not read what it was sent, more than {CLIENT_BEHIND_BYTES_MAX:,} bytes"
            return True
        waited = bool(self._unsent)
        self._unsent.append(memoryview(frame(data)))
        self._behind_bytes += len(self._unsent[-1])
        if not waited:
            self.flush()
        return bool(self._unsent) and not waited

    def grant(self, bytes_: int) -> bool:
        self._ahead_bytes -= bytes_
        assert self._ahead_bytes >= 0, "more is granted than was received"
        return self._is_ahead

    def drop(self, now_s: float) -> bool:
        self.end_s = now_s + DROP_S
        return True

    def flush(self) -> None:
        """Sends what the client takes now."""
        while self._unsent:
            data = self._unsent[0]
            try:
                sent = self.socket.send(data)
            except BlockingIOError:
                return
            except OSError:  # it is gone, as reading will tell
                self._unsent.clear()
                self._behind_bytes = 0
                return
            self._behind_bytes -= sent
            if sent < len(data):
                self._unsent[0] = data[sent:]
                return
            self._unsent.popleft()

    def read(self, room: memoryview) -> None:
        """What is there now; `room` is where it goes at first."""
        try:
            read = self.socket.recv_into(room)
            if not read:
                self.gone()
            self._frames.take(room[:read])
        except BlockingIOError:
            return
        except (OSError, MemoryError) as error:
            self.why = str(error) or type(error).__name__

    def gone(self) -> None:
        """It has closed its end."""
        self.why = "it is gone"

    def frames(self) -> list[bytes]:
        """Those that are whole and have room in the window: they are handed over."""
        found: list[bytes] = []
        if self.end_s is not None:
            return found
        try:
            while (length := self._frames.length()) is not None:
                ahead_bytes = self._ahead_bytes + length + FRAME_OVERHEAD_BYTES
                self._is_ahead = ahead_bytes > CLIENT_WINDOW_BYTES
                data = None if self._is_ahead else self._frames.next()
                if data is None:
                    break
                self._ahead_bytes = ahead_bytes
                found.append(data)
        except (FrameTooLong, MemoryError) as error:
            self.why = str(error) or type(error).__name__
        return found

    def awaited(self) -> int:
        """The events that are waited for."""
        is_read = self.end_s is None and not self._is_ahead
        return (POLLIN if is_read else 0) | (POLLOUT if self._unsent else 0)
