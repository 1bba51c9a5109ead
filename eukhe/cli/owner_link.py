"""A client's way to the chat's owner, as its actors have it: one thread that finds it, speaks with it, finds the next.

Of an order it is never asked which owner it is for: what was sent before the courier has heard of an owner is for the
one before, and goes nowhere. The courier sends again what was not answered.
"""

import threading
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from queue import Empty, SimpleQueue

from eukhe.actors.ports import OwnerEvent, OwnerFound, OwnerLost, OwnerSaid
from eukhe.actors.wire import decode, encode
from eukhe.cli.asking import Line
from eukhe.cli.command import Given
from eukhe.cli.service import Way
from eukhe.errors import Bug, ExpectedError, OwnerGone
from eukhe.limits import CLIENT_END_S, OWNERS_LOST_MAX
from eukhe.world.home import make_home

Heard = Callable[[OwnerEvent], None]


class RealOwnerLink:
    """Implements `OwnerLink`. The owner is one in the background, or with `--no-service` this process, on that thread.

    `bug`: what that owner broke by, or this thread, if one did.
    """

    def __init__(self, given: Given) -> None:
        self.bug: Bug | None = None
        self._given = given
        self._lock = threading.Lock()
        self._orders: SimpleQueue[tuple[str, bytes]] = SimpleQueue()
        self._line: Line | None = None
        self._unmet = 0  # owners that were found, and not heard of yet by whoever sends
        self._closed = False
        self._thread: threading.Thread | None = None

    def open(self, heard: Heard) -> None:
        with self._lock:
            if self._unmet:
                self._unmet -= 1
                return
            assert self._thread is None, "it looks for the owner already"
            self._thread = threading.Thread(target=self._run, args=(heard,), name="owner link", daemon=True)
            self._thread.start()

    def send(self, to: str, data: bytes) -> None:
        with self._lock:
            if self._line is not None and not self._unmet:
                self._orders.put((to, data))
                self._line.wake()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._line is not None:
                self._line.wake()
            thread = self._thread
        if thread is not None:
            thread.join(CLIENT_END_S)  # one that looks for an owner that is stopped would take longer

    # --- the thread ---

    def _run(self, heard: Heard) -> None:
        try:
            with ExitStack() as stack:
                self._find_and_serve(Way(self._given, make_home(self._given.home), stack), heard)
            return
        except ExpectedError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001, a thread that ends without a word leaves its client waiting for ever
            self.bug = error if isinstance(error, Bug) else _bug(error)
            why = f"a fault of eukhe: {self.bug}"
        with self._lock:
            self._thread = None
        heard(OwnerLost(why))

    def _find_and_serve(self, way: Way, heard: Heard) -> None:
        lost = 0  # owners, since the last answer
        while not self._closed:
            line = way.find()
            with self._lock:
                self._line = line
                self._unmet += 1
            heard(OwnerFound(line.pid))
            try:
                answered = self._serve(line, heard)
            finally:
                self._let_go(line)
            lost = 1 if answered else lost + 1
            if lost > OWNERS_LOST_MAX:
                raise OwnerGone(f"{lost} owners of the chat ended before they answered; owner.log may say why")

    def _serve(self, line: Line, heard: Heard) -> bool:
        """Carries what there is to carry, until the owner is gone or the link is closed. Whether it answered."""
        answered = False
        while not self._closed:
            self._send_all(line)
            try:
                said = line.hear(None)
            except TimeoutError:
                continue
            except OwnerGone:
                break
            answered = True
            heard(OwnerSaid(encode(said)))
        return answered

    def _send_all(self, line: Line) -> None:
        while True:
            try:
                to, data = self._orders.get_nowait()
            except Empty:
                return
            line.tell(to, decode(data))

    def _let_go(self, line: Line) -> None:
        """Nothing is sent to it any more; what waits was for it, and is sent again to the next."""
        with self._lock:
            self._line = None
            self._orders = SimpleQueue()
        line.close()


def _bug(error: Exception) -> Bug:
    return Bug(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))
