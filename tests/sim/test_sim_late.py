"""The late compactor: calls start, fail and end in any order, hours apart, across messages. Fault 33.

As long as every line is written by the model, whatever comes late, the tree is that of a chat where all went well.
"""

from collections import Counter

import msgspec
import pytest

from eukhe.model.part import Part
from eukhe.sim.chaos import calm, storm
from eukhe.sim.machine import Machine
from eukhe.sim.options import Options, draw

LATE = ("late-call", "hung-worker", "dead-worker", "dead-writer", "slow-call", "broken-stream", "twice", "after-stop")
CRASHES = ("kill", "kill-in-write", "power", "power-in-write")


def played(options: Options) -> Machine:
    machine = Machine(options)
    storm(machine)
    calm(machine)
    return machine


def tree(machine: Machine) -> dict[Part, str]:
    return {part: node.text for part, node in machine.watch.ledger.nodes.items()}


def late(seed: int, *more: str) -> Options:
    """A run whose calls take minutes, and often hours."""
    return msgspec.structs.replace(draw(seed, only=[*LATE, *more]), call_s=500.0, think_s=3_000.0)


def seeds(first: int, end: int, *more: str) -> tuple[Counter[str], int]:
    """What was met, and of how many runs the model wrote every line."""
    met: Counter[str] = Counter()
    whole = 0
    for seed in range(first, end):
        machine = played(late(seed, *more))
        met.update(machine.faults.met)
        if machine.watch.is_models:
            whole += 1
            assert machine.watch.tree_without_faults() == tree(machine)
    return met, whole


@pytest.mark.rule("38", "39", "D5")
def test_calls_that_end_hours_apart_give_the_tree_of_a_run_without_faults() -> None:
    met, whole = seeds(0, 15)
    assert set(LATE) - {"after-stop"} <= met.keys()
    assert whole > 3


def test_so_does_a_machine_that_crashes_meanwhile() -> None:
    _, whole = seeds(0, 15, *CRASHES)
    assert whole > 3


@pytest.mark.slow
def test_the_same_of_many_more_seeds() -> None:
    seeds(15, 500)
    seeds(15, 500, *CRASHES)


@pytest.mark.parametrize("seed", range(3))
def test_a_run_without_faults_builds_every_node_as_the_model_writes_it(seed: int) -> None:
    machine = played(draw(seed, only=[]))
    assert machine.watch.is_models
    assert machine.watch.tree_without_faults() == tree(machine)


def test_a_run_takes_hours_and_no_call_is_left() -> None:
    machine = played(late(4))
    assert machine.clock.monotonic_s() > 3 * 3_600
    assert [] == machine.owners
