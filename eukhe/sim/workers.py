"""Model calls, and tools, that end when they are fated to: at once or hours later, in any order, twice, never."""

from collections import deque
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final, Generic, NamedTuple, TypeVar

from eukhe.actors.ports import Broke, CallEvent, Key, Outage, Replied, Request, Responding, ToolEnded, ToolEvent
from eukhe.model.extract import extract
from eukhe.sim.checks import CheckFailed
from eukhe.sim.scheduler import Scheduler

Asked = TypeVar("Asked")
Heard = Callable[[CallEvent], None]
ENDS: Final = (Replied, Broke, Outage, ToolEnded)


class Fate(NamedTuple):
    """What is heard of a call, and how many seconds after its start; nothing for ever where it never ends.

    `unstoppable`: what is heard comes also after a stop, as what was under way then does. `fault`: that struck it.
    """

    events: tuple[tuple[float, CallEvent | ToolEvent], ...] = ()
    unstoppable: bool = False
    fault: str = ""


def replying(text: str | None, after_s: float = 0) -> Fate:
    """A call that goes well."""
    return Fate(((after_s, Responding()), (after_s, Replied(text))))


def offline(request: Request, random: Random) -> Fate:
    """A reply at once, by the writer that needs no model."""
    del random
    return replying(extract(request.part, request.sources))


class SimCalls(Generic[Asked]):
    """`running`: calls that neither ended nor were stopped; `most`: how many at once at most.

    `fate` of a call, drawn with the seed's own dice. `late` is told when an end comes `twice`, or `after-stop`.
    `jobs`: as many may run, None for no limit.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        fate: Callable[[Asked, Random], Fate],
        late: Callable[[str], None] = lambda how: None,
        jobs: int | None = None,
        name: str = "workers",
    ) -> None:
        self.name = name
        self.running: dict[int, Asked] = {}
        self.most = 0
        self._scheduler = scheduler
        self._fate = fate
        self._late = late
        self._jobs = jobs
        self._over: dict[int, str] = {}  # calls that have ended, and how the next end of one comes
        self._fates: dict[int, Fate] = {}
        self._hung: set[int] = set()  # calls of whose end nothing will be heard
        self._due: dict[int, deque[Callable[[], None]]] = {}  # of each call, in their order
        scheduler.add(self)

    def begin(self, call: int, asked: Asked, heard: Callable[[Any], None]) -> None:
        assert call not in self.running, f"call {call} runs"
        self.running[call] = asked
        self.most = max(self.most, len(self.running))
        if self._jobs is not None and self.most > self._jobs:
            raise CheckFailed("calls-at-most", self._jobs, self.running)
        fate = self._fates[call] = self._fate(asked, self._scheduler.random)
        if not any(isinstance(event, ENDS) for _, event in fate.events):
            self._hung.add(call)
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

    def fault_of(self, call: int) -> str:
        """The fault that struck a call which was not stopped, "" for none; asked for once."""
        fate = self._fates.get(call)
        if fate is None or not fate.fault:
            return ""
        self._fates[call] = fate._replace(fault="")
        return fate.fault

    @property
    def hangs(self) -> bool:
        """Whether one runs that never ends."""
        return not self._hung.isdisjoint(self.running)

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

    def _hear(self, call: int, event: CallEvent | ToolEvent, heard: Callable[[Any], None]) -> None:
        if isinstance(event, ENDS):
            self.running.pop(call, None)
            if call in self._over:
                self._late(self._over[call])
            self._over.setdefault(call, "twice")
        heard(event)


class SimWorkers(SimCalls[Request]):
    """Implements `Workers`."""

    def __init__(
        self,
        scheduler: Scheduler,
        fate: Callable[[Request, Random], Fate] = offline,
        late: Callable[[str], None] = lambda how: None,
        jobs: int | None = None,
    ) -> None:
        super().__init__(scheduler, fate, late, jobs)

    def start(self, call: int, request: Request, heard: Heard) -> None:
        self.begin(call, request, heard)

    def keep(self, keys: tuple[Key, ...]) -> bool:
        """Scripted models want no key."""
        del keys
        return False
