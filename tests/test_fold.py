"""From the logs to the chat, by example; what holds for any history is in laws/fold_….

Logs as a fold reads them: messages by their bytes, then nodes and batches in the order logged.
"""

from collections.abc import Iterable
from itertools import repeat

import pytest

from eukhe.limits import LOST_BYTES, PLACEHOLDER_BYTES
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.fold import Folded, Merges, NodeSize, _Reading, checkpoint, fold
from eukhe.model.part import Part

NO_FREE = ChatLimits(node=0)
SMALL_VIEW = ChatLimits(ceiling=4_000, floor=2_000)
BIG = 600  # a message that is not its own node


def node(level: int, i: int, size: int = 100) -> NodeSize:
    return NodeSize(Part(level, i), size)


def batch(*parents: tuple[int, int], t: int | None, still_open: bool = False) -> Merges:
    return Merges(tuple(Part(*parent) for parent in parents), still_open, t)


def whole_tree(levels: int) -> list[NodeSize]:
    """Every node over 2^levels messages, level by level."""
    return [node(level, i) for level in range(levels + 1) for i in range(1 << (levels - level))]


def folded(messages: int, tree: Iterable[NodeSize | Merges], limits: ChatLimits = NO_FREE) -> Folded:
    return fold(None, [BIG] * messages, tree, limits)


def view(chat: Chat) -> list[tuple[int, int]]:
    return [tuple(part) for part in chat.view.parts()]  # type: ignore[misc]


def test_empty_logs_are_a_new_chat() -> None:
    found = folded(0, [])
    assert (0, [], (), ()) == (found.chat.t, view(found.chat), found.free, found.problems)


@pytest.mark.rule("D1")
def test_the_merges_are_done_over_and_nothing_is_computed_anew() -> None:
    # By due order 0+2 would merge first; the log says otherwise, and the log is what the provider has cached.
    found = folded(4, [*whole_tree(2)[:-1], batch((1, 1), t=4)])
    assert [(0, 0), (0, 1), (1, 1)] == view(found.chat)
    assert () == found.problems


@pytest.mark.rule("24", "F1")
def test_a_view_that_was_above_its_floor_is_shrinking_after_a_start() -> None:
    limits = ChatLimits(ceiling=1_000, floor=0, node=0)
    assert not folded(3, [batch(t=2)], limits).chat.shrinking
    chat = folded(3, [batch(t=2, still_open=True)], limits).chat
    assert chat.shrinking
    assert () == chat.message()


@pytest.mark.rule("1", "25")
def test_a_batch_line_without_a_count_stands_where_it_is_read() -> None:
    tree = [node(0, 0), node(0, 1), node(1, 0), batch((1, 0), t=None), node(0, 2)]
    found = folded(4, tree)
    assert [(1, 0), (0, 2), (0, 3)] == view(found.chat)
    assert not found.chat.shrinking
    assert () == found.problems


@pytest.mark.rule("D8")
def test_a_start_runs_no_batch() -> None:
    chat = folded(4, whole_tree(2), ChatLimits(ceiling=1, floor=0, node=0)).chat
    assert 4 == len(chat.view.lines)
    assert (Part(1, 0), Part(1, 1), Part(2, 0)) == chat.message()


@pytest.mark.rule("D7", "33")
def test_the_compaction_view_of_a_start_is_the_view_merged_to_its_floor() -> None:
    chat = folded(4, whole_tree(2), ChatLimits(compaction_floor=300, node=0)).chat
    assert 4 == len(chat.view.lines)
    assert [Part(1, 0), Part(0, 2), Part(0, 3)] == chat.compaction_view.parts()


# --- lost, doubled and foreign lines ---


@pytest.mark.rule("D1")
def test_a_merge_whose_parent_is_lost_is_left_out_and_said() -> None:
    found = folded(2, [node(0, 0), node(0, 1), batch((1, 0), t=2)])
    assert [(0, 0), (0, 1)] == view(found.chat)
    assert ((2, "the merge to 0+2 is left out: its line is not there"),) == found.problems


@pytest.mark.rule("D1")
def test_a_merge_above_a_lost_one_replaces_every_line_inside_it() -> None:
    tree = [record for record in whole_tree(2) if record.part != Part(1, 0)]
    found = folded(4, [*tree, batch((1, 0), (1, 1), (2, 0), t=4)])
    assert [(2, 0)] == view(found.chat)
    assert {(2, 0): 100} == found.chat.sizes
    assert {(1, 0)} == found.chat.ready  # it can be built again
    assert ((6, "the merge to 0+2 is left out: its line is not there"),) == found.problems


@pytest.mark.rule("D1")
def test_a_merge_of_lines_that_are_not_there_is_left_out_and_said() -> None:
    tree = [*whole_tree(2), batch((1, 0), (1, 1), (2, 0), t=4), batch((1, 1), (2, 0), t=4)]
    found = folded(4, tree)
    assert [(2, 0)] == view(found.chat)
    assert (
        (8, "the merge to 2+2 is left out: no lines of the view fill it"),
        (8, "the merge to 0+4 is left out: no lines of the view fill it"),
    ) == found.problems


