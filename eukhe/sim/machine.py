"""A machine with one chat: its disk, clock, lock and address outlive every owner; clients come and go.

Everything is drawn from the options: what is logged, what fails, when an owner dies, in which order things happen.
"""

import errno
import os
from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from eukhe.actors.behaviour import EDGE, Behaviour, Effect
from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import Begin, Begun, End, Ended, Leaving, Msg, OwnerFailed, Resume
from eukhe.actors.opening import open_chat
from eukhe.actors.supervisor import NAME as SUPERVISOR
from eukhe.errors import IndexFailed, StoreError
from eukhe.model.saved_view import VIEW_FILE
from eukhe.sim.checks import CheckFailed
from eukhe.sim.clients import Client
from eukhe.sim.clock import SimClock
from eukhe.sim.disk import Crash, SimDisk
from eukhe.sim.faults import Faults
from eukhe.sim.index import IndexFile, SimIndex
from eukhe.sim.lock import SimLock
from eukhe.sim.options import Options
from eukhe.sim.provider import MODEL, Provider
from eukhe.sim.runtime import SimSystem
from eukhe.sim.scheduler import Scheduler
from eukhe.sim.sockets import Network, SimSockets
from eukhe.sim.texts import Texts
from eukhe.sim.watch import Watch
from eukhe.sim.workers import SimWorkers

CHECKPOINT_MESSAGES: Final = 5  # number: often, in a short chat


class OwnerDisk:
    """Implements `Disk` for one process: the machine's, as long as the process holds the lock."""

    def __init__(self, machine: "Machine", process: int) -> None:
        self._machine = machine
        self._lock = machine.lock
        self._disk = machine.disk
        self._process = process
        self.names, self.length = machine.disk.names, machine.disk.length

    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        self._machine.reads(path)
        return self._disk.read(path, offset, length)

    def append(self, path: str, data: bytes) -> None:
        self._may_write(path)
        self._disk.append(path, data)

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        self._may_write(path)
        self._disk.replace(path, data, sync)

    def _may_write(self, path: str) -> None:
        if self._lock.holder != self._process:
            raise CheckFailed("one-writer", f"process {self._lock.holder} alone writes", f"{self._process}: {path}")


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


class Owner:
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

    def waiting(self) -> object | None:
        return None if self.doing is None else self.doing.__name__

    def step(self) -> None:
        doing, self.doing = self.doing, None
        assert doing is not None
        doing()

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
        whole = open_chat(machine.disk, SimIndex(IndexFile()), limits, owner=False)
        index = SimIndex(machine.index)
        try:
            opened = open_chat(self.disk, index, limits, owner=True)
        except (StoreError, IndexFailed) as error:
            machine.could_not_open(error)
            machine.leaves(self)
            return
        machine.watch.started(machine.disk, opened, whole)
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
        if self.workers is not None:
            self.workers.crash()
        if self.sockets is not None:
            self.sockets.crash()


class Machine:
    """`owner`: the process that holds the lock; `owners`: it, and those that would like to. `finishing`: clients
    only end what they began.
    """

    def __init__(self, options: Options, watch: type[Watch] = Watch) -> None:
        self.options = options
        self.faults = Faults(options.seed, options.odds, options.kept)
        self.clock = SimClock()
        self.scheduler = Scheduler(options.seed, self.clock)
        self.disk = SimDisk()
        self.index = IndexFile()
        self.lock = SimLock()
        self.network = Network(self.scheduler, self.faults)
        self.provider = Provider(self.faults, self.clock, options.call_s)
        self.watch = watch(options.limits, self.faults, self.provider, self.disk)
        self.disk.synced = self.watch.ledger.synced
        self.text = Texts(self.scheduler.random, self.faults, options.messages)
        self.finishing = False
        self.owner: Owner | None = None
        self.owners: list[Owner] = []
        self.clients: list[Client] = []
        self._processes = count(1)
        self._names = count(1)
        self.power_goes = False  # at the disk's next crash
        self.read_fails_in: int | None = None  # so many reads of an owner's
        for _ in range(options.clients):
            self.comes()

    # --- processes ---

    def comes(self) -> None:
        """A new client."""
        self.clients.append(Client(self, f"client-{next(self._names)}", self.options.think_s))

    def replace(self, client: Client) -> None:
        """A client dies, and its user begins another."""
        client.die()
        self.clients.remove(client)
        self.comes()

    def start_owner(self) -> None:
        owner = Owner(self, next(self._processes))
        self.owners.append(owner)

    def leaves(self, owner: Owner) -> None:
        """An owner has ended, or did not become one."""
        owner.vanish()
        self.owners.remove(owner)
        if self.owner is owner:
            self.owner = None
            self.lock.release(owner.process)
            self.disk.ends()
            self.index.full = False
            self.watch.crashed(self.disk)

    def reads(self, path: str) -> None:
        """An owner reads; StoreError where that is to fail."""
        if self.read_fails_in is None:
            return
        self.read_fails_in -= 1
        if self.read_fails_in == 0:
            self.read_fails_in = None
            self.faults.meet("read-error")
            raise StoreError(path, errno.EIO, os.strerror(errno.EIO))

    def could_not_open(self, error: StoreError | IndexFailed) -> None:
        self.faults.meet("disk-error" if isinstance(error, StoreError) else "index-full")

    # --- steps ---

    def step(self) -> bool:
        """One step of the machine; False where nothing can run."""
        try:
            return self.scheduler.step()
        except Crash:
            self.faults.meet("power-in-write" if self.power_goes else "kill-in-write")
            self.crash(power=self.power_goes)
            return True

    def crash(self, *, power: bool) -> None:
        """The owner is gone in the midst of what it does; with the power, everybody is."""
        owner = self.owner
        if owner is not None:
            owner.vanish()
            self.owners.remove(owner)
            self.owner = None
            self.lock.release(owner.process)
        self.power_goes = False
        self.index.full = False
        if power:
            for other in self.owners:
                other.vanish()
            self.owners.clear()
            for client in self.clients.copy():
                self.replace(client)
            if self.disk.lose_power(self.scheduler.random):
                self.faults.meet("power")
            self.index.lose_power(self.scheduler.random)
        else:
            self.disk.kill(self.scheduler.random)
        self.watch.crashed(self.disk)

    def at_start(self) -> None:
        """An owner comes: what is no truth may be gone."""
        self.watch.before_start(self.disk)
        if self.faults.strikes("index-lost"):
            if self.index.tables.next_id:
                self.faults.meet("index-lost")
            self.index.clear()
        if self.faults.strikes("view-lost"):
            dice = self.faults.dice("view-lost")
            if self.disk.length(VIEW_FILE):
                self.faults.meet("view-lost")
            self.disk.change(VIEW_FILE, dice.choice((None, b"", b"[[0, 0], [0,", b"[[3, 7]]")))

    # --- faults ---

    def change_key(self) -> None:
        """The user gives a key that is right."""
        if self.provider.key_is_bad:
            self.provider.key_is_bad = False
            if self.owner is not None:
                self.owner.tell_key()

    def calm(self) -> None:
        """No fault is injected any more, and those that last end."""
        self.faults.quiet = True
        self.finishing = True
        self.disk.crash_at = self.disk.fail_at = self.read_fails_in = None
        self.index.full = False
        self.clock.drift = 0.0
        self.change_key()
        self.provider.heal()
        self.network.release()
        if self.owner is not None and self.options.builds is not None:
            self.owner.end()  # the next one may order as many lines as there are
        self.scheduler.thaw()
        for client in self.clients:
            client.ask_again_from(self.clock.monotonic_s())
