"""A machine with one chat: its disk, clock, lock and address outlive every owner; clients come and go.

Everything is drawn from the options: what is logged, what fails, when an owner dies, in which order things happen.
"""

import errno
import os
from itertools import count

from eukhe.errors import IndexFailed, StoreError
from eukhe.model.saved_view import VIEW_FILE
from eukhe.sim.clients import Client
from eukhe.sim.clock import SimClock
from eukhe.sim.disk import Crash, SimDisk
from eukhe.sim.faults import Faults
from eukhe.sim.index import IndexFile
from eukhe.sim.lock import SimLock
from eukhe.sim.models import Voice
from eukhe.sim.options import Options
from eukhe.sim.owner import Owner
from eukhe.sim.provider import Provider
from eukhe.sim.scheduler import Scheduler
from eukhe.sim.sockets import Network
from eukhe.sim.talker import Talker
from eukhe.sim.texts import Texts
from eukhe.sim.watch import Watch


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
        self.voice = Voice(self.faults, self.provider)
        self.watch = watch(options.limits, self.faults, self.provider, self.disk)
        self.text = Texts(self.scheduler.random, self.faults, options.messages)
        self.finishing = False
        self.owner: Owner | None = None
        self.owners: list[Owner] = []
        self.clients: list[Client] = []
        self.talkers: list[Talker] = []
        self._processes = count(1)
        self._names = count(1)
        self.power_goes = False  # at the disk's next crash
        self.read_fails_in: int | None = None  # so many reads of an owner's
        for _ in range(options.clients):
            self.comes()
        for _ in range(options.talkers):
            self.talks()

    # --- processes ---

    def comes(self) -> None:
        """A new client."""
        self.clients.append(Client(self, f"client-{next(self._names)}", self.options.think_s))

    def replace(self, client: Client) -> None:
        """A client dies, and its user begins another."""
        client.die()
        self.clients.remove(client)
        self.comes()

    def talks(self) -> None:
        """A new user, who talks."""
        self.talkers.append(Talker(self, f"talker-{next(self._names)}"))

    def ends(self, talker: Talker) -> None:
        """One has ended, or is killed."""
        talker.die()
        self.talkers.remove(talker)

    def replace_talker(self, talker: Talker) -> None:
        self.ends(talker)
        self.talks()

    def start_owner(self) -> None:
        owner = Owner(self, next(self._processes))
        self.owners.append(owner)

    def leaves(self, owner: Owner) -> None:
        """An owner has ended, or did not become one."""
        held_lock = owner is self.owner
        self._vanishes(owner)
        if held_lock:
            self.disk.ends()
            self.watch.gone()

    def _vanishes(self, owner: Owner) -> None:
        """Its process is there no more, and holds the lock no more."""
        owner.vanish()
        self.owners.remove(owner)
        if owner is self.owner:
            self.owner = None
            self.lock.release(owner.process)
            self.index.full = False

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
        if self.owner is not None:
            self._vanishes(self.owner)
        self.power_goes = False
        if power:
            self._lose_power()
        else:
            self.disk.kill(self.scheduler.random)
        self.watch.gone()

    def _lose_power(self) -> None:
        """Who would like to own the chat is gone, too, and so is every client; the disk keeps what it keeps."""
        for other in self.owners.copy():
            self._vanishes(other)
        for client in self.clients.copy():
            self.replace(client)
        for talker in self.talkers.copy():
            self.replace_talker(talker)
        if self.disk.lose_power(self.scheduler.random):
            self.faults.meet("power")
        self.index.lose_power(self.scheduler.random)

    def at_start(self) -> None:
        """An owner comes: what is no truth may be gone."""
        self.watch.before_start()
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
        self.index.heal()
        self.clock.drift = 0.0
        self.change_key()
        self.provider.heal()
        self.network.release()
        if self.owner is not None and self.options.is_limited:
            self.owner.end()  # the next one may order as many lines as there are
        self.scheduler.thaw()
        for client in self.clients:
            client.ask_again_from(self.clock.monotonic_s())
        for talker in self.talkers:
            talker.ask_again_from(self.clock.monotonic_s())
