"""Opening a chat that has lost lines from its middle (faults 4, 5, 8)."""

import pytest
from log_kit import (
    DATE,
    LATER_MAIN,
    LATER_TREE,
    TREE,
    VIEW,
    Writer,
    after,
    copied,
    grow,
    harmful,
    opened,
    starts,
    state_of,
    verified,
)
from store_kit import MemoryDisk

from eukhe.actors.archive import Archive
from eukhe.errors import GapInLog
from eukhe.limits import PROBLEMS_MAX
from eukhe.model.part import Part
from eukhe.model.record import (
    GapRecord,
    decode_main,
    decode_tree,
    encode,
    message,
)
from eukhe.world.index import SqliteIndex

# --- gaps (faults 4, 5, 8) ---


def broken(count: int = 40, lost: int = 22) -> tuple[Writer, MemoryDisk]:
    """A chat one of whose messages is a run of NULs."""
    writer = grow(count)
    disk = copied(writer.disk)
    data = disk.files[LATER_MAIN]
    at = starts(data)
    first, end = at[lost - count // 2], at[lost - count // 2 + 1] - 1
    disk.files[LATER_MAIN] = data[:first] + b"\0" * (end - first) + data[end:]
    return writer, disk


@pytest.mark.rule("2", "6")
def test_a_message_gone_from_the_middle_closes_the_chat_for_writing() -> None:
    writer, disk = broken()
    before = dict(disk.files)
    index = SqliteIndex(None)
    for _ in range(2):
        found = opened(disk, index)
        assert before == disk.files
        assert isinstance(found.damage, GapInLog)
        at = starts(disk.files[LATER_MAIN])
        assert (LATER_MAIN, 4, at[3]) == (found.damage.path, found.damage.line, found.damage.offset)
        assert (21, 23) == (found.damage.before, found.damage.after)
        assert str(found.damage) == found.start.closed
        assert ["message 22 is missing"] == [p.what for p in found.problems if not p.harmless and p.file != VIEW]
        assert (40, None) == (found.chat.t, index.checkpoint())
    archive = Archive(disk, index)
    assert (21, 23) == tuple(record.i for i in (21, 23) if (record := archive.message(i)))
    assert writer.chat.view.parts() == found.chat.view.parts()


@pytest.mark.rule("6")
def test_a_gap_that_the_user_accepts_is_logged_and_its_ids_read_as_lost() -> None:
    _, disk = broken()
    index = SqliteIndex(None)
    found = opened(disk, index, accept_gap=True)
    assert (None, None) == (found.damage, found.start.closed)
    assert GapRecord(22, 23) == decode_main(disk.files[LATER_MAIN].splitlines()[-1])
    later = after(disk, found.chat)
    later.message("it goes on")
    for restart in (index, SqliteIndex(None)):
        again = opened(disk, restart)
        assert (None, 41) == (again.damage, again.chat.t)
        archive = Archive(disk, restart)
        assert (("(lost)",), None) == (archive.source(Part(0, 22)), archive.message(22))
        assert state_of(later.chat) == state_of(again.chat)


def test_who_is_not_the_owner_accepts_no_gap() -> None:
    _, disk = broken()
    before = dict(disk.files)
    assert isinstance(opened(disk, owner=False, accept_gap=True).damage, GapInLog)
    assert before == disk.files


def test_two_gaps_are_both_accepted() -> None:
    writer = grow(40)
    lines = writer.disk.files[LATER_MAIN].splitlines(keepends=True)
    del lines[12:15], lines[3]
    writer.disk.files[LATER_MAIN] = b"".join(lines)
    assert "message 23 is missing" in str(opened(writer.disk).damage)
    opened(writer.disk, accept_gap=True)
    added = [decode_main(line) for line in writer.disk.files[LATER_MAIN].splitlines()[-2:]]
    assert [GapRecord(23, 24), GapRecord(32, 35)] == added
    assert None is opened(writer.disk).damage


def test_a_whole_record_after_half_a_line_is_a_message_of_the_chat() -> None:
    writer = grow(16)
    data = writer.disk.files[LATER_MAIN]
    writer.disk.files[LATER_MAIN] = data + b'{"i":16,"kind":"us' + encode(message(16, "user", "whole", DATE))
    index = SqliteIndex(None)
    found = opened(writer.disk, index)
    assert (17, None, [True]) == (found.chat.t, found.damage, [problem.harmless for problem in found.problems])
    assert ("user: whole",) == Archive(writer.disk, index).source(Part(0, 16))
    assert [] == harmful(verified(writer.disk, index))


# --- broken tree lines ---


def test_a_broken_batch_line_costs_that_batch_and_nothing_else() -> None:
    writer = grow(90)
    lines = writer.disk.files[LATER_TREE].splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if line.startswith(b'{"merge":[['))
    lines[at] = lines[at][:12] + b"\n"
    writer.disk.files[LATER_TREE] = b"".join(lines)
    found = opened(writer.disk)
    assert (90, None) == (found.chat.t, found.damage)
    assert at + 1 in [problem.line for problem in found.problems if problem.file == LATER_TREE]
    assert writer.chat.view.parts() == found.chat.view.parts()  # a later batch replaces every line inside its parents


