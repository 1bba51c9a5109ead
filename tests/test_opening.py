"""Opening a chat: the state its owner left, whatever happened to the files in between (faults 1 to 5, 8, 13, 14)."""

import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import other_program
import pytest
from log_kit import (
    DATE,
    LATER_MAIN,
    LATER_TREE,
    MAIN,
    SMALL,
    TREE,
    VIEW,
    Writer,
    after,
    answers,
    grow,
    harmful,
    opened,
    state_of,
    verified,
)
from store_kit import MemoryDisk

from eukhe.actors.archive import Archive
from eukhe.actors.opening import open_chat
from eukhe.actors.ports import Checkpoint, Place, Placed, Position
from eukhe.errors import GapInLog, IndexFailed, StoreError
from eukhe.limits import PROBLEMS_MAX
from eukhe.model.chat import ChatLimits
from eukhe.model.fold import fold
from eukhe.model.part import Part
from eukhe.model.record import (
    BatchRecord,
    GapRecord,
    MessageRecord,
    NodeRecord,
    VoidRecord,
    decode_main,
    decode_tree,
    encode,
    message,
    node,
)
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from eukhe.world.index_reader import ReaderIndex


def copied(disk: MemoryDisk) -> MemoryDisk:
    copy = MemoryDisk()
    copy.files = dict(disk.files)
    return copy


def starts(data: bytes) -> list[int]:
    """Where each line starts, and where the last one ends."""
    at = [0]
    for line in data.split(b"\n")[:-1]:
        at.append(at[-1] + len(line) + 1)
    return at


# --- as it was left ---


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.rule("25", "D1", "F1")
def test_a_chat_opens_as_its_owner_left_it(late: bool) -> None:
    writer = grow(200, late=late)
    found = opened(writer.disk)
    assert state_of(writer.chat) == state_of(found.chat)
    assert ((), (), 0, None, True) == (found.free, found.problems, found.more, found.damage, found.rebuilt)
    assert 200 == found.start.next_id
    for position in (found.start.main, found.start.tree):
        assert writer.disk.length(position.path) == position.offset
    assert (LATER_MAIN, LATER_TREE, None) == (found.start.main.path, found.start.tree.path, found.start.closed)


@pytest.mark.rule("D1", "D8", "F1")
def test_at_any_message_a_checkpoint_and_what_follows_give_the_full_folds_state() -> None:
    index, writer = SqliteIndex(None), grow(0)
    opened(writer.disk, index)
    shrinking = set()
    for i in range(260):
        writer.message(f"message {i} " + "word " * (i * 37 % 130))
        writer.build(60 if i > 230 else i % 2)
        found = opened(writer.disk, index)
        assert not found.rebuilt
        assert state_of(writer.chat) == state_of(found.chat)
        shrinking.add(found.chat.shrinking)
    assert {False, True} == shrinking
    assert state_of(opened(writer.disk).chat) == state_of(writer.chat)
    assert answers(writer.disk, index, writer.chat) == answers(writer.disk, _fed(writer.disk), writer.chat)


def _fed(disk: MemoryDisk) -> SqliteIndex:
    index = SqliteIndex(None)
    opened(disk, index)
    return index


def test_opening_twice_gives_the_same_and_reads_nothing_again() -> None:
    writer, index = grow(120, late=True), SqliteIndex(None)
    first = opened(writer.disk, index)
    before = dict(writer.disk.files)
    read: list[tuple[int, int]] = []
    second = open_chat(writer.disk, index, SMALL, owner=True, progress=lambda done, total: read.append((done, total)))
    assert before == writer.disk.files
    assert (state_of(first.chat), first.start) == (state_of(second.chat), second.start)
    assert {0} == {total for _, total in read} | {0}


def test_progress_tells_of_every_byte_once() -> None:
    writer = grow(60)
    read: list[tuple[int, int]] = []
    open_chat(
        writer.disk, SqliteIndex(None), SMALL, owner=True, progress=lambda done, total: read.append((done, total))
    )
    total = sum(len(data) for path, data in writer.disk.files.items() if path != VIEW)
    assert (total, total) == read[-1]
    assert sorted(read) == read


def test_an_empty_folder_is_an_empty_chat() -> None:
    found = opened(MemoryDisk())
    assert (0, (), None, False) == (found.chat.t, found.problems, found.damage, found.rebuilt)
    assert (Position(), Position()) == (found.start.main, found.start.tree)


