"""A process that owns the chat, or would like to: what it does from its start to its end, or until it dies."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from eukhe.actors.behaviour import EDGE, Behaviour, Effect
from eukhe.actors.ledger import NO_LIMIT
from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import Begin, Begun, End, Ended, Leaving, Msg, OwnerFailed, Resume
from eukhe.actors.opening import open_chat
from eukhe.actors.supervisor import NAME as SUPERVISOR
from eukhe.errors import IndexFailed, StoreError
from eukhe.sim.index import SimIndex
from eukhe.sim.money import SimPrices
from eukhe.sim.process_disk import OwnerDisk
from eukhe.sim.provider import MODEL
from eukhe.sim.runtime import SimSystem
from eukhe.sim.scheduler import Doer
from eukhe.sim.sockets import SimSockets
from eukhe.sim.workers import SimWorkers

if TYPE_CHECKING:
    from eukhe.sim.machine import Machine

CHECKPOINT_MESSAGES: Final = 5  # number: often, in a short chat


class _Raising:
    """Stands around a behaviour, and raises in its place when that is injected."""

    def __init__(self, owner: "Owner", name: str, behaviour: Behaviour) -> None:
        self._owner = owner
        self._name = name
        self._behaviour = behaviour

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        if self._owner.raises_in == self._name:
            self._owner.raises_in = None
            self._owner.machine.watch.raised = True
            raise RuntimeError("injected")
        return self._behaviour.receive(message, now)


class Owner(Doer):
    """A process that would own the chat: it takes the lock, opens the chat, begins, and ends when it is told to.

    A step of it is the next of these; what its actors do are steps of their own.
    """

    def __init__(self, machine: "Machine", process: int) -> None:
        self.machine = machine
        self.process = process
        self.name = f"owner-{process}"
        self.disk = OwnerDisk(machine, process)
        self.system: SimSystem | None = None
        self.up = False  # all its actors are
        self.key_changed = False
        self.names: tuple[str, ...] = ()
        self.raises_in: str | None = None  # the actor whose next message makes it raise
        self.ending = False
        self.sockets: SimSockets | None = None
        self.workers: SimWorkers | None = None
        self.doing: Callable[[], None] | None = self._lock
        machine.scheduler.add(self)

    def _lock(self) -> None:
        if not self.machine.lock.take(self.process):
            self.machine.faults.meet("race")
            self.machine.leaves(self)
            return
        self.machine.owner = self
        self.doing = self._open

    def _open(self) -> None:
        """Reads the chat. What it begins with is what the files say; then its actors begin."""
        machine, limits = self.machine, self.machine.options.limits
        machine.at_start()
        alone = machine.watch.alone()
        index = SimIndex(machine.index)
        try:
            opened = open_chat(self.disk, index, limits, owner=True)
        except (StoreError, IndexFailed) as error:
            machine.could_not_open(error)
            machine.leaves(self)
            return
        machine.watch.started(opened, alone)
        self.sockets = SimSockets(machine.network)
        self.workers = SimWorkers(machine.scheduler, machine.provider.fate, machine.faults.meet, limits.jobs)
        makers = owner_makers(
            opened,
            self.disk,
            machine.clock,
            index,
            SimIndex(machine.index),
            MODEL,
            builds=None if machine.finishing else machine.options.builds,
            checkpoint_messages=CHECKPOINT_MESSAGES,
            gated=machine.options.gated,
            paid=machine.options.paid,
            prices=SimPrices(),
            spending=NO_LIMIT if machine.finishing else machine.options.spending,
            session=self.name,
            door=True,
            leaves_when_idle=True,
            pid=self.process,
        )
        self.names = tuple(makers)
        watched = {name: self._watched(name, make) for name, make in makers.items()}
        self.system = SimSystem(
            watched, self.disk, machine.clock, self.workers, machine.scheduler, self.sockets, watch=self._told
        )
        self.system.tell(SUPERVISOR, Begin(EDGE, 0))

    def _watched(self, name: str, make: Callable[[], Behaviour]) -> Callable[[], Behaviour]:
        return lambda: _Raising(self, name, self.machine.watch.wraps(name, make()))

    def _told(self, to: str, message: Msg) -> None:
        if to == EDGE:
            if isinstance(message, Begun):
                self.up = True
                if self.key_changed:
                    self.tell_key()
            elif isinstance(message, (Leaving, OwnerFailed)):
                self.end()
            elif isinstance(message, Ended):
                self.doing = self._leave
        self.machine.watch.told(to, message)

    def end(self) -> None:
        """It is to end, once it is there to be told so."""
        if self.system is not None and not self.ending:
            self.ending = True
            self.doing = self._end

    def _end(self) -> None:
        assert self.system is not None
        self.system.tell(SUPERVISOR, End(EDGE, 1))

    def tell_key(self) -> None:
        """There is another key, which is told once all actors are up."""
        self.key_changed = True
        if self.up:
            assert self.system is not None
            self.system.tell("planner", Resume(changed=True))

    def _leave(self) -> None:
        self.machine.leaves(self)

    def vanish(self) -> None:
        """The process is gone where it stands."""
        self.machine.scheduler.forget((self.name,))
        if self.system is not None:
            self.system.crash()
            self.machine.scheduler.thaw()  # it may have been stopped
        if self.workers is not None:
            self.workers.crash()
        if self.sockets is not None:
            self.sockets.crash()
