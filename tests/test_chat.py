"""The chat's planner by example; what holds for any history is in laws/."""

import pytest

from eukhe.limits import JOBS_MAX, NODE_BYTES_MAX, PLACEHOLDER_BYTES
from eukhe.model.chat import Chat, ChatLimits, Step
from eukhe.model.part import Part

BIG = NODE_BYTES_MAX + 1  # a message that is not its own node
SMALL_VIEW = ChatLimits(ceiling=4_000, floor=2_000, compaction_ceiling=1_000, compaction_floor=500)


def chat_of(messages: int, limits: ChatLimits | None = None) -> Chat:
    """Nothing built."""
    chat = Chat(limits)
    for _ in range(messages):
        chat.message()
    return chat


def build(chat: Chat, *parts: tuple[int, int], size: int = 100) -> None:
    for level, i in parts:
        chat.built(Part(level, i), size)


def compact(chat: Chat) -> None:
    """A compactor that is never late: all that the queue names, until it names nothing."""
    while queue := chat.queue():
        for part in queue:
            chat.start(part)
            chat.built(part, 100 + part.i * 37 % 400)
            chat.free_above(part)


# --- messages, batches ---


@pytest.mark.rule("22")
def test_a_new_chat_has_no_line_and_a_message_brings_one() -> None:
    chat = Chat()
    assert ([], 0, True) == (chat.view.parts(), chat.view.size, chat.settled)
    assert chat.message() is None
    assert ([Part(0, 0)], PLACEHOLDER_BYTES, False) == (chat.view.parts(), chat.view.size, chat.settled)


@pytest.mark.rule("23")
def test_a_batch_runs_past_the_ceiling_and_not_at_it() -> None:
    limits = ChatLimits(ceiling=2 * PLACEHOLDER_BYTES, floor=0)
    chat = chat_of(2, limits)
    assert not chat.shrinking
    assert () == chat.message()
    assert chat.shrinking


@pytest.mark.rule("24", "F1")
def test_a_view_that_stopped_above_its_floor_goes_on_at_every_message_until_it_is_reached() -> None:
    chat = chat_of(3, ChatLimits(ceiling=3 * PLACEHOLDER_BYTES, floor=2 * PLACEHOLDER_BYTES))
    assert () == chat.message()
    assert chat.shrinking
    build(chat, (1, 0), (1, 1), size=10)
    assert [Part(0, 0), Part(0, 1), Part(0, 2), Part(0, 3)] == chat.view.parts()  # not when a node is built
    assert (Part(1, 0), Part(1, 1)) == chat.message()
    assert not chat.shrinking
    assert chat.message() is None


@pytest.mark.rule("D12")
def test_a_turn_that_takes_its_view_merges_what_was_built_since() -> None:
    chat = chat_of(4, ChatLimits(ceiling=3 * PLACEHOLDER_BYTES, floor=0))
    build(chat, (1, 0), size=10)
    assert (Part(1, 0),) == chat.take()
    assert () == chat.take()
    assert [Part(1, 0), Part(0, 2), Part(0, 3)] == chat.view.parts()


@pytest.mark.rule("33")
def test_the_compaction_view_keeps_its_own_limits_and_starts_anew_where_a_batch_merged() -> None:
    limits = ChatLimits(ceiling=700, floor=400, compaction_ceiling=400, compaction_floor=200)
    chat = Chat(limits)
    for i in range(4):
        chat.message()
        build(chat, (0, i))
    build(chat, (1, 0), (1, 1))
    chat.message()  # 429 bytes: past the compaction view's ceiling alone
    assert 5 == len(chat.view.lines)
    # Due are 0+2 with (5 - 1) / 1 and 2+2 with (5 - 3) / 1: one merge leaves 329 bytes, two 229; no third can be.
    assert [Part(1, 0), Part(1, 1), Part(0, 4)] == chat.compaction_view.parts()
    for i in range(4, 6):
        build(chat, (0, i))
        chat.message()
    build(chat, (0, 6), (2, 0))
    assert (Part(1, 0), Part(1, 1), Part(2, 0)) == chat.message()
    assert [Part(2, 0), *(Part(0, i) for i in range(4, 8))] == chat.view.parts() == chat.compaction_view.parts()


