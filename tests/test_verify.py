"""The proof of a chat from its files: a sound one passes, and each thing that can be wrong is named where it is."""

from collections.abc import Callable

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_kit import LATER_MAIN, LATER_TREE, MAIN, TREE, VIEW, after, grow, harmful, opened, verified
from store_kit import MemoryDisk

from eukhe.actors.log_files import LogFiles
from eukhe.actors.opening import saved_view
from eukhe.actors.ports import Place, Placed
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, GapRecord, NodeRecord, decode_tree, encode, message, node
from eukhe.model.verify import Verification
from eukhe.model.verify_tree import Nodes, Replay
from eukhe.world.index import SqliteIndex

Lines = list[bytes]


def edited(disk: MemoryDisk, path: str, change: Callable[[Lines], None]) -> None:
    """Changes a file's lines."""
    lines = disk.files[path].splitlines(keepends=True)
    change(lines)
    disk.files[path] = b"".join(lines)


def place_of(disk: MemoryDisk, path: str, line: int) -> str:
    """`file:line (byte n)`, the line counted from 0."""
    offset = sum(map(len, disk.files[path].splitlines(keepends=True)[:line]))
    return f"{path}:{line + 1} (byte {offset})"


def line_of(disk: MemoryDisk, path: str, part: Part) -> int:
    start = b'{"l":%d,"i":%d,' % part
    return next(n for n, line in enumerate(disk.files[path].splitlines()) if line.startswith(start))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.rule("1", "2", "11", "12", "13", "25", "D1")
def test_a_sound_chat_proves_true(late: bool) -> None:
    writer, index = grow(200, late=late), SqliteIndex(None)
    opened(writer.disk, index)
    tree, main = LogFiles(writer.disk, "tree"), LogFiles(writer.disk, "main")
    proof = Verification(main.files(), tree.files(), saved_view(writer.disk), index)
    assert [] == list(proof.problems())
    assert (200, writer.chat.built_nodes.count) == (proof.messages, proof.nodes)
    assert proof.batches > 0
    assert writer.chat.view.parts() == proof.view


def test_an_empty_chat_proves_true() -> None:
    assert [] == verified(MemoryDisk(), SqliteIndex(None))


@given(st.integers(0, 70), st.integers(0, 10_000), st.booleans())
@pytest.mark.rule("25", "D1")
def test_whatever_a_chat_grew_from_its_proof_holds_and_its_view_is_the_live_one(
    count: int, seed: int, late: bool
) -> None:
    writer = grow(count, seed=seed, late=late)
    assert [] == harmful(verified(writer.disk))


def test_a_message_that_is_gone_is_named() -> None:
    writer = grow(40)
    edited(writer.disk, LATER_MAIN, lambda lines: lines.pop(5))
    assert f"{place_of(writer.disk, LATER_MAIN, 5)}: message 25 is missing" in harmful(verified(writer.disk))


def test_an_accepted_gap_proves_true_with_its_lost_lines() -> None:
    writer = grow(40)
    edited(writer.disk, LATER_MAIN, lambda lines: lines.pop(5))
    found = opened(writer.disk, accept_gap=True)
    said = [each for each in harmful(verified(writer.disk)) if not each.startswith(VIEW)]
    assert 40 == found.chat.t
    # Message 25 is lost; the line that it had is not.
    assert [] == said


def test_a_tail_of_ids_that_a_gap_line_gives_up_proves_true() -> None:
    writer = grow(0)
    writer.message("one")
    writer.write_main(GapRecord(1, 3))
    writer.write_tree(node(Part(0, 1), "(lost)"), node(Part(0, 2), "(lost)"))
    writer.disk.files[VIEW] = b"[[0,0],[0,1],[0,2]]"
    assert [] == verified(writer.disk)
    assert 3 == opened(writer.disk).chat.t


def test_a_wrong_size_is_named() -> None:
    writer = grow(20)
    edited(writer.disk, MAIN, lambda lines: lines.__setitem__(2, lines[2].replace(b'"size":', b'"size":1')))
    (said,) = harmful(verified(writer.disk))
    assert said.startswith(f"{place_of(writer.disk, MAIN, 2)}: message 2 says 1")


@pytest.mark.rule("12")
def test_a_short_message_whose_line_is_not_itself_is_named() -> None:
    writer = grow(20)
    part = next(part for part in writer.texts if part.level == 0 and ": message" in writer.texts[part])
    at = line_of(writer.disk, TREE, part)
    edited(writer.disk, TREE, lambda lines: lines.__setitem__(at, encode(node(part, "short for it"))))
    assert (
        f"{place_of(writer.disk, TREE, at)}: message {part.i} fits in 512 bytes, and its line is not the message"
        in (harmful(verified(writer.disk)))
    )