@pytest.mark.rule("13")
def test_of_two_lines_for_a_node_the_first_counts_and_the_second_is_said() -> None:
    found = folded(1, [node(0, 0, 5), node(0, 0, 7)])
    assert (5, 1) == (found.chat.view.size, found.chat.built_nodes.count)
    assert ((1, "a second line for node 0+1; the first one counts"),) == found.problems


@pytest.mark.rule("13")
def test_a_node_past_the_last_message_is_left_out_and_said() -> None:
    found = folded(3, [node(0, 3), node(1, 1)])
    assert 0 == found.chat.built_nodes.count
    assert (
        (0, "node 3+1 stands past the last message"),
        (1, "node 2+2 stands past the last message"),
    ) == found.problems
    found.chat.message()
    assert 4 * PLACEHOLDER_BYTES == found.chat.view.size  # its text is not the next message's


def test_a_lost_message_counts_as_what_stands_for_it() -> None:
    found = fold(None, [BIG, LOST_BYTES, BIG], [node(0, 0, 512)])
    assert (Part(0, 1),) == found.free
    assert 512 + LOST_BYTES + PLACEHOLDER_BYTES == found.chat.view.size


# --- free nodes ---


@pytest.mark.rule("12")
def test_free_nodes_that_a_crash_kept_from_the_log_are_built_and_named_upwards() -> None:
    found = fold(None, [100, BIG, 100, 150], [node(0, 1, 200)])
    assert (Part(0, 0), Part(1, 0), Part(0, 2), Part(0, 3), Part(1, 1)) == found.free  # 301 and 251: 0+4 is not free
    assert found.chat.settled


@pytest.mark.rule("12")
def test_a_free_merge_above_nodes_that_were_logged_is_found_too() -> None:
    found = fold(None, [BIG, BIG], [node(0, 0, 255), node(0, 1, 256)])
    assert (Part(1, 0),) == found.free
    assert () == fold(None, [BIG, BIG], [node(0, 0, 256), node(0, 1, 256)]).free


# --- checkpoints ---


@pytest.mark.rule("D1")
def test_from_a_checkpoint_only_what_was_logged_since_is_read() -> None:
    tree = [*whole_tree(2), batch((1, 0), t=4)]
    chat = folded(4, tree).chat
    chat.start(Part(0, 4))
    chat.failed(Part(0, 4), 9)
    later = fold(checkpoint(chat), [BIG], [node(0, 4), batch((1, 1), t=5, still_open=True)], NO_FREE)
    assert [(1, 0), (1, 1), (0, 4)] == view(later.chat)
    assert (5, True, ()) == (later.chat.t, later.chat.shrinking, later.problems)
    assert (set(), set(), {}) == (later.chat.running, later.chat.parked, later.chat.failures)


@pytest.mark.rule("42")
def test_ready_merges_are_ready_after_a_start_from_a_checkpoint() -> None:
    chat = folded(4, [node(0, 0), node(0, 1), node(0, 2)]).chat
    later = fold(checkpoint(chat, [node(0, 3)]), [], [], NO_FREE).chat
    assert {(1, 0), (1, 1)} == later.ready
    assert [Part(1, 0), Part(1, 1)] == later.queue()


@pytest.mark.parametrize("data", [b"nonsense", b"[]", b"[[1],[]]", b'[[1,[],[],[],"no"],[]]', b"[[1,[],[],[],false]]"])
def test_what_is_no_checkpoint_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no checkpoint"):
        fold(data, [], [])


# --- memory ---


def test_a_view_taken_over_as_merges_leaves_no_size_of_the_nodes_between() -> None:
    found = folded(1 << 10, [*whole_tree(10), batch((9, 0), (8, 2), (8, 3), t=1 << 10)])
    assert [(9, 0), (8, 2), (8, 3)] == view(found.chat)
    assert {(9, 0), (8, 2), (8, 3), (9, 1), (10, 0)} == set(found.chat.sizes)
    assert () == found.problems


@pytest.mark.rule("42")
def test_a_long_log_leaves_no_more_behind_than_the_chat_that_wrote_it() -> None:
    live, tree = Chat(SMALL_VIEW), []
    for _ in range(3_000):
        step = live.logged(20)
        if step.batch is not None:
            tree.append(Merges(step.batch, live.shrinking, live.t))
        tree += [NodeSize(part, live.sizes[part]) for part in step.free]
    reading = _Reading(Chat(SMALL_VIEW), repeat(20, live.t))
    for record in tree:
        said = reading.node(record) if isinstance(record, NodeSize) else reading.batch(record)
        assert [] == said
        assert len(reading.small) <= 1  # messages whose own lines have not come yet
    assert live.sizes == reading.chat.sizes
    assert len(live.sizes) <= 2 * len(live.view.lines)


def test_messages_are_read_only_as_far_as_the_tree_log_needs_them() -> None:
    read = 0

    def messages() -> Iterable[int]:
        nonlocal read
        for _ in range(6):
            read += 1
            yield BIG

    def tree() -> Iterable[NodeSize | Merges]:
        assert 0 == read
        yield node(0, 2)
        assert 3 == read
        yield batch(t=4)
        assert 4 == read

    assert 6 == fold(None, messages(), tree(), NO_FREE).chat.t
