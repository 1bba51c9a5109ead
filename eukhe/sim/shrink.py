"""Makes a failing run as short as it can be: the same check fails, with fewer faults, clients, messages and steps.

Greedy and without dice: what can be left out is, one thing after the other, until nothing more can or enough runs were
tried. The same run always shrinks to the same.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import msgspec

from eukhe.limits import SIM_SHRINK_RUNS_MAX
from eukhe.sim.chaos import Outcome, run
from eukhe.sim.options import Options

T = TypeVar("T")


class Shrunk(NamedTuple):
    """The shortest run found, and how many were tried."""

    outcome: Outcome
    runs: int


def shrink(
    outcome: Outcome, play: Callable[[Options], Outcome] = run, tried: Callable[[], None] = lambda: None
) -> Shrunk:
    """`outcome` failed. `tried` is told of every run."""
    assert outcome.failure is not None, "only a failure is shrunk"
    best, runs = outcome, 0
    improved = True
    while improved and runs < SIM_SHRINK_RUNS_MAX:
        improved = False
        for options in _smaller(best):
            runs += 1
            tried()
            found = play(options)
            if found.failure is not None and found.failure.check == outcome.failure.check:
                best, improved = found, True
                break
            if runs == SIM_SHRINK_RUNS_MAX:
                break
    return Shrunk(best, runs)


def _smaller(outcome: Outcome) -> Iterator[Options]:
    """Runs with something left out, what saves most first."""
    options = outcome.options
    assert outcome.failure is not None
    replace = msgspec.structs.replace
    for steps in _less(min(options.steps, outcome.failure.step), options.steps):
        yield replace(options, steps=steps)
    yield from _fewer_faults(outcome)
    for clients in _less(1, options.clients):
        yield replace(options, clients=clients)
    for talkers in _less(0, options.talkers):
        yield replace(options, talkers=talkers)
    for messages in _less(0, options.messages):
        yield replace(options, messages=messages)
    for jobs in _less(1, options.jobs):
        yield replace(options, jobs=jobs)
    if options.call_s:
        yield replace(options, call_s=0.0)
    if options.think_s:
        yield replace(options, think_s=0.0)
    yield from _fewer_injections(outcome)
    for steps in _less(0, options.steps):
        yield replace(options, steps=steps)


def _less(least: int, now: int) -> Iterator[int]:
    """Numbers below `now`, the least first, then nearer and nearer."""
    while least < now:
        yield least
        least = (least + now + 1) // 2 if least + 1 < now else now


def _fewer_faults(outcome: Outcome) -> Iterator[Options]:
    """Half of the faults, then one less."""
    odds = outcome.options.odds
    names = sorted(odds)
    if unused := [name for name in names if not outcome.injected.get(name)]:
        yield msgspec.structs.replace(outcome.options, odds={n: o for n, o in odds.items() if n not in unused})
    for without in [*_halves(names), *([name] for name in names)]:
        yield msgspec.structs.replace(outcome.options, odds={n: o for n, o in odds.items() if n not in without})


def _fewer_injections(outcome: Outcome) -> Iterator[Options]:
    """Of each fault half of its injections, then one less."""
    kept = dict(outcome.options.kept or {})
    for name in sorted(outcome.options.odds):
        numbers = list(kept.get(name, range(outcome.injected.get(name, 0))))
        for without in [*_halves(numbers), *([number] for number in numbers)] if len(numbers) > 1 else []:
            left = tuple(number for number in numbers if number not in without)
            whole = {other: tuple(range(count)) for other, count in outcome.injected.items()}
            yield msgspec.structs.replace(outcome.options, kept={**whole, **kept, name: left})


def _halves(items: list[T]) -> list[list[T]]:
    half = len(items) // 2
    return [items[half:], items[:half]] if half else []
