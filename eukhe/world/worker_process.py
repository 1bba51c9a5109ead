"""A worker process, from the owner's side: orders go to it, its reports come back, a signal ends it."""

import os
import signal
import threading
from contextlib import suppress

from eukhe.actors.ports import CallEvent
from eukhe.world.fork_server import Forked
from eukhe.world.worker_wire import Order, WorkerFailed, encode, event_of

_DIED = "its worker process died"


class WorkerProcess:
    """One thread speaks with it; any may kill it."""

    def __init__(self, forked: Forked) -> None:
        self.pid = forked.pid
        self._handle = _handle(forked.pid)
        self._connection = forked.connection
        self._life = forked.life
        self._lock = threading.Lock()
        self._closed = False

    def is_ready(self) -> bool:
        """It is there and has nothing to say, as between two calls."""
        return not self._connection.poll(0)

    def order(self, order: Order) -> None:
        """Hands it a call. WorkerFailed where it is gone, or the order can't be sent."""
        try:
            self._connection.send_bytes(encode(order))
        except OSError:
            raise WorkerFailed(_DIED) from None
        except UnicodeEncodeError as error:
            raise WorkerFailed(f"the call can't be sent: {error}") from error

    def hear(self, order: Order) -> CallEvent:
        """The next event of the call that it makes. WorkerFailed where it dies, or says anything else."""
        try:
            data = self._connection.recv_bytes(order.report_bytes_max)
        except (EOFError, ConnectionError):
            raise WorkerFailed(_DIED) from None
        except OSError:
            raise WorkerFailed(f"a worker sent an event of more than {order.report_bytes_max:,} bytes") from None
        return event_of(data, order)

    def kill(self) -> None:
        """Ends it at once, whatever it is at; whoever hears it hears that it died."""
        with self._lock:
            if not self._closed:  # else its id may be another's by now
                with suppress(ProcessLookupError):
                    if self._handle is None:
                        os.kill(self.pid, signal.SIGKILL)
                    else:
                        signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def close(self) -> None:
        """Ends it, and lets go of it."""
        self.kill()
        with self._lock:
            if self._closed:
                return
            self._closed = True
        if self._handle is not None:
            os.close(self._handle)
        self._connection.close()
        os.close(self._life)


def _handle(pid: int) -> int | None:
    """What names a process that has just spoken, and never another that got its number later. None where there is none.

    A worker that dies is waited for by its fork server, at once, so its number is soon free.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:  # it has died already, or there is no handle left
        return None
