"""The machine around owners: who may write, what stops, what its clocks do, and how a check fails."""

from datetime import timedelta
from pathlib import Path

import pytest

import eukhe.sim
from eukhe.sim.checks import CHECKS, CheckFailed
from eukhe.sim.clock import START, SimClock
from eukhe.sim.machine import Machine
from eukhe.sim.options import draw
from eukhe.sim.process_disk import OwnerDisk, ReadersDisk
from eukhe.sim.scheduler import Scheduler
from eukhe.sim.strikes import STRIKES


def up(seed: int = 1) -> Machine:
    """A machine whose owner is up."""
    machine = Machine(draw(seed, only=[]))
    while machine.owner is None or not machine.owner.up:
        machine.step()
    return machine


@pytest.mark.rule("7")
def test_who_does_not_hold_the_lock_may_not_write() -> None:
    machine = up()
    other = OwnerDisk(machine, 99)
    with pytest.raises(CheckFailed, match="one-writer"):
        other.append("main/2026-10-05.jsonl", b"{}\n")
    with pytest.raises(CheckFailed, match="one-writer"):
        other.replace("view.json", b"[]", sync=False)
    other.names("main")


@pytest.mark.rule("7")
def test_who_only_reads_may_not_write() -> None:
    machine = up()
    reader = ReadersDisk(machine.disk)
    with pytest.raises(CheckFailed, match="one-writer"):
        reader.append("main/2026-10-05.jsonl", b"\n")
    with pytest.raises(CheckFailed, match="one-writer"):
        reader.replace("view.json", b"[]", sync=False)
    assert machine.disk.names("main") == reader.names("main")


@pytest.mark.rule("7")
def test_of_owners_that_start_at_once_one_gets_the_lock_and_the_others_go() -> None:
    machine = Machine(draw(1, only=[]))
    for _ in range(3):
        machine.start_owner()
    while machine.owner is None or not machine.owner.up or len(machine.owners) > 1:
        machine.step()
    assert [machine.owner] == machine.owners
    assert machine.lock.holder == machine.owner.process


def test_a_killed_owner_leaves_its_lock_and_the_clients_start_another() -> None:
    machine = up()
    first = machine.owner
    STRIKES["kill"](machine)
    assert (None, None) == (machine.owner, machine.lock.holder)
    while machine.owner is None or not machine.owner.up:
        machine.step()
    assert first is not machine.owner


def test_who_takes_over_from_a_stopped_owner_that_was_killed_is_not_stopped() -> None:
    machine = up()
    STRIKES["stopped-owner"](machine)
    STRIKES["kill"](machine)
    while machine.owner is None or not machine.owner.up:
        machine.step()
    assert machine.clock.monotonic_s() < 10


def test_a_machine_without_power_loses_its_clients_too() -> None:
    machine = up()
    before = set(machine.clients)
    STRIKES["power"](machine)
    assert before.isdisjoint(machine.clients)
    assert len(before) == len(machine.clients)


def test_who_is_stopped_takes_no_step_and_no_timer_until_it_goes_on() -> None:
    class Runner:
        name = "one"
        steps = 0

        def waiting(self) -> object | None:
            return None if self.steps else "go"

        def step(self) -> None:
            self.steps += 1

    scheduler = Scheduler(1, SimClock())
    runner, told = Runner(), list[float]()
    scheduler.add(runner)
    for who in ("one", "other"):
        scheduler.set_timer((who, "timer"), 5, lambda: told.append(scheduler.clock.monotonic_s()))
    scheduler.freeze({"one"}, 60)
    scheduler.step()
    assert ([5.0], 0) == (told, runner.steps)
    scheduler.run()
    assert ([5.0, 60.0], 1) == (told, runner.steps)


def test_clocks_drift_are_set_and_change_to_summer_time_while_the_monotonic_one_goes_on() -> None:
    clock = SimClock()
    clock.drift = 1.0
    clock.advance_to(10)
    assert (10, START + timedelta(seconds=20)) == (clock.monotonic_s(), clock.local())
    clock.set_wall(-3_600)
    assert START + timedelta(seconds=20 - 3_600) == clock.local()
    clock.set_zone(3_600)
    assert (START + timedelta(seconds=20 - 3_600), timedelta(hours=3)) == (clock.local(), clock.local().utcoffset())


def test_every_check_stands_somewhere_in_the_simulator() -> None:
    tables = ("checks.py", "canaries.py")
    code = "".join(path.read_text() for path in Path(eukhe.sim.__path__[0]).glob("*.py") if path.name not in tables)
    assert [] == [check for check in CHECKS if f'"{check}"' not in code]


def test_a_check_that_fails_says_its_name_what_was_expected_and_what_was_found() -> None:
    failed = CheckFailed("key-once", 1, 2)
    assert ("key-once", "1", "2") == (failed.check, failed.expected, failed.found)
    assert "a key is logged once" in str(failed)
    with pytest.raises(AssertionError):
        CheckFailed("nothing", 1, 2)
