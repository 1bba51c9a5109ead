"""Actors on one thread, which go on when the scheduler says so.

pykka's own loop runs, a turn of it a step: the inbox hands over one envelope and then leaves the loop, so replies,
failures and stopping are pykka's. An actor's step is to take its oldest message, or to perform the next effect of the
one it took; while effects are left it takes none. Every message is encoded and decoded on its way, as it is between
processes.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, ClassVar

import pykka

from eukhe.actors.behaviour import EDGE, Behaviour, Effect
from eukhe.actors.host import Host
from eukhe.actors.messages import Begin, Begun, Crashed, End, Ended, Failed, Msg, OwnerFailed
from eukhe.actors.ports import Clock, Disk, NoSockets, Outside, Sockets, Workers
from eukhe.actors.supervisor import NAME as SUPERVISOR
from eukhe.actors.supervisor import Supervisor
from eukhe.actors.wire import decode, encode
from eukhe.errors import Bug, IndexFailed, StoreError
from eukhe.sim.disk import Halt
from eukhe.sim.scheduler import Scheduler

ExcInfo = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]


class _LoopLeft(Exception):
    """A turn of pykka's loop is over."""


class _GoOn:
    """To an actor: perform the next effect."""


class SimInbox:
    """Hands over one envelope for each `open`, and all that are left once the actor is `closed`."""

    def __init__(self) -> None:
        self.envelopes: deque[Any] = deque()
        self.opened = self.closed = False

    def put(self, envelope: Any, /) -> None:
        self.envelopes.append(envelope)

    def empty(self) -> bool:
        return not self.envelopes

    def get(self) -> Any:
        if not self.opened and not self.closed:
            raise _LoopLeft
        self.opened = False
        return self.envelopes.popleft()


class SimFuture(pykka.Future[Any]):
    """`get` makes the scheduler go on until there is a result. One that only passes another's on needs no scheduler."""

    def __init__(self, scheduler: Scheduler | None = None) -> None:
        super().__init__()
        self._scheduler = scheduler
        self._outcome: tuple[Any, BaseException | None] | None = None

    def get(self, *, timeout: float | None = None) -> Any:
        """Bug within a step; Deadlock where nothing can run any more. `timeout` is not looked at: time stands still."""
        if self._scheduler is None:
            return super().get(timeout=timeout)
        self._scheduler.until(lambda: self._outcome is not None)
        assert self._outcome is not None
        value, error = self._outcome
        if error is not None:
            raise error
        return value

    def set(self, value: Any = None) -> None:
        assert self._outcome is None, "a second result"
        self._outcome = value, None

    def set_exception(self, exc_info: ExcInfo | None = None) -> None:
        assert self._outcome is None, "a second result"
        _, error, _ = exc_info or sys.exc_info()
        self._outcome = None, error


class SimHost(Host):
    """A host that takes a step at a time. Each scheduler has a class of its own: see `hosts_of`."""

    scheduler: ClassVar[Scheduler]
    whose: ClassVar[str]
    actor_inbox: SimInbox

    def __init__(self, name: str, make: Callable[[], Behaviour], system: "SimSystem") -> None:
        super().__init__(name, make, system)
        self._begun = False
        self._left: Iterator[Effect] = iter(())  # those after the next
        self._next: Effect | None = None
        self._halt: Halt | None = None

    def waiting(self) -> object | None:
        if not self._begun:
            return "start"
        return self._next or (None if self.actor_inbox.empty() else self.actor_inbox.envelopes[0].message)

    def step(self) -> None:
        if not self._begun:
            self._begun = True
            self._actor_loop_setup()
            return
        if self._next is not None:
            self.actor_ref.tell(_GoOn())
            self.actor_inbox.envelopes.rotate()  # the last one first: nothing comes between an actor's effects
        self.actor_inbox.opened = True
        try:
            self._actor_loop_running()
        except _LoopLeft:
            if self._halt is not None:
                raise self._halt from None
            return
        self.actor_inbox.closed = True
        self._actor_loop_teardown()
        self.scheduler.remove(self.whose + self.name)

    def on_receive(self, message: Any) -> None:
        if not isinstance(message, _GoOn):
            self._left = self._effects(message)
        try:
            self._next = next(self._left, None)
        except Halt as halt:  # no failure of the actor's: everything stops
            self._halt = halt

    def _effects(self, message: Msg) -> Iterator[Effect]:
        """What `Host.on_receive` does, an effect at a time: each is yielded, then performed."""
        try:
            for effect in self.decide(message):
                yield effect
                self.perform(effect)
        except (StoreError, IndexFailed) as error:
            for effect in self.decide(Failed(str(error))):
                yield effect
                self.perform(effect)

    @staticmethod
    def _create_actor_inbox() -> SimInbox:
        return SimInbox()

    @classmethod
    def _create_future(cls) -> SimFuture:
        return SimFuture(cls.scheduler)

    def _start_actor_loop(self) -> None:
        self.scheduler.add(self, self.whose + self.name)