@pytest.mark.rule("33")
@pytest.mark.parametrize(("ceiling", "lines"), [(4 * PLACEHOLDER_BYTES, 4), (4 * PLACEHOLDER_BYTES - 1, 3)])
def test_the_compaction_view_is_merged_past_its_ceiling_and_not_at_it(ceiling: int, lines: int) -> None:
    chat = chat_of(3, ChatLimits(compaction_ceiling=ceiling, compaction_floor=0))
    build(chat, (1, 0))
    chat.message()
    assert lines == len(chat.compaction_view.lines)


# --- free nodes ---


@pytest.mark.rule("12")
def test_a_message_of_512_bytes_is_its_own_node_and_one_of_513_is_not() -> None:
    chat = Chat()
    assert Step(None, (Part(0, 0),)) == chat.logged(NODE_BYTES_MAX)
    assert Step(None, ()) == chat.logged(BIG)
    assert NODE_BYTES_MAX + PLACEHOLDER_BYTES == chat.view.size


@pytest.mark.rule("12")
def test_two_lines_that_fit_joined_by_a_newline_are_merged_free_and_so_upwards() -> None:
    chat = Chat()
    chat.logged(127)
    assert (Part(0, 1), Part(1, 0)) == chat.logged(127).free
    chat.logged(128)
    assert (Part(0, 3), Part(1, 1), Part(2, 0)) == chat.logged(127).free  # 255 and 256 and a newline: 512
    for size in (128, 128, 127):
        chat.logged(size)
    assert (Part(0, 7), Part(1, 3)) == chat.logged(128).free  # 257 and 256 and a newline: 514
    assert {(2, 1), (3, 0)} & chat.ready == {(2, 1)}


@pytest.mark.rule("12")
def test_a_message_joins_the_view_unbuilt_so_that_its_own_batch_can_not_count_on_its_line() -> None:
    chat = Chat(ChatLimits(ceiling=2 * PLACEHOLDER_BYTES, floor=0, node=20))
    assert [None, None] == [chat.logged(20).batch for _ in range(2)]
    # 20 and 20 and 29 bytes; the line itself, once built, would have left the view under its ceiling.
    assert () == chat.logged(1).batch


@pytest.mark.rule("12")
def test_above_a_line_that_a_model_wrote_free_merges_come_when_asked_for() -> None:
    chat = Chat()
    chat.logged(BIG)
    chat.logged(100)
    build(chat, (0, 0), size=411)
    assert [Part(1, 0)] == chat.free_above(Part(0, 0))
    assert 512 == chat.sizes[1, 0]


# --- the queue ---


@pytest.mark.rule("39", "40")
def test_unbuilt_lines_start_oldest_first_as_many_as_there_are_slots() -> None:
    chat = chat_of(JOBS_MAX + 3)
    assert [Part(0, i) for i in range(JOBS_MAX)] == chat.queue()
    chat.start(Part(0, 0))
    chat.start(Part(0, 5))
    assert [Part(0, i) for i in (1, 2, 3, 4, 6, 7)] == chat.queue()


@pytest.mark.rule("40")
def test_a_message_starts_only_while_fewer_than_eight_lines_before_it_are_unbuilt() -> None:
    chat = chat_of(JOBS_MAX + 3)
    chat.failed(Part(0, 0), 9)
    chat.failed(Part(0, 3), 9)
    assert [Part(0, i) for i in (1, 2, 4, 5, 6, 7)] == chat.queue()  # the parked ones are seen too
    build(chat, (0, 7))
    assert [Part(0, i) for i in (1, 2, 4, 5, 6, 8)] == chat.queue()


@pytest.mark.rule("40", "42", "D5")
def test_ready_merges_come_after_the_lines_by_level_and_index_and_not_while_a_turn_waits() -> None:
    chat = chat_of(9)
    build(chat, (0, 4), (0, 5), (0, 0), (0, 1), (1, 2), (0, 6), (0, 7), (1, 3), (0, 2), (0, 3))
    assert [Part(0, 8), Part(1, 0), Part(1, 1), Part(2, 1)] == chat.queue()
    assert [Part(0, 8)] == chat.queue(need=True)
    build(chat, (1, 1))
    chat.start(Part(1, 0))
    assert [Part(0, 8), Part(2, 1)] == chat.queue()