def test_a_merge_whose_parents_line_is_gone_is_left_out_and_said_where() -> None:
    writer = grow(90)
    lines = writer.disk.files[TREE].splitlines(keepends=True)
    lines += writer.disk.files[LATER_TREE].splitlines(keepends=True)
    batch = next(n for n, line in enumerate(lines) if line.startswith(b'{"merge":[['))
    parent = decode_tree(lines[batch]).merge[-1]  # type: ignore[union-attr]
    gone = next(n for n, line in enumerate(lines) if line.startswith(b'{"l":%d,"i":%d,' % parent))
    lines[gone] = b"\0" * (len(lines[gone]) - 1) + b"\n"
    split = writer.disk.files[TREE].count(b"\n")
    writer.disk.files[TREE], writer.disk.files[LATER_TREE] = b"".join(lines[:split]), b"".join(lines[split:])
    found = opened(writer.disk)
    said = [problem for problem in found.problems if "is left out" in problem.what]
    assert (LATER_TREE, batch + 1 - split, f"the merge to {parent.name} is left out: its line is not there", False) == (
        said[0].file,
        said[0].line,
        said[0].what,
        said[0].harmless,
    )
    assert f"{said[0]}" in harmful(verified(writer.disk))


def test_a_second_line_of_a_node_is_said_where_it_stands() -> None:
    writer = grow(20)
    again = writer.disk.files[TREE].splitlines(keepends=True)[0]
    lines = writer.disk.files[LATER_TREE].count(b"\n")
    writer.disk.files[LATER_TREE] += again
    index = SqliteIndex(None)
    (said,) = opened(writer.disk, index).problems
    assert (LATER_TREE, lines + 1, True) == (said.file, said.line, said.harmless)
    assert [said] == verified(writer.disk, index)


def test_lines_are_numbered_from_their_files_beginning_after_a_checkpoint_too() -> None:
    writer, index = grow(40), SqliteIndex(None)
    opened(writer.disk, index)
    lines = writer.disk.files[LATER_MAIN].count(b"\n")
    writer.disk.files[LATER_MAIN] += b"\n{no record\n" + encode(message(3, "user", "again", DATE))
    found = opened(writer.disk, index)
    assert not found.rebuilt
    assert [lines + 2, lines + 3] == [problem.line for problem in found.problems]


def test_only_the_first_hundred_problems_are_kept() -> None:
    writer = grow(10)
    writer.disk.files[LATER_MAIN] += b"no record\n" * (PROBLEMS_MAX + 7)
    found = opened(writer.disk)
    assert (PROBLEMS_MAX, 7) == (len(found.problems), found.more)
