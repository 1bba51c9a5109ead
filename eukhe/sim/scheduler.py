"""Who goes on: one step at a time, in an order that a seed gives.

A step is the next thing of one who can go on, or, where no one can, the next timer, to which the clock jumps. A timer
that is nearly due may go off while others could go on, since real ones do. The same seed gives the same steps; their
digest says so.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Protocol

from eukhe.errors import Bug
from eukhe.limits import SIM_EARLY_ODDS, SIM_EARLY_S, SIM_STEP_CHARS_MAX, SIM_STEPS_SHOWN
from eukhe.sim.clock import SimClock

Timer = tuple[object, ...]
"""A timer's name, whose it is first."""


class Deadlock(Bug):
    """Someone waits, and nothing can run."""


class Runnable(Protocol):
    """Someone who does things one by one."""

    name: str

    def waiting(self) -> object | None:
        """What its next step is about, None where it has none."""
        ...

    def step(self) -> None: ...


class Doer:
    """A runnable with one thing at most to do next. `doing`: that, None while it waits for something."""

    name: str
    doing: Callable[[], None] | None

    def waiting(self) -> object | None:
        return None if self.doing is None else self.doing.__name__

    def step(self) -> None:
        doing, self.doing = self.doing, None
        assert doing is not None
        doing()


class Scheduler:
    """`steps`: how many were taken; `stepping`: one is under way."""

    def __init__(self, seed: int, clock: SimClock) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.clock = clock
        self.steps = 0
        self.stepping = False
        self._runnables: dict[str, Runnable] = {}
        self._timers: dict[Timer, tuple[int, Callable[[], None]]] = {}
        self._due: list[tuple[float, int, Timer]] = []  # a heap; whose number is not the timer's own was taken back
        self._frozen: Collection[str] = ()
        self._held: list[tuple[float, int, Timer]] = []  # timers of the frozen that are due
        self._numbers = count()
        self._digest = hashlib.sha256()
        self._last: deque[tuple[int, float, str, object]] = deque(maxlen=SIM_STEPS_SHOWN)

    # --- who can go on ---

    def add(self, runnable: Runnable, name: str = "") -> None:
        """Holds on to it until it is removed: no one else may. `name`: where another has its own."""
        self._runnables[name or runnable.name] = runnable

    def remove(self, name: str) -> None:
        self._runnables.pop(name, None)

    def set_timer(self, timer: Timer, after_s: float, action: Callable[[], None]) -> None:
        """A second timer of a name takes the first one's place."""
        number = next(self._numbers)
        self._timers[timer] = number, action
        heappush(self._due, (self.clock.monotonic_s() + after_s, number, timer))

    def cancel_timer(self, timer: Timer) -> None:
        self._timers.pop(timer, None)

    def forget(self, names: Collection[str]) -> None:
        """These are gone, as in a crash: they go on no more, and no timer of theirs goes off."""
        for name in names:
            self.remove(name)
        for timer in [timer for timer in self._timers if timer[0] in names]:
            del self._timers[timer]

    def freeze(self, names: Collection[str], until_s: float) -> None:
        """These take no step and no timer until then, as processes that were stopped."""
        self._frozen = names
        self.set_timer(("scheduler", "thaw"), until_s - self.clock.monotonic_s(), self.thaw)

    def thaw(self) -> None:
        self._frozen = ()
        for due in self._held:
            heappush(self._due, due)
        self._held.clear()
        self.cancel_timer(("scheduler", "thaw"))

    # --- steps ---

    def step(self) -> bool:
        """One step; False where nothing can run."""
        ready = [
            (name, runnable, what)
            for name, runnable in self._runnables.items()
            if (what := runnable.waiting()) is not None
        ]
        if self._frozen:
            ready = [one for one in ready if one[0] not in self._frozen]
        timer = self._timer(early=bool(ready))
        if timer is not None:
            due_s, _, _ = heappop(self._due)
            _, action = self._timers.pop(timer)
            self._took("timer", timer)
            self.clock.advance_to(max(due_s, self.clock.monotonic_s()))
            self._run(action)
            return True
        if not ready:
            return False
        name, runnable, what = self.random.choice(ready)
        self._took(name, what)
        self._run(runnable.step)
        return True

    def until(self, done: Callable[[], bool]) -> None:
        """Steps until something is so. Deadlock where it never will be."""
        if self.stepping:
            raise Bug("who is in a step can't wait: it is he who goes on")
        while not done():
            if not self.step():
                raise Deadlock("nothing can run")

    def run(self, steps: int | None = None) -> None:
        """So many steps, or as many as there are."""
        if self.stepping:
            raise Bug("a step in a step")
        taken = 0
        while taken != steps and self.step():
            taken += 1

    def _timer(self, *, early: bool) -> Timer | None:
        """The timer that goes off now: the next where no one else can go on, else now and then one nearly due."""
        if not self._timers or (early and self.random.randrange(SIM_EARLY_ODDS)):
            return None
        while self._due:
            due_s, number, timer = self._due[0]
            if self._timers.get(timer, (None,))[0] != number:
                heappop(self._due)
            elif timer[0] in self._frozen:
                self._held.append(heappop(self._due))
            else:
                return timer if not early or due_s - self.clock.monotonic_s() <= SIM_EARLY_S else None
        return None

    def _run(self, action: Callable[[], None]) -> None:
        self.stepping = True
        try:
            action()
        finally:
            self.stepping = False

    # --- what is said of it ---

    def _took(self, who: str, what: object) -> None:
        self.steps += 1
        self._last.append((self.steps, self.clock.monotonic_s(), who, what))
        self.count(f"{self.clock.monotonic_s()} {who} {type(what).__name__}".encode())

    def count(self, data: bytes) -> None:
        """Takes something that happened into the digest."""
        self._digest.update(data)

    @property
    def digest(self) -> str:
        """Of all that happened so far."""
        return self._digest.hexdigest()

    @contextmanager
    def telling(self) -> Iterator[None]:
        """A failure within says the seed and the last steps."""
        try:
            yield
        except Exception as error:
            error.add_note(self.told())
            raise

    def told(self) -> str:
        """The seed and the last steps, one a line: number, seconds, who, what."""
        lines = [f"{step:>7} {now_s:>12.3f} {who}: {_short(what)}" for step, now_s, who, what in self._last]
        return "\n".join([f"seed {self.seed}, the last {len(lines)} steps:", *lines])


def _short(what: object) -> str:
    text = repr(what)
    return text if len(text) <= SIM_STEP_CHARS_MAX else text[:SIM_STEP_CHARS_MAX] + "…"