def hosts_of(scheduler: Scheduler, whose: str = "") -> type[SimHost]:
    """The class of a scheduler's actors: pykka asks an actor's class for its futures. `whose`: see `SimSystem`."""

    class Hosted(SimHost):
        pass

    Hosted.scheduler = scheduler
    Hosted.whose = whose
    return Hosted


class SimSystem:
    """A system of actors on one thread. `makers`: the behaviours by name, in the order in which they start.

    `watch` is told of every message as it is sent. `heard`: what was sent to the edge, which asks by `ask`. `whose`:
    stands before its actors' names in the scheduler, where another system has actors of these names.
    """

    def __init__(
        self,
        makers: Mapping[str, Callable[[], Behaviour]],
        disk: Disk,
        clock: Clock,
        workers: Workers,
        scheduler: Scheduler,
        sockets: Sockets | None = None,
        watch: Callable[[str, Msg], None] | None = None,
        outside: Outside | None = None,
        whose: str = "",
    ) -> None:
        self.disk = disk
        self.clock = clock
        self.workers = workers
        self.sockets = sockets or NoSockets()
        self.outside = outside
        self.scheduler = scheduler
        self.whose = whose
        self.heard: list[Msg] = []
        self._tickets = count(1)
        self.actors: dict[str, pykka.ActorRef[SimHost]] = {}
        self._host = hosts_of(scheduler, whose)
        self._watch = watch
        self._makers = {**makers, SUPERVISOR: lambda: Supervisor(tuple(makers), EDGE)}
        self.start(SUPERVISOR)

    def begin(self) -> None:
        """Starts every actor; returns when all have answered. Bug where one crashed."""
        assert isinstance(self.ask(SUPERVISOR, Begin), Begun)

    def end(self) -> None:
        """Lets every actor finish what it was told, and stops it. Bug where one of them crashed."""
        ended = self.ask(SUPERVISOR, End, even_failed=True)
        assert isinstance(ended, Ended)
        for actor in self.actors.values():
            actor.stop()
        if ended.why:
            raise Bug(ended.why)

    def crash(self) -> None:
        """All actors are gone where they stand, with their messages and timers."""
        for actor in self.actors.values():
            pykka.ActorRegistry.unregister(actor)
            actor.actor_stopped.set()
        self.scheduler.forget({self.whose + name for name in self.actors})

    def ask(self, to: str, order: Callable[[str, int], Msg], *, even_failed: bool = False) -> Msg:
        """Tells an order made with the edge's name and a ticket, and goes on until its answer is there.

        Bug where an actor crashes, unless the answer is wanted `even_failed`.
        """
        ticket = next(self._tickets)

        def answered() -> Msg | None:
            for message in self.heard:
                match message:
                    case OwnerFailed(why):
                        if not even_failed:
                            raise Bug(why)
                    case _ if getattr(message, "ticket", None) == ticket:  # else nobody asked for it here
                        return message
            return None

        self.tell(to, order(EDGE, ticket))
        self.scheduler.until(lambda: answered() is not None)
        answer = answered()
        assert answer is not None
        return answer

    # --- what hosts ask ---

    def tell(self, to: str, message: Msg) -> None:
        """Puts a message into a mailbox. An actor that has stopped gets none."""
        data = encode(message)
        # What a crash tells is no part of what happened: its lines and paths are this machine's.
        crash = isinstance(message, Crashed | OwnerFailed | Ended)
        self.scheduler.count(to.encode() + (type(message).__name__.encode() if crash else data))
        message = decode(data)
        if self._watch is not None:
            self._watch(to, message)
        if to == EDGE:
            self.heard.append(message)
        elif self.actors[to].is_alive():
            self.actors[to].tell(message)

    def start(self, name: str) -> None:
        self.actors[name] = self._host.start(name, self._makers[name], self)

    def stop(self, name: str) -> None:
        self.actors[name].stop(block=False)

    def set_timer(self, owner: str, name: str, after_s: float, message: Msg) -> None:
        self.scheduler.set_timer((self.whose + owner, name), after_s, partial(self.tell, owner, message))

    def cancel_timer(self, owner: str, name: str) -> None:
        self.scheduler.cancel_timer((self.whose + owner, name))