@pytest.mark.rule("12")
def test_a_merge_that_fits_and_is_not_its_two_halves_is_named() -> None:
    for wrong in ("user: one user: two", "user: one\nuser: twO", "user: one\nuser: two ", "user: one"):
        writer = grow(0)
        writer.message("one")
        writer.message("two")
        edited(writer.disk, TREE, lambda lines, w=wrong: lines.__setitem__(2, encode(node(Part(1, 0), w))))  # type: ignore[misc]
        (said,) = harmful(verified(writer.disk))
        assert said.endswith("the halves of node 0+2 fit in 512 bytes, and its line is not the two")


@pytest.mark.parametrize(("right", "free"), [(255, True), (256, False)])
@pytest.mark.rule("12")
def test_a_merge_is_free_up_to_512_bytes_and_no_further(right: int, free: bool) -> None:
    nodes = Nodes()
    nodes.add(node(Part(0, 0), "l" * 256))
    nodes.add(node(Part(0, 1), "r" * right))
    said = nodes.add(node(Part(1, 0), "a line that a model wrote"))
    assert free == bool(said)


def test_a_merge_before_its_halves_is_named_and_does_harm_until_they_come() -> None:
    writer = grow(0)
    writer.message("one")
    writer.message("two")
    edited(writer.disk, TREE, lambda lines: lines.insert(0, lines.pop(2)))
    halves = [f"{TREE}:1 (byte 0): node 0+2 has no line for its half {name} before it" for name in ("0+1", "1+1")]
    assert [(said, True) for said in halves] == [(str(each), each.harmless) for each in verified(writer.disk)]
    edited(writer.disk, TREE, lambda lines: lines.pop())
    assert halves[1:] == harmful(verified(writer.disk))


def test_a_line_of_the_tree_that_was_broken_and_made_anew_does_no_harm() -> None:
    writer = grow(90)
    lines = writer.disk.files[LATER_TREE].splitlines(keepends=True)
    batch = next(record for line in lines if isinstance(record := decode_tree(line), BatchRecord) and record.merge)
    parent = batch.merge[0]
    path = TREE if b'{"l":%d,"i":%d,' % parent in writer.disk.files[TREE] else LATER_TREE
    at = line_of(writer.disk, path, parent)
    edited(writer.disk, path, lambda lines: lines.__setitem__(at, b"\0\n"))
    left_out = f"the merge to {parent.name} is left out: its line is not there"
    assert any(said.endswith(left_out) for said in harmful(verified(writer.disk)))
    writer.write_tree(node(parent, writer.texts[parent]))
    opened(writer.disk)  # saves the view as it is now
    found = verified(writer.disk)
    assert [] == harmful(found)
    assert any(str(said).endswith(left_out) for said in found)


def test_a_line_of_more_than_512_bytes_is_named() -> None:
    writer = grow(20)
    part = next(part for part in writer.texts if part.level == 0 and ": message" not in writer.texts[part])
    at = line_of(writer.disk, TREE, part)
    edited(writer.disk, TREE, lambda lines: lines.__setitem__(at, encode(node(part, "x" * 513))))
    assert f"{place_of(writer.disk, TREE, at)}: a line of 513 bytes, where 1 to 512 are allowed" in (
        harmful(verified(writer.disk))
    )


def test_a_node_past_the_last_message_is_named_until_it_is_voided() -> None:
    writer = grow(20)
    writer.write_tree(NodeRecord(Part(0, 20), "early", 5))
    (said,) = harmful(verified(writer.disk))
    assert said.endswith("node 20+1 stands past the last message")
    opened(writer.disk)
    assert [] == harmful(verified(writer.disk))


def test_a_batch_that_was_changed_gives_another_view_and_is_named() -> None:
    writer = grow(90)
    lines = writer.disk.files[LATER_TREE].splitlines()
    at = max(n for n, line in enumerate(lines) if line.startswith(b'{"merge":[['))
    batch = decode_tree(lines[at])
    assert isinstance(batch, BatchRecord)
    fewer = encode(BatchRecord(batch.merge[:-1], batch.open, batch.t))
    edited(writer.disk, LATER_TREE, lambda lines: lines.__setitem__(at, fewer))
    assert any(each.startswith(f"{VIEW}:1 (byte 0): is ") for each in map(str, verified(writer.disk)))


