"""An owner that is killed, or loses power, at each of its steps: nothing acknowledged is lost, and all ends well.

Chaos strikes at steps that it draws; here is none left out. Faults 12 and 20.
"""

import msgspec
import pytest

from eukhe.sim.canaries import CANARIES
from eukhe.sim.chaos import calm
from eukhe.sim.checks import CheckFailed
from eukhe.sim.machine import Machine
from eukhe.sim.options import Options, draw

STEPS = 800  # until all that this machine's clients have to say is logged and built
STRETCH = 100
A_SMALL_RUN = {"messages": 8, "clients": 2, "jobs": 3, "view": 2, "call_s": 5.0, "think_s": 1.0, "gated": True}


def small(seed: int = 23) -> Options:
    """A run without faults, in which messages, batches, lines and a subagent's words come close together."""
    return msgspec.structs.replace(draw(seed, STEPS, only=[]), builds=None, **A_SMALL_RUN)


def struck_at(step: int, *, power: bool) -> Machine:
    """A machine that crashes once so many steps were taken, and goes on until all have left. CheckFailed."""
    machine = Machine(small())
    while machine.scheduler.steps < step:
        assert machine.step()
    machine.crash(power=power)
    calm(machine)
    return machine


@pytest.mark.rule("6", "D1", "D2", "D8")
@pytest.mark.parametrize("power", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["killed", "without power"])
@pytest.mark.parametrize("first", range(0, STEPS, STRETCH))
def test_whatever_step_is_the_last_nothing_acknowledged_is_lost_and_all_ends_well(first: int, power: bool) -> None:
    for step in range(first, first + STRETCH):
        try:
            struck_at(step, power=power)
        except CheckFailed as failed:
            pytest.fail(f"struck at step {step}: {failed}")


def test_these_steps_are_a_whole_life_with_messages_batches_lines_and_a_subagent() -> None:
    machine = Machine(small())
    while machine.scheduler.steps < STEPS:
        assert machine.step()
    ledger = machine.watch.ledger
    assert 10 < len(ledger.messages) < len(ledger.nodes)
    assert 5 == len(ledger.batches)
    assert ledger.merged
    assert any(machine.watch.agents.said.values())


@pytest.mark.parametrize("name", ["ack-before-fsync", "key-ignored-on-resend", "batch-at-restart"])
def test_a_known_bug_is_found_at_some_step(name: str) -> None:
    with CANARIES[name].planted():
        for step in range(STEPS):
            try:
                struck_at(step, power=False)
            except CheckFailed as failed:
                assert failed.check in CANARIES[name].checks
                return
    pytest.fail(f"{name} was not found at any step")
