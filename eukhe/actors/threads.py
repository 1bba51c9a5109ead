"""Production: each actor on a thread of its own, timers on one more, and the edge where the program asks.

Actors only tell. The program outside them asks through an `Edge`, a mailbox with a limit on each wait.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

import pykka

from eukhe.actors.behaviour import EDGE, Behaviour
from eukhe.actors.host import Host
from eukhe.actors.messages import Begin, Begun, End, Ended, Msg, OwnerFailed
from eukhe.actors.ports import Clock, Disk, NoSockets, Outside, Sockets, Workers
from eukhe.actors.supervisor import NAME as SUPERVISOR
from eukhe.actors.supervisor import Supervisor
from eukhe.errors import Bug
from eukhe.limits import BEGIN_WAIT_S, EDGE_WAIT_S, TIMERS_STALE_MAX


class ThreadHost(Host, pykka.ThreadingActor):
    """A host on a thread, which ends with the process."""

    use_daemon_thread = True

    @staticmethod
    def _create_actor_inbox() -> SimpleQueue[Any]:
        """A mailbox that costs less than pykka's own, a `Queue`: an append waits for three hand-overs."""
        return SimpleQueue()


class Edge:
    """The program's own mailbox. One thread asks; what is not the answer that it waits for has its turn later."""

    def __init__(self, tell: Callable[[str, Msg], None]) -> None:
        self.tell = tell
        self.mail: SimpleQueue[Msg] = SimpleQueue()
        self.tickets = count(-1, -1)  # whoever numbers orders and hears for itself, as a command does, counts from 1
        self.early: dict[int, Msg] = {}
        self.unasked: deque[Msg] = deque()

    def ticket(self) -> int:
        return next(self.tickets)

    def hear(self, wait_s: float | None) -> Msg:
        """The next message. TimeoutError where none comes; Bug where the system goes down.

        `wait_s`: None for as long as it takes.
        """
        message = self.unasked.popleft() if self.unasked else self._next(wait_s)
        if isinstance(message, OwnerFailed):
            raise _bug(message.why)
        return message

    def answer(self, ticket: int, wait_s: float = EDGE_WAIT_S, *, even_failed: bool = False) -> Msg:
        """The answer to a ticket. TimeoutError when it does not come; Bug where the system goes down.

        `even_failed`: the answer comes also from a system that goes down.
        """
        while ticket not in self.early:
            match self._next(wait_s):
                case OwnerFailed(why):
                    if not even_failed:
                        raise _bug(why)
                case message:
                    if (answered := getattr(message, "ticket", None)) is None:
                        self.unasked.append(message)
                    else:
                        self.early[answered] = message
        return self.early.pop(ticket)

    def _next(self, wait_s: float | None) -> Msg:
        try:
            return self.mail.get(timeout=wait_s)
        except Empty:
            raise TimeoutError(f"no answer within {wait_s} s") from None

    def ask(self, to: str, order: Callable[[str, int], Msg], wait_s: float = EDGE_WAIT_S) -> Msg:
        """Tells an order made with this mailbox's name and a ticket, and waits for its answer."""
        ticket = self.ticket()
        self.tell(to, order(EDGE, ticket))
        return self.answer(ticket, wait_s)


class Threads:
    """A system of actors on threads. `makers`: the behaviours by name, in the order in which they start."""

    def __init__(
        self,
        makers: Mapping[str, Callable[[], Behaviour]],
        disk: Disk,
        clock: Clock,
        workers: Workers,
        sockets: Sockets | None = None,
        outside: Outside | None = None,
    ) -> None:
        self.disk = disk
        self.clock = clock
        self.workers = workers
        self.sockets = sockets or NoSockets()
        self.outside = outside
        self.makers = dict(makers)
        self.actors: dict[str, pykka.ActorRef[ThreadHost]] = {}
        self.timers = Timers(self.tell, clock)
        self.edge = Edge(self.tell)
        self.makers[SUPERVISOR] = lambda: Supervisor(tuple(makers), EDGE)
        self.start(SUPERVISOR)

    def begin(self) -> None:
        """Starts every actor; returns when all have answered."""
        assert isinstance(self.edge.ask(SUPERVISOR, Begin, BEGIN_WAIT_S), Begun)

    def end(self) -> None:
        """Lets every actor finish what it was told, and stops it. Bug where one of them crashed."""
        ticket = self.edge.ticket()
        self.tell(SUPERVISOR, End(EDGE, ticket))
        try:
            ended = self.edge.answer(ticket, even_failed=True)
        finally:
            self.timers.stop()
            for actor in self.actors.values():
                actor.stop()
        assert isinstance(ended, Ended)
        if ended.why:
            raise _bug(ended.why)

    def tell(self, to: str, message: Msg) -> None:
        """Puts a message into a mailbox. An actor that has stopped gets none: whoever stopped it wants nothing more."""
        if to == EDGE:
            self.edge.mail.put(message)
            return
        try:
            self.actors[to].tell(message)
        except pykka.ActorDeadError:
            return

    def start(self, name: str) -> None:
        self.actors[name] = ThreadHost.start(name, self.makers[name], self)

    def stop(self, name: str) -> None:
        self.actors[name].stop(block=False)

    def set_timer(self, owner: str, name: str, after_s: float, message: Msg) -> None:
        self.timers.set((owner, name), after_s, message)

    def cancel_timer(self, owner: str, name: str) -> None:
        self.timers.cancel((owner, name))


def _bug(told: str) -> Bug:
    return Bug(told.partition("\n")[0], told)


class Timers:
    """Tells messages later, on one thread, begun with the first timer.

    `current`: timer -> the number of its setting; an entry of the heap whose number is not current was taken back.
    """

    def __init__(self, tell: Callable[[str, Msg], None], clock: Clock) -> None:
        self.tell = tell
        self.clock = clock
        self.changed = threading.Condition()
        self.heap: list[tuple[float, int, tuple[str, str], Msg]] = []
        self.current: dict[tuple[str, str], int] = {}
        self.numbers = count()
        self.thread: threading.Thread | None = None
        self.stopped = False

    def set(self, timer: tuple[str, str], after_s: float, message: Msg) -> None:
        """`timer`: the actor told, and its own name for the timer."""
        with self.changed:
            number = next(self.numbers)
            self.current[timer] = number
            entry = (self.clock.monotonic_s() + after_s, number, timer, message)
            heappush(self.heap, entry)
            if len(self.heap) > TIMERS_STALE_MAX + 2 * len(self.current):
                self.heap = [entry for entry in self.heap if self.current.get(entry[2]) == entry[1]]
                heapify(self.heap)
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="timers", daemon=True)
                self.thread.start()
            elif self.heap[0] is entry:
                self.changed.notify()

    def cancel(self, timer: tuple[str, str]) -> None:
        with self.changed:
            self.current.pop(timer, None)

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify()
        if self.thread is not None:
            self.thread.join()

    def _run(self) -> None:
        while True:
            with self.changed:
                if self.stopped:
                    return
                wait_s = self.heap[0][0] - self.clock.monotonic_s() if self.heap else None
                if wait_s is None or wait_s > 0:
                    # What a provider says may be further away than a thread can wait at a time.
                    self.changed.wait(None if wait_s is None else min(wait_s, threading.TIMEOUT_MAX))
                    continue
                _, number, timer, message = heappop(self.heap)
                if self.current.get(timer) != number:
                    continue
                del self.current[timer]
            self.tell(timer[0], message)
