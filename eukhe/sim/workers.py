"""Model calls that end when they are fated to: at once or hours later, in any order, twice, with an error, never."""

from collections import deque
from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple

from eukhe.actors.ports import CallEvent, Key, Replied, Request, Responding
from eukhe.model.extract import extract
from eukhe.sim.checks import CheckFailed
from eukhe.sim.scheduler import Scheduler

Heard = Callable[[CallEvent], None]


class Fate(NamedTuple):
    """What is heard of a call, and how many seconds after its start; nothing for ever where it never ends.

    `unstoppable`: what is heard comes also after a stop, as what was under way then does.
    """

    events: tuple[tuple[float, CallEvent], ...] = ()
    unstoppable: bool = False


def replying(text: str | None, after_s: float = 0) -> Fate:
    """A call that goes well."""
    return Fate(((after_s, Responding()), (after_s, Replied(text))))


def offline(request: Request, random: Random) -> Fate:
    """A reply at once, by the writer that needs no model."""
    del random
    return replying(extract(request.part, request.sources))


class SimWorkers:
    """Implements `Workers`. `running`: calls that neither ended nor were stopped; `most`: how many at once at most.

    `fate` of a call, drawn with the seed's own dice. `late` is told when an end comes `twice`, or `after-stop`.
    `jobs`: as many may run, None for no limit.
    """

    name = "workers"

    def __init__(
        self,
        scheduler: Scheduler,
        fate: Callable[[Request, Random], Fate] = offline,
        late: Callable[[str], None] = lambda how: None,
        jobs: int | None = None,
    ) -> None:
        self.running: dict[int, Request] = {}
        self.most = 0
        self._scheduler = scheduler
        self._fate = fate
        self._late = late
        self._jobs = jobs
        self._over: dict[int, str] = {}  # calls that have ended, and how the next end of one comes
        self._fates: dict[int, Fate] = {}
        self._due: dict[int, deque[Callable[[], None]]] = {}  # of each call, in their order
        scheduler.add(self)

    def start(self, call: int, request: Request, heard: Heard) -> None:
        assert call not in self.running, f"call {call} runs"
        self.running[call] = request
        self.most = max(self.most, len(self.running))
        if self._jobs is not None and self.most > self._jobs:
            raise CheckFailed("calls-at-most", self._jobs, self.running)
        fate = self._fates[call] = self._fate(request, self._scheduler.random)
        for number, (after_s, event) in enumerate(fate.events):
            happens = partial(self._happens, call, partial(self._hear, call, event, heard))
            self._scheduler.set_timer((self.name, call, number), after_s, happens)

    def stop(self, call: int) -> None:
        """What has happened may still be heard of."""
        self.running.pop(call, None)
        self._over[call] = "after-stop"
        fate = self._fates.pop(call, None)
        if fate is not None and not fate.unstoppable:
            for number in range(len(fate.events)):
                self._scheduler.cancel_timer((self.name, call, number))

    def keep(self, keys: tuple[Key, ...]) -> bool:
        """Scripted models want no key."""
        del keys
        return False

    def crash(self) -> None:
        """All calls end with the process that made them."""
        self.running.clear()
        self._fates.clear()
        self._due.clear()
        self._scheduler.forget((self.name,))

    def waiting(self) -> object | None:
        return f"{len(self._due)} calls are heard of" if self._due else None

    def step(self) -> None:
        call = self._scheduler.random.choice(tuple(self._due))
        happened = self._due[call]
        happened.popleft()()
        if not happened:
            self._due.pop(call, None)

    def _happens(self, call: int, hear: Callable[[], None]) -> None:
        self._due.setdefault(call, deque()).append(hear)

    def _hear(self, call: int, event: CallEvent, heard: Heard) -> None:
        if not isinstance(event, Responding):
            self.running.pop(call, None)
            if call in self._over:
                self._late(self._over[call])
            self._over.setdefault(call, "twice")
        heard(event)