@pytest.mark.parametrize(
    ("merge", "words"),
    [
        ((Part(2, 9),), "the merge to 36+4 is left out: its line is not there"),
        ((Part(1, 0),), "the merge to 0+2 is left out: no lines of the view fill it"),
    ],
)
def test_a_merge_that_can_not_have_been_is_named(merge: tuple[Part, ...], words: str) -> None:
    writer = grow(8)
    writer.write_tree(BatchRecord((Part(2, 0),), False, 8), BatchRecord(merge, False, 8))
    writer.disk.files[VIEW] = orjson.dumps([[2, 0], *([0, i] for i in range(4, 8))])
    (said,) = harmful(verified(writer.disk))
    assert said.endswith(words)


def test_a_batch_of_more_messages_than_there_are_is_named() -> None:
    writer = grow(8)
    writer.write_tree(BatchRecord((), False, 9))
    (said,) = harmful(verified(writer.disk))
    assert said.endswith("a batch at message 9, where there are 8")


def test_torn_lines_that_were_ended_are_told_and_are_no_fault() -> None:
    writer = grow(20)
    writer.disk.files[MAIN] += b'{"i":10,"ki\n'
    writer.disk.files[TREE] += b"\0\0\0\n"
    found = verified(writer.disk)
    assert [(MAIN, 11, True), (TREE, writer.disk.files[TREE].count(b"\n"), True)] == sorted(
        (problem.file, problem.line, problem.harmless) for problem in found
    )


# --- the index ---


class Moved:
    """An index that has one record elsewhere, or not at all."""

    def __init__(self, index: SqliteIndex, what: int | Part, place: Place | None) -> None:
        self.index, self.what, self.place = index, what, place

    def message_place(self, i: int) -> Place | None:
        return self.place if i == self.what else self.index.message_place(i)

    def node_place(self, part: Part) -> Place | None:
        return self.place if part == self.what else self.index.node_place(part)

    def id_of_key(self, key: str) -> int | None:
        return self.index.id_of_key(key)

    def counts(self) -> tuple[int, int]:
        return self.index.counts()


@pytest.mark.parametrize("what", [7, Part(0, 7)])
@pytest.mark.parametrize(
    ("place", "words"), [(None, "index.db does not have"), (Place(MAIN, 3, 4), f"at {MAIN}, byte 3, 4 bytes")]
)
def test_an_index_that_leads_elsewhere_is_named_where_the_record_is(
    what: int | Part, place: Place | None, words: str
) -> None:
    writer, index = grow(20), SqliteIndex(None)
    opened(writer.disk, index)
    (said,) = harmful(verified(writer.disk, Moved(index, what, place)))
    assert words in said
    assert said.startswith((MAIN, TREE))


def test_an_index_of_more_than_the_logs_is_named() -> None:
    writer, index = grow(20), SqliteIndex(None)
    opened(writer.disk, index)
    index.feed([Placed(message(20, "user", "x", "2026-10-05T09:32:11+02:00"), Place(MAIN, 0, 1))])
    index.feed([Placed(node(Part(0, 20), "x"), Place(TREE, 0, 1))])
    nodes = writer.chat.built_nodes.count
    assert [
        "index.db:1 (byte 0): has 21 messages where the logs have 20",
        f"index.db:1 (byte 0): has {nodes + 1} nodes where the logs have {nodes}",
    ] == harmful(verified(writer.disk, index))


def test_an_index_that_is_behind_is_as_it_should_be() -> None:
    writer, index = grow(20), SqliteIndex(None)
    opened(writer.disk, index)
    later = after(writer.disk, writer.chat)
    for i in range(9):
        later.message(f"since then {i}")
    assert [] == verified(writer.disk, index)


# --- what it keeps ---


@pytest.mark.rule("42")
def test_what_it_keeps_does_not_grow_with_the_chat() -> None:
    kept = []
    for count in (64, 512):
        writer = grow(count)
        tree, main = LogFiles(writer.disk, "tree"), LogFiles(writer.disk, "main")
        proof = Verification(main.files(), tree.files(), saved_view(writer.disk))
        assert [] == list(proof.problems())
        kept.append(len(proof._nodes.free) + len(proof._nodes._halves))
    assert max(kept) <= 10


def test_the_replayed_view_merges_only_lines_that_fill_a_node() -> None:
    replay = Replay()
    replay.append_until(7)
    assert [True, True, False, False, False] == [
        replay.merge(Part(1, 0)),
        replay.merge(Part(1, 1)),
        replay.merge(Part(1, 1)),
        replay.merge(Part(2, 1)),
        replay.merge(Part(1, 3)),
    ]
    assert replay.merge(Part(2, 0))
    assert [Part(2, 0), Part(0, 4), Part(0, 5), Part(0, 6)] == replay.parts()
