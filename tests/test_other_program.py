"""A chat of another program, or of an older eukhe, opens and goes on."""

import orjson
import other_program
import pytest
from log_kit import (
    LATER_TREE,
    TREE,
    VIEW,
    after,
    grow,
    harmful,
    opened,
    state_of,
    verified,
)
from store_kit import MemoryDisk

from eukhe.actors.archive import Archive
from eukhe.actors.opening import open_chat
from eukhe.model.chat import ChatLimits
from eukhe.model.part import Part
from eukhe.model.record import (
    BatchRecord,
    NodeRecord,
    VoidRecord,
    decode_tree,
    encode,
)
from eukhe.world.index import SqliteIndex

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