def test_files_that_are_no_day_files_are_left_alone() -> None:
    writer = grow(10)
    writer.disk.files["main/notes.txt"] = b"not ours"
    assert 10 == opened(writer.disk).chat.t


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


# --- free nodes that a crash kept from the log ---


@pytest.mark.rule("12")
def test_a_free_node_that_was_not_logged_is_handed_to_the_planner_at_every_start_until_it_is() -> None:
    writer = grow(0)
    for i in range(6):
        writer.message(f"message {i}")
    writer.disk.files[TREE] = b"".join(writer.disk.files[TREE].splitlines(keepends=True)[:-2])
    index = SqliteIndex(None)
    for _ in range(2):
        found = opened(writer.disk, index)
        assert (Part(0, 5), Part(1, 2)) == found.free
    writer.write_tree(*(node(part, writer.texts[part]) for part in found.free))
    assert () == opened(writer.disk, index).free
    assert 6 == fold(index.checkpoint().state, (), (), SMALL).chat.t  # type: ignore[union-attr]


# --- view.json (fault 13) ---


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (None, "is missing"),
        (b"", "is no view"),
        (b"[[0,1]]", "is no view"),
        (b'{"lines":[]}', "is no view"),
        (b"[[0,0],[0,1]]", "is older than the last batch"),
        (b"[[9,0]]", "of another chat, or newer"),
        (b"[[0,0],[1,1]]", "is no view"),
        (orjson.dumps([[0, i] for i in range(90)]), "is not the view that the logs' batches give"),
    ],
)
@pytest.mark.rule("25", "D1")
def test_a_view_json_that_is_not_the_logs_view_changes_nothing_and_is_said(view: bytes | None, words: str) -> None:
    writer = grow(90)
    del writer.disk.files[VIEW]
    if view is not None:
        writer.disk.files[VIEW] = view
    found = opened(writer.disk)
    assert state_of(writer.chat) == state_of(found.chat)
    (said,) = found.problems
    assert (VIEW, 1) == (said.file, said.line)
    assert words in said.what
    assert [said] == verified(writer.disk)


@pytest.mark.rule("25")
def test_a_view_json_that_is_behind_by_messages_is_as_it_should_be() -> None:
    writer = grow(90)
    for i in range(3):
        writer.message(f"since it was saved {i}")
    assert len(orjson.loads(writer.disk.files[VIEW])) < len(writer.chat.view.lines)
    assert () == opened(writer.disk).problems
    assert [] == verified(writer.disk)


