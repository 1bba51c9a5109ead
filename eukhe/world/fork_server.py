"""The fork server, from the owner's side: a process of which workers are forked, and how one is asked for.

It is started with nothing of the owner's but its ends of a socket and of a pipe, and with an environment that holds no
keys. multiprocessing's own fork server would be neither: it and its resource tracker get the whole environment, which
stays readable in /proc; each of its workers runs the program's main module anew, which costs 15 ms; a start has no
limit; it is one for the whole program, and nothing public ends it.
"""

import os
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import NamedTuple

from eukhe.limits import WORKER_REPLY_BYTES_MAX
from eukhe.world.environment import of_workers
from eukhe.world.worker_wire import WorkerFailed

_MAIN = "import sys; sys.path[:] = {path!r}; from eukhe.worker import serve; serve({control}, {life}, {models!r})"


class Forked(NamedTuple):
    """A new worker. `life`: a handle of the pipe whose last one held here keeps the server's processes alive."""

    pid: int
    connection: Connection
    life: int


class ForkServer:
    """One such process, begun when it is made; OSError where it can't be.

    Its workers may outlive it, but never this process. `models`: whose calls its workers will make, most likely.
    """

    def __init__(self, models: tuple[str, ...] = ()) -> None:
        self._lock = threading.Lock()
        with ExitStack() as failed, ExitStack() as given:
            self._control, theirs = socket.socketpair()
            failed.enter_context(self._control)
            given.enter_context(theirs)
            life, self._life = os.pipe()
            failed.callback(os.close, self._life)
            given.callback(os.close, life)
            path = [str(Path(entry).absolute()) for entry in sys.path]
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-c",
                    _MAIN.format(path=path, control=theirs.fileno(), life=life, models=models),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # else whoever reads what the owner says would wait for its workers, too
                env=of_workers(os.environ),
                cwd="/",
                pass_fds=(theirs.fileno(), life),
                start_new_session=True,  # a group of its own, which ends as one; no signals from a terminal
            )
            failed.pop_all()
        self.pid = self._process.pid

    def fork(self, wait_s: float) -> Forked:
        """A new worker. WorkerFailed where there is none in time, or ever: the server is of no use then."""
        with ExitStack() as failed:
            try:
                ours, theirs = Pipe()
                failed.enter_context(ours)
                with theirs:
                    life = self._ask(theirs.fileno())
                failed.callback(os.close, life)
                if not ours.poll(wait_s):
                    raise WorkerFailed(f"no worker process started within {wait_s:g} s")
                forked = Forked(int(ours.recv_bytes(WORKER_REPLY_BYTES_MAX)), ours, life)
            except (EOFError, ConnectionError) as error:
                raise WorkerFailed(
                    "the fork server of the workers has ended; `python -c 'import eukhe.worker'` may say why"
                ) from error
            except (OSError, ValueError) as error:
                raise WorkerFailed(f"no worker process could be started: {error}") from error
            failed.pop_all()
        return forked

    def _ask(self, connection: int) -> int:
        """Sends a connection to be a worker's; a new handle of the life."""
        with self._lock:
            socket.send_fds(self._control, [b"f"], [connection])
            return os.dup(self._life)

    def close(self) -> None:
        """Ends it at once, but not its workers. Whoever waits in `fork` for one hears that there is none."""
        with self._lock:
            self._control.close()
            os.close(self._life)
        self._process.kill()
        self._process.wait()
