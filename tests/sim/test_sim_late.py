"""The late compactor: calls start, fail and end in any order, hours apart, across messages. Fault 33.

As long as every line is written by the writer, whatever comes late, the tree is that of a chat where all went well.
"""

from collections import Counter
from random import Random

import pytest

from eukhe.actors.ports import Request
from eukhe.limits import CALL_DEADLINE_S, FAILURES_MAX
from eukhe.model.part import Part
from eukhe.sim.workers import Fate
from tests.sim.sim_kit import LIMITS, Machine, check_ended, tree_of

MESSAGES = 40
HOUR_S = 3_600


def at_once(request: Request, random: Random) -> Fate:
    return Fate()


class Late:
    """Calls that end within their ten minutes, after them, or never; which fail, but none so often that it is given up.

    `failed`: by node, how many of its calls did not end well. `met`: how many of each kind there were.
    """

    def __init__(self) -> None:
        self.failed: Counter[Part] = Counter()
        self.met: Counter[str] = Counter()

    def fate(self, request: Request, random: Random) -> Fate:
        kinds = ["soon", "slow", "twice"]
        if self.failed[request.part] + 1 < FAILURES_MAX:
            kinds += ["broken", "never", "late"]
        kind = random.choice(kinds)
        self.met[kind] += 1
        self.failed[request.part] += kind in ("broken", "never", "late")
        match kind:
            case "soon":
                return Fate(random.random())
            case "slow":
                return Fate(random.uniform(1, CALL_DEADLINE_S - 1))
            case "twice":
                return Fate(random.uniform(1, CALL_DEADLINE_S - 1), times=2)
            case "broken":
                return Fate(random.uniform(0, CALL_DEADLINE_S), "it broke")
            case "late":
                return Fate(random.uniform(1, 5) * HOUR_S)
        return Fate(None)


def without_faults(seed: int) -> dict[Part, str]:
    return tree_of(finished(Machine(seed, MESSAGES, at_once)).disk)


def finished(machine: Machine) -> Machine:
    with machine.scheduler.telling():
        machine.finish()
        check_ended(machine)
    return machine


def late(seed: int, crashes: int = 0) -> tuple[Machine, Late]:
    """A run whose calls are late, and whose client is. A seed's first draws are what is logged, so that is the same."""
    calls = Late()
    machine = Machine(seed, MESSAGES, calls.fate, think_s=5 * HOUR_S)
    with machine.scheduler.telling():
        for _ in range(crashes):
            machine.crash()
            calls.failed.clear()  # failures are forgotten at a restart
    return finished(machine), calls


def seeds(first: int, end: int, crashes: int = 0) -> Counter[str]:
    met: Counter[str] = Counter()
    for seed in range(first, end):
        machine, calls = late(seed, crashes)
        met += calls.met
        with machine.scheduler.telling():
            assert without_faults(seed) == tree_of(machine.disk)
            assert machine.most == LIMITS.jobs
    return met


@pytest.mark.rule("38", "39", "D5")
def test_calls_that_end_hours_apart_give_the_tree_of_a_run_without_faults() -> None:
    assert {"soon", "slow", "twice", "broken", "never", "late"} == set(seeds(0, 30))


def test_so_does_a_machine_that_crashes_meanwhile() -> None:
    """The client sends in one order, so the same messages get the same ids."""
    seeds(0, 25, crashes=3)


@pytest.mark.slow
def test_the_same_of_many_more_seeds() -> None:
    seeds(30, 1_500)
    seeds(25, 1_000, crashes=6)


def test_a_run_takes_hours_and_no_call_is_left() -> None:
    machine, _ = late(3)
    assert machine.clock.monotonic_s() > 5 * HOUR_S
    assert {} == machine.workers.running