# --- index.db (fault 14) ---


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A chat in a folder, with an index that was committed at its end."""
    folder = _folder(tmp_path / "chat")
    grow(60, disk=RealDisk(folder))
    index = SqliteIndex(folder / "index.db")
    opened(RealDisk(folder), index)
    index.close()
    return folder


def _folder(folder: Path) -> Path:
    for name in ("main", "tree"):
        (folder / name).mkdir(parents=True)
    return folder


def _lose(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _noise(path: Path) -> None:
    path.write_bytes(b"\xff" * 9_000)


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _scramble(path: Path) -> None:
    """All but the first page."""
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\x5a" * (len(data) - 4096))


def _of_another_chat(path: Path) -> None:
    other = _folder(path.parent.parent / "other")
    grow(80, seed=9, disk=RealDisk(other))
    index = SqliteIndex(other / "index.db")
    opened(RealDisk(other), index)
    index.close()
    shutil.copy(other / "index.db", path)


def _without_checkpoint(path: Path) -> None:
    index = SqliteIndex(path)
    index.clear()
    index.feed([])
    index.commit()
    index.close()


def _garbage_for_a_state(path: Path) -> None:
    index = SqliteIndex(path)
    noted = index.checkpoint()
    assert noted is not None
    index.commit(Checkpoint(b"[1,2]", noted.main, noted.tree))
    index.close()


BREAKS = [_lose, _empty, _noise, _halve, _scramble, _of_another_chat, _without_checkpoint, _garbage_for_a_state]


@pytest.mark.parametrize("spoil", BREAKS)
@pytest.mark.rule("D1")
def test_an_index_that_is_no_good_is_made_anew_with_the_same_answers(chat: Path, spoil: Callable[[Path], None]) -> None:
    disk = RealDisk(chat)
    good = SqliteIndex(chat / "index.db")
    before = opened(disk, good)
    expected = answers(disk, good, before.chat)
    good.close()
    spoil(chat / "index.db")
    index = SqliteIndex(chat / "index.db")
    read: list[int] = []
    anew = open_chat(disk, index, SMALL, owner=True, progress=lambda done, _: read.append(done))
    assert (True, state_of(before.chat)) == (anew.rebuilt, state_of(anew.chat))
    assert sum(path.stat().st_size for path in chat.glob("*/*.jsonl")) == read[-1]
    assert expected == answers(disk, index, anew.chat)
    assert [] == verified(disk, index)
    index.close()
    disk.close()


@pytest.mark.parametrize("spoil", BREAKS)
@pytest.mark.rule("7")
def test_a_reader_of_an_index_that_is_no_good_answers_the_same_and_changes_nothing(
    chat: Path, spoil: Callable[[Path], None]
) -> None:
    disk = RealDisk(chat)
    good = SqliteIndex(chat / "index.db")
    before = opened(disk, good)
    expected = answers(disk, good, before.chat)
    good.close()
    spoil(chat / "index.db")
    files = {path: path.read_bytes() for path in chat.rglob("*") if path.suffix in (".jsonl", ".json", ".db")}
    reader = ReaderIndex(chat / "index.db")
    anew = opened(disk, reader, owner=False)
    assert (state_of(before.chat), expected) == (state_of(anew.chat), answers(disk, reader, anew.chat))
    reader.close()
    disk.close()
    assert files == {path: path.read_bytes() for path in files}


def test_a_reader_reads_on_from_where_the_index_ends(chat: Path) -> None:
    disk = RealDisk(chat)
    owner = SqliteIndex(chat / "index.db")
    writer = after(disk, opened(disk, owner).chat)
    for i in range(9):
        writer.message(f"since then {i}", key=f"new {i}")
    reader = ReaderIndex(chat / "index.db")
    read: list[tuple[int, int]] = []
    found = open_chat(disk, reader, SMALL, owner=False, progress=lambda done, total: read.append((done, total)))
    assert (69, False, (69, 69)) == (found.chat.t, found.rebuilt, (found.start.next_id, reader.counts()[0]))
    assert read[-1][0] < sum(path.stat().st_size for path in chat.glob("*/*.jsonl")) / 2
    assert ([68], 68) == (reader.search("since then 8", 5), reader.id_of_key("new 8"))
    assert ("user: since then 8",) == Archive(disk, reader).source(Part(0, 68))
    assert 60 == owner.counts()[0]
    owner.close()


@pytest.mark.rule("D1")
def test_logs_from_before_the_checkpoint_are_read_from_their_beginning(chat: Path) -> None:
    """As after a backup was put back, and the chat went on from there."""
    disk = RealDisk(chat)
    main, tree = (chat / LATER_MAIN), (chat / LATER_TREE)
    main.write_bytes(b"".join(main.read_bytes().splitlines(keepends=True)[:10]))
    index = SqliteIndex(chat / "index.db")
    found = opened(disk, index)
    assert (True, 40, 40) == (found.rebuilt, found.chat.t, index.counts()[0])
    tree.unlink()
    index = SqliteIndex(chat / "index.db")
    assert opened(disk, index).rebuilt
    index.close()


@pytest.mark.parametrize(("path", "what"), [(LATER_MAIN, b'"text":"message 59'), (LATER_TREE, b'"size":')])
def test_a_last_line_of_the_same_length_that_is_another_is_noticed(path: str, what: bytes) -> None:
    writer, index = grow(60), SqliteIndex(None)
    opened(writer.disk, index)
    head, mark, tail = writer.disk.files[path].rpartition(what)
    assert mark
    writer.disk.files[path] = head + what[:-1] + (b"8" if path == LATER_MAIN else b" ") + tail
    assert opened(writer.disk, index).rebuilt


def test_rows_that_outran_the_checkpoint_must_be_in_the_logs(chat: Path) -> None:
    disk = RealDisk(chat)
    index = SqliteIndex(chat / "index.db")
    found = opened(disk, index)
    place = found.start.main
    index.feed([_row(message(60, "user", "never written", DATE), place)])
    index.commit()
    index.close()
    index = SqliteIndex(chat / "index.db")
    assert (True, 60) == (opened(disk, index).rebuilt, index.counts()[0])
    index.close()


def _row(record: MessageRecord, at: Position) -> Placed:
    return Placed(record, Place(at.path, at.offset, len(encode(record))))


class Unwritable(SqliteIndex):
    """An index on a full disk: feeding fails, however often it is emptied."""

    def feed(self, rows: object) -> None:
        raise IndexFailed("index.db", "database or disk is full")


def test_no_space_for_the_index_is_one_clear_error() -> None:
    with pytest.raises(IndexFailed, match=r"index\.db: database or disk is full"):
        opened(grow(5).disk, Unwritable(None))


def test_a_log_that_cannot_be_mended_is_one_clear_error() -> None:
    writer = grow(10)
    writer.disk.files[LATER_MAIN] += b"torn"
    writer.disk.fail = writer.disk.writes
    with pytest.raises(StoreError, match="Input/output error"):
        opened(writer.disk)


# --- another program's chat ---


@pytest.mark.rule("1", "3", "4", "D1", "D3")
def test_another_programs_chat_opens_with_its_view_goes_on_and_proves_true() -> None:
    disk, index = MemoryDisk(), SqliteIndex(None)
    other_program.write_chat(disk)
    before = dict(disk.files)
    assert [] == verified_but_for_the_view(disk)
    reader = opened(disk, owner=False)
    assert before == disk.files
    found = opened(disk, index)
    assert [Part(*line) for line in other_program.VIEW] == found.chat.view.parts() == reader.chat.view.parts()
    assert ((), None) == (found.problems, found.damage)
    added = disk.files["tree/2025-01-21.jsonl"].removeprefix(before["tree/2025-01-21.jsonl"])
    assert BatchRecord((Part(3, 0), Part(2, 2), Part(1, 6)), False, 21) == decode_tree(added)
    archive = Archive(disk, index)
    assert "eukhe" == archive.message(7).kind  # type: ignore[union-attr]
    assert "talk: words of message 7" == archive.node_text(Part(0, 7))
    later = after(disk, found.chat)
    later.message("it goes on")
    for restart in (index, SqliteIndex(None)):
        again = opened(disk, restart)
        assert state_of(later.chat) == state_of(again.chat)
    assert [] == verified(disk, index)
    assert before["view.json"] == disk.files["view.json"]


def verified_but_for_the_view(disk: MemoryDisk) -> list[str]:
    """Before it is taken over, nothing in the logs says how its view came about."""
    return [each for each in harmful(verified(disk)) if not each.startswith(VIEW)]


@pytest.mark.parametrize("view", [b"", b"[[0,0],[0,1]]", b"[[9,0]]", b"no JSON"])
def test_a_view_json_without_merges_or_of_another_chat_is_not_taken_over(view: bytes) -> None:
    disk = MemoryDisk()
    other_program.write_chat(disk)
    disk.files[VIEW] = view
    before = disk.files["tree/2025-01-21.jsonl"]
    found = opened(disk)
    assert [Part(0, i) for i in range(21)] == found.chat.view.parts()
    assert before == disk.files["tree/2025-01-21.jsonl"]


def test_a_chat_with_batch_lines_takes_no_view_over() -> None:
    writer = grow(90)
    writer.disk.files[VIEW] = b"[[3,0],[0,8]]"
    before = writer.disk.files[LATER_TREE]
    assert writer.chat.view.parts() == opened(writer.disk).chat.view.parts()
    assert before == writer.disk.files[LATER_TREE]


@pytest.mark.rule("F1")
def test_batch_lines_of_older_chats_count_where_they_stand_and_as_closed() -> None:
    writer = grow(90)
    for path in (TREE, LATER_TREE):
        lines = []
        for line in writer.disk.files[path].splitlines(keepends=True):
            record = orjson.loads(line)
            if "merge" in record:
                line = orjson.dumps({"merge": record["merge"]}) + b"\n"
            lines.append(line)
        writer.disk.files[path] = b"".join(lines)
    found = opened(writer.disk)
    assert (writer.chat.view.parts(), False) == (found.chat.view.parts(), found.chat.shrinking)
    assert [] == verified(writer.disk)


def test_other_limits_read_the_same_view_from_the_same_batches() -> None:
    writer = grow(90)
    found = open_chat(writer.disk, SqliteIndex(None), ChatLimits(), owner=True)
    assert writer.chat.view.parts() == found.chat.view.parts()


def test_a_tree_without_messages_is_voided() -> None:
    disk = MemoryDisk()
    disk.files[TREE] = encode(NodeRecord(Part(0, 0), "x", 1))
    found = opened(disk)
    assert (0, None) == (found.chat.t, found.damage)
    assert VoidRecord((Part(0, 0),)) == decode_tree(disk.files[TREE].splitlines()[-1])
