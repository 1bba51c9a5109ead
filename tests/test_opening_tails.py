"""Opening a chat whose last lines are torn, or whose nodes outlived their messages (faults 1, 1b, 2, 3)."""

import pytest
from log_kit import (
    LATER_MAIN,
    LATER_TREE,
    MAIN,
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
from eukhe.model.part import Part
from eukhe.model.record import (
    VoidRecord,
    decode_tree,
    encode,
    node,
)
from eukhe.world.index import SqliteIndex

# --- torn tails (faults 1, 2, 3) ---


@pytest.mark.rule("6")
def test_main_cut_at_every_byte_of_its_last_records_loses_no_whole_one() -> None:
    writer = grow(16, seed=2)
    data = writer.disk.files[LATER_MAIN]
    at = starts(data)
    for end in range(at[-4], len(data)):
        disk = copied(writer.disk)
        disk.files[LATER_MAIN] = data[:end]
        whole = sum(first + len(line) <= end for first, line in zip(at, data.split(b"\n")[:-1], strict=False))
        torn = end not in at and end + 1 not in at
        index = SqliteIndex(None)
        found = opened(disk, index)
        assert 8 + whole == found.chat.t == found.start.next_id
        assert torn == any(problem.file == LATER_MAIN for problem in found.problems)
        assert disk.files[LATER_MAIN].endswith(b"\n") or not disk.files[LATER_MAIN]
        assert (None, len(disk.files[LATER_MAIN])) == (found.damage, found.start.main.offset)
        later = after(disk, found.chat)
        later.message("the next one stands by itself")
        again = opened(disk, index)
        assert (8 + whole + 1, False) == (again.chat.t, again.rebuilt)
        assert state_of(opened(disk).chat) == state_of(again.chat)
        assert [] == [each for each in harmful(verified(disk, index)) if not each.startswith(VIEW)]


@pytest.mark.rule("6", "13")
def test_the_tree_cut_at_every_byte_of_its_last_records_costs_those_nodes_alone() -> None:
    writer = grow(16, seed=2)
    data = writer.disk.files[LATER_TREE]
    at = starts(data)
    for end in range(at[-4], len(data)):
        disk = copied(writer.disk)
        disk.files[LATER_TREE] = data[:end]
        index = SqliteIndex(None)
        found = opened(disk, index)
        assert (16, None) == (found.chat.t, found.damage)
        assert [] == harmful(found.problems)
        later = after(disk, found.chat)
        later.texts = dict(writer.texts)
        later.write_tree(*(node(part, writer.texts[part]) for part in found.free))
        later.build()
        assert writer.chat.built_nodes.levels == found.chat.built_nodes.levels
        assert [] == harmful(verified(disk, index))
        assert state_of(found.chat) == state_of(opened(disk).chat)


@pytest.mark.rule("6")
def test_a_torn_line_of_a_day_that_is_over_is_ended_too() -> None:
    writer = grow(16)
    writer.disk.files[TREE] += b'{"l":0,"i'
    writer.disk.files[MAIN] += b"\0" * 8
    found = opened(writer.disk)
    assert (16, [MAIN, TREE]) == (found.chat.t, sorted(problem.file for problem in found.problems))
    assert (b"\0\n", b'"i\n') == (writer.disk.files[MAIN][-2:], writer.disk.files[TREE][-3:])


@pytest.mark.rule("6", "7")
def test_who_is_not_the_owner_changes_no_log() -> None:
    writer = grow(40)
    writer.disk.files[LATER_MAIN] = writer.disk.files[LATER_MAIN][:-30]
    writer.disk.files[LATER_TREE] += b'{"l":0,"i'
    before = dict(writer.disk.files)
    index = SqliteIndex(None)
    found = opened(writer.disk, index, owner=False)
    assert before == writer.disk.files
    assert (39, None) == (found.chat.t, index.checkpoint())
    owners = opened(writer.disk, index)
    assert state_of(found.chat) == state_of(owners.chat)
    assert before != writer.disk.files


@pytest.mark.rule("6")
def test_a_sound_chats_newest_files_are_synced_by_its_owner() -> None:
    writer = grow(16)
    synced: list[tuple[str, bytes]] = []
    writer.disk.append = lambda path, data: synced.append((path, data))  # type: ignore[method-assign]
    opened(writer.disk)
    assert [(LATER_MAIN, b""), (LATER_TREE, b"")] == synced


# --- nodes past the last message (fault 1b) ---


@pytest.mark.rule("13")
def test_a_lost_messages_line_never_stands_for_the_one_that_takes_its_id() -> None:
    writer = Writer(MemoryDisk())
    for i in range(15):
        writer.message(f"message {i} " + "word " * 120)
    writer.build()
    writer.message("the lost one " + "word " * 120)
    writer.build()
    disk = writer.disk
    lost = writer.chat.built_nodes.count
    main = disk.files[MAIN]
    disk.files[MAIN] = main[: starts(main)[-2] + 25]
    index = SqliteIndex(None)
    found = opened(disk, index)
    past = {part for part in writer.texts if part.end > 15}
    assert {Part(0, 15), Part(1, 7), Part(2, 3), Part(3, 1), Part(4, 0)} == past
    assert lost - len(past) == found.chat.built_nodes.count == index.counts()[1]
    void = decode_tree(disk.files[TREE].splitlines()[-1])
    assert VoidRecord(tuple(sorted(past))) == void
    assert [None] * len(past) == [Archive(disk, index).node_text(part) for part in past]
    later = after(disk, found.chat)
    later.message("quite another one")
    for restart in (index, SqliteIndex(None)):
        again = opened(disk, restart)
        assert [] == harmful(again.problems)
        assert "user: quite another one" == Archive(disk, restart).node_text(Part(0, 15))
        assert state_of(later.chat) == state_of(again.chat)
    assert [] == harmful(verified(disk, index))


@pytest.mark.rule("13", "25")
def test_a_batch_over_lost_messages_leaves_the_same_view_at_every_later_start() -> None:
    writer = grow(90)
    data, tree = writer.disk.files[LATER_MAIN], writer.disk.files[LATER_TREE]
    at = starts(data)
    batches = [line for line in tree.splitlines() if line.startswith(b'{"merge"')]
    assert batches
    for lines_left in range(1, len(at) - 1):
        disk = copied(writer.disk)
        disk.files[LATER_MAIN] = data[: at[lines_left]]
        found = opened(disk)
        assert 45 + lines_left == found.chat.t
        later = after(disk, found.chat)
        for i in range(20):
            later.message(f"new {i}")
        assert state_of(later.chat) == state_of(opened(disk).chat)


def test_voids_are_written_for_many_nodes_over_several_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eukhe.actors.opening.VOID_NODES", 3)
    writer = grow(40)
    writer.disk.files[LATER_MAIN] = writer.disk.files[LATER_MAIN][: starts(writer.disk.files[LATER_MAIN])[5]]
    opened(writer.disk)
    voids = [line for line in writer.disk.files[LATER_TREE].splitlines() if line.startswith(b'{"void"')]
    assert len(voids) > 1
    assert {1, 2, 3} >= {len(decode_tree(line).void) for line in voids}  # type: ignore[union-attr]
    assert [] == harmful(verified(writer.disk))[1:]  # view.json still is of the longer chat


@pytest.mark.parametrize("chunk", range(50, 66))
def test_a_void_is_found_wherever_the_reading_of_its_file_is_cut(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    writer = grow(2)
    first, void = encode(node(Part(0, 0), "x" * 20)), encode(VoidRecord((Part(0, 0),)))
    writer.disk.files[TREE], writer.disk.files[LATER_TREE] = first + void, b""
    monkeypatch.setattr("eukhe.actors.log_files.READ_CHUNK_BYTES", chunk)
    monkeypatch.setattr("eukhe.model.scan.READ_CHUNK_BYTES", chunk)
    assert chunk - 16 < len(first) < chunk + 16
    assert not opened(writer.disk).chat.built_nodes.has(*Part(0, 0))
