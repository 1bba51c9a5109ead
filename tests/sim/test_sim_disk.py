"""The disk in memory: what a kill and what lost power leave, and how it fails; the clock. Faults 10, 12, 16."""

from collections.abc import Callable
from datetime import timedelta
from random import Random

import pytest

from eukhe.errors import StoreError
from eukhe.sim.clock import SimClock
from eukhe.sim.disk import Crash, SimDisk

LOG = "main/2026-10-05.jsonl"
NEXT = "main/2026-10-06.jsonl"
VIEW = "view.json"


def left(happen: Callable[[SimDisk, Random], None], path: str = LOG, write: bytes = b"second\n") -> set[bytes | None]:
    """What may be left of a file, over many dice: it has a first line, synced, and something happens."""
    found = set()
    for seed in range(400):
        disk = SimDisk()
        disk.append(LOG, b"first\n")
        happen(disk, Random(seed))
        found.add(None if disk.length(path) is None else disk.read(path))
    return found


def crash(disk: SimDisk, operation: int, then: Callable[[SimDisk], None]) -> None:
    """The machine stops at so manieth operation of what is done."""
    disk.crash_at = disk.operations + operation
    with pytest.raises(Crash):
        then(disk)


def more(disk: SimDisk) -> None:
    disk.append(LOG, b"second\n")


def test_what_was_appended_outlives_lost_power() -> None:
    def happen(disk: SimDisk, dice: Random) -> None:
        more(disk)
        disk.lose_power(dice)

    assert {b"first\nsecond\n"} == left(happen)


@pytest.mark.parametrize("operation", [1, 2])
def test_a_write_that_was_not_synced_is_kept_dropped_cut_or_torn(operation: int) -> None:
    def happen(disk: SimDisk, dice: Random) -> None:
        crash(disk, operation, more)
        disk.lose_power(dice)

    cut = {b"first\n" + b"second\n"[:length] for length in range(8)}
    torn = {b"first\n" + b"second\n"[:length].ljust(7, b"\0") for length in range(8)}
    assert cut | torn == left(happen)


def test_a_kill_leaves_the_beginning_of_the_write_under_way() -> None:
    def happen(disk: SimDisk, dice: Random) -> None:
        crash(disk, 1, more)
        disk.kill(dice)

    assert {b"first\n" + b"second\n"[:length] for length in range(8)} == left(happen)


def test_a_kill_leaves_a_whole_write_and_lost_power_may_still_take_it() -> None:
    def killed(disk: SimDisk, dice: Random) -> None:
        crash(disk, 2, more)
        disk.kill(dice)

    def dark(disk: SimDisk, dice: Random) -> None:
        killed(disk, dice)
        disk.lose_power(dice)

    def synced(disk: SimDisk, dice: Random) -> None:
        killed(disk, dice)
        disk.append(LOG, b"")
        disk.lose_power(dice)

    assert {b"first\nsecond\n"} == left(killed)
    assert b"first\n" in left(dark)
    assert {b"first\nsecond\n"} == left(synced)


def test_a_new_file_is_lost_with_its_name_until_the_folder_is_synced() -> None:
    def new(disk: SimDisk) -> None:
        disk.append(NEXT, b"new\n")

    def unsynced(disk: SimDisk, dice: Random) -> None:
        crash(disk, 3, new)
        disk.lose_power(dice)

    def synced(disk: SimDisk, dice: Random) -> None:
        new(disk)
        disk.lose_power(dice)

    assert {None, b"new\n"} == left(unsynced, NEXT)
    assert {b"new\n"} == left(synced, NEXT)


@pytest.mark.parametrize("sync", [False, True])
def test_a_replaced_file_is_the_old_or_the_new_one_unless_it_was_not_synced(sync: bool) -> None:
    def happen(disk: SimDisk, dice: Random) -> None:
        disk.replace(VIEW, b"old", sync=True)
        disk.replace(VIEW, b"new", sync=sync)
        disk.lose_power(dice)

    torn = {b"old", b"new", b"ne", b"n", b"", b"ne\0", b"n\0\0", b"\0\0\0"}
    assert ({b"new"} if sync else torn) == left(happen, VIEW)


@pytest.mark.parametrize("sync", [False, True])
def test_a_kill_before_the_rename_leaves_the_old_file(sync: bool) -> None:
    def happen(disk: SimDisk, dice: Random) -> None:
        disk.replace(VIEW, b"old", sync=False)
        crash(disk, 1, lambda disk: disk.replace(VIEW, b"new", sync=sync))
        disk.kill(dice)

    assert {b"old"} == left(happen, VIEW)


def test_a_write_fails_where_it_was_asked_to_and_the_next_one_does_not() -> None:
    disk = SimDisk()
    disk.append(LOG, b"first\n")
    disk.fail_at = disk.operations + 1
    with pytest.raises(StoreError, match=LOG):
        more(disk)
    assert b"first\nsec" == disk.read(LOG)
    disk.append(LOG, b"\n")
    assert ["2026-10-05.jsonl"] == disk.names("main")


def test_what_a_failed_sync_was_to_sync_may_be_lost() -> None:
    def happen(disk: SimDisk, dice: Random) -> None:
        disk.fail_at = disk.operations + 2
        with pytest.raises(StoreError):
            more(disk)
        disk.lose_power(dice)

    assert {b"first\n", b"first\nsecond\n"} < left(happen)


def test_reading_gives_what_is_there() -> None:
    disk = SimDisk()
    disk.append(LOG, b"first\n")
    assert b"rst\n" == disk.read(LOG, 2)
    assert b"rs" == disk.read(LOG, 2, 2)
    assert (6, None) == (disk.length(LOG), disk.length(NEXT))
    assert [] == disk.names("tree")
    with pytest.raises(StoreError, match="No such file"):
        disk.read(NEXT)


def test_the_wall_clock_is_set_and_time_goes_on() -> None:
    clock = SimClock()
    before = clock.local()
    clock.advance_to(90)
    clock.set_wall(-3_600)
    assert 90 == clock.monotonic_s()
    assert timedelta(seconds=90 - 3_600) == clock.local() - before
    with pytest.raises(AssertionError):
        clock.advance_to(89)