@pytest.mark.rule("38", "D5")
def test_a_failed_node_is_parked_until_the_next_message_or_a_tick() -> None:
    chat = chat_of(1)
    for again in (chat.tick, chat.message):
        chat.start(Part(0, 0))
        assert not chat.failed(Part(0, 0), 9)
        assert Part(0, 0) not in chat.queue()
        again()
        assert Part(0, 0) == chat.queue()[0]


@pytest.mark.rule("D5")
def test_failures_are_counted_by_node_across_messages_and_the_third_builds_it() -> None:
    chat = chat_of(2)
    outcomes = []
    for _ in range(3):
        chat.failed(Part(0, 1), 9)
        outcomes.append(chat.failed(Part(0, 0), 9))
        chat.message()
        build(chat, (0, 1))
    assert [False, False, True] == outcomes
    assert 9 == chat.sizes[0, 0]
    assert {} == chat.failures


@pytest.mark.rule("D5")
def test_a_wait_stops_what_its_turn_does_not_need_and_that_is_no_failure() -> None:
    chat = chat_of(3)
    build(chat, (0, 0), (0, 1))
    for part in (Part(1, 0), Part(0, 2)):
        chat.start(part)
    assert [Part(1, 0)] == chat.wait()
    assert {Part(0, 2)} == chat.running
    assert ({}, set()) == (chat.failures, chat.parked)


@pytest.mark.rule("13")
def test_of_two_outcomes_of_a_node_the_first_wins() -> None:
    chat = chat_of(1)
    assert chat.built(Part(0, 0), 5)
    assert not chat.built(Part(0, 0), 7)
    assert not chat.failed(Part(0, 0), 7)
    assert (5, set(), {}) == (chat.view.size, chat.parked, chat.failures)


# --- compactions ---


@pytest.mark.rule("34", "41", "F2")
def test_a_message_sees_the_lines_before_it_and_a_merge_those_up_to_its_end_as_far_as_they_are_built() -> None:
    chat = chat_of(6)
    build(chat, (0, 0), (0, 1), (0, 2), (0, 3), (0, 5))
    assert [Part(0, 0), Part(0, 1)] == chat.context(Part(0, 2))
    assert [Part(0, i) for i in range(4)] == chat.context(Part(1, 1))
    assert [Part(0, i) for i in range(4)] == chat.context(Part(1, 2))


@pytest.mark.rule("34", "F2")
def test_a_line_that_ends_after_the_node_is_not_seen() -> None:
    chat = chat_of(4)
    build(chat, (0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 0), (2, 0))
    chat.compaction_view.fit(chat.t, 0)
    assert [Part(2, 0)] == chat.compaction_view.parts()
    assert [] == chat.context(Part(1, 0))
    assert [] == chat.context(Part(0, 2))
    assert [Part(2, 0)] == chat.context(Part(2, 0))


# --- memory ---


@pytest.mark.rule("42")
@pytest.mark.parametrize("size", [BIG, 20])
def test_what_a_chat_keeps_grows_with_its_view_and_not_with_its_messages(size: int) -> None:
    chat = Chat(SMALL_VIEW)
    for _ in range(5_000):
        chat.logged(size)
        compact(chat)
        assert len(chat.sizes) <= 2 * len(chat.view.lines)  # its lines and, at most, the nodes above them
        assert len(chat.view.pairs) < len(chat.view.lines)
        assert len(chat.compaction_view.lines) <= len(chat.view.lines)
    assert len(chat.view.lines) < 200
    assert all(len(bounds) <= 2 for bounds in chat.built_nodes.levels)
    assert ([], set(), set(), set(), {}) == (
        chat._ready_order,
        chat.ready,
        chat.running,
        chat.parked,
        chat.failures,
    )


@pytest.mark.rule("42")
def test_free_merges_leave_nothing_behind_where_nobody_asks_for_the_queue() -> None:
    chat = Chat(SMALL_VIEW)
    for _ in range(5_000):
        chat.logged(20)
    assert len(chat._ready_order) <= 2 * len(chat.ready)
