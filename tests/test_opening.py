"""Opening a chat: the state its owner left, with a checkpoint or without, and view.json beside it (fault 13)."""

import orjson
import pytest
from log_kit import (
    LATER_MAIN,
    LATER_TREE,
    SMALL,
    TREE,
    VIEW,
    answers,
    grow,
    opened,
    state_of,
    verified,
)
from store_kit import MemoryDisk

from eukhe.actors.opening import open_chat
from eukhe.actors.ports import Position
from eukhe.errors import StoreError
from eukhe.model.fold import fold
from eukhe.model.part import Part
from eukhe.model.record import (
    node,
)
from eukhe.model.saved_view import read_view
from eukhe.world.index import SqliteIndex

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
        (orjson.dumps([[0, i] for i in range(90)]), "is older than the last batch"),
        (b"[[6,0],[4,4],[3,10],[1,44]]", "is not the view that the logs' batches give"),
    ],
)
@pytest.mark.rule("25", "D1")
def test_a_view_json_that_is_not_the_logs_view_is_said_and_written_anew_by_an_owner(
    view: bytes | None, words: str
) -> None:
    writer = grow(90)
    right = writer.disk.files.pop(VIEW)
    if view is not None:
        writer.disk.files[VIEW] = view
    (said,) = verified(writer.disk)
    assert (VIEW, 1) == (said.file, said.line)
    assert words in said.what
    for owner in (False, True):
        found = opened(writer.disk, owner=owner)
        assert (state_of(writer.chat), (said,)) == (state_of(found.chat), found.problems)
    assert read_view(right) == read_view(writer.disk.files[VIEW])
    assert () == opened(writer.disk).problems


@pytest.mark.rule("25", "D1")
def test_a_view_json_that_can_not_be_read_is_as_good_as_none() -> None:
    writer = grow(90)
    disk = Unreadable()
    disk.files = writer.disk.files
    found = opened(disk, owner=False)
    assert state_of(writer.chat) == state_of(found.chat)
    assert ["view.json:1 (byte 0): can't be read: Is a directory; the logs give the view"] == list(
        map(str, found.problems)
    )
    assert list(found.problems) == verified(disk)


@pytest.mark.rule("25", "D1")
def test_a_view_json_that_an_owner_saves_meanwhile_is_not_compared() -> None:
    writer = grow(90)
    writer.disk.files[VIEW] = b"[[9,0]]"
    assert () == open_chat(writer.disk, SqliteIndex(None), SMALL, owner=False, alone=False).problems


class Unreadable(MemoryDisk):
    """A disk on which view.json is a folder."""

    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        if path == VIEW:
            raise StoreError(path, 21, "Is a directory")
        return super().read(path, offset, length)


@pytest.mark.rule("25")
def test_a_view_json_that_is_behind_by_messages_is_as_it_should_be() -> None:
    writer = grow(90)
    for i in range(3):
        writer.message(f"since it was saved {i}")
    assert len(orjson.loads(writer.disk.files[VIEW])) < len(writer.chat.view.lines)
    assert () == opened(writer.disk).problems
    assert [] == verified(writer.disk)
