"""Model calls that end when they are fated to: at once or hours later, in any order, twice, with an error, never."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple

from eukhe.actors.ports import Broke, CallEvent, Replied, Request
from eukhe.model.extract import extract
from eukhe.sim.scheduler import Scheduler

Heard = Callable[[CallEvent], None]


class Fate(NamedTuple):
    """When a call ends, None for never; why it fails, empty where it does not; how often its end is told."""

    after_s: float | None = 0
    why: str = ""
    times: int = 1


def offline(request: Request) -> str:
    """A line by the writer that needs no model."""
    return extract(request.part, request.sources)


class SimWorkers:
    """Implements `Workers`. `running`: calls that neither ended nor were stopped; `most`: how many at once at most.

    `fate` of a call, drawn with the seed's own dice; `write`: the lines.
    """

    name = "workers"

    def __init__(
        self,
        scheduler: Scheduler,
        fate: Callable[[Request, Random], Fate] = lambda request, random: Fate(),
        write: Callable[[Request], str] = offline,
    ) -> None:
        self.running: dict[int, Request] = {}
        self.most = 0
        self._scheduler = scheduler
        self._fate = fate
        self._write = write
        self._due: list[Callable[[], None]] = []
        scheduler.add(self)

    def start(self, call: int, request: Request, heard: Heard) -> None:
        self.running[call] = request
        self.most = max(self.most, len(self.running))
        fate = self._fate(request, self._scheduler.random)
        if fate.after_s is None:
            return
        end = partial(self._end, call, request, fate, heard)
        for time in range(fate.times):
            self._scheduler.set_timer((self.name, call, time), fate.after_s, partial(self._due.append, end))

    def stop(self, call: int) -> None:
        """A call that has just ended may still be heard of."""
        self.running.pop(call, None)

    def waiting(self) -> object | None:
        return f"{len(self._due)} calls end" if self._due else None

    def step(self) -> None:
        self._due.pop(self._scheduler.random.randrange(len(self._due)))()

    def _end(self, call: int, request: Request, fate: Fate, heard: Heard) -> None:
        self.running.pop(call, None)
        heard(Broke(fate.why) if fate.why else Replied(self._write(request)))
