"""Which lines of a view were marked before, and whether its beginning has changed since."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.actors.messages import Logged, Wait, Written
from eukhe.actors.planner_marks import Mark, Marks
from eukhe.model.part import Part
from tests.planner_kit import LONG, SHORT, last_order, planner, views
from tests.waits_kit import build, part


def lines(count: int, merged: int = 0) -> tuple[Part, ...]:
    """So many lines, the first of them merged."""
    return *(Part(1, i) for i in range(merged)), *(Part(0, i) for i in range(2 * merged, merged + count))


def test_the_first_request_finds_no_mark_and_the_next_one_that_of_the_last_whole_block() -> None:
    marks = Marks(5)
    assert Mark(5, 0) == marks.next(10, lines(10), 10)
    assert Mark(5, 8) == marks.next(13, lines(13), 13)
    assert Mark(5, 12) == marks.next(13, lines(13), 13)


def test_in_a_deadline_view_the_mark_stands_before_the_first_unbuilt_line() -> None:
    marks = Marks(0)
    marks.next(10, lines(10), 5)
    assert Mark(0, 4) == marks.next(10, lines(10), 10)


def test_a_merge_begins_another_batch_with_no_mark_and_no_number_comes_twice() -> None:
    marks = Marks(0)
    marks.next(10, lines(10), 10)
    assert Mark(10, 0) == marks.next(10, lines(9, merged=1), 9)
    assert Mark(10, 8) == marks.next(12, lines(11, merged=1), 11)
    assert Mark(12, 0) == marks.next(12, lines(10, merged=2), 10)
    assert Mark(13, 0) == marks.next(12, lines(9, merged=3), 9)


def test_a_shorter_request_in_between_changes_nothing() -> None:
    marks = Marks(0)
    marks.next(10, lines(10), 10)
    assert Mark(0, 0) == marks.next(10, lines(6), 6)
    assert Mark(0, 8) == marks.next(11, lines(11), 11)


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=20))
def test_up_to_a_mark_a_request_is_one_that_was_sent_before_and_a_batch_has_one_beginning(
    steps: list[tuple[int, bool]],
) -> None:
    marks, merged, t = Marks(0), 0, 0
    sent: dict[int, list[tuple[Part, ...]]] = {}
    for more, merges in steps:
        t += more
        merged = min(merged + merges, t // 2)
        now = lines(t - merged, merged)
        batch, marked = marks.next(t, now, len(now))
        before = sent.setdefault(batch, [])
        assert marked == max((len(other) - len(other) % 4 for other in before), default=0)
        assert all(now[: len(other)] == other for other in before)
        before.append(now)


@pytest.mark.usefixtures("both_runtimes")
def test_turns_are_told_of_the_view_handed_out_before() -> None:
    actor = planner()
    effects = actor.receive(Logged(0, (SHORT,) * 9))
    actor.receive(Wait("door", 1))
    (first,) = views(actor.receive(Written((), last_order(effects))))
    (second,) = views(actor.receive(Wait("door", 2)))
    assert ((0, 0), (0, 8)) == ((first.batch, first.marked), (second.batch, second.marked))


@pytest.mark.usefixtures("both_runtimes")
def test_calls_are_told_of_the_call_before() -> None:
    actor = planner(jobs=1, contexts=True)
    actor.receive(Logged(0, (SHORT,) * 5))
    first = [message for effect in actor.receive(Logged(5, (LONG,))) if (message := getattr(effect, "message", None))]
    (order,) = [message for message in first if type(message).__name__ == "StartBuild"]
    assert (0, 0, 5) == (order.batch, order.marked, len(order.context))
    build(actor, {part(5): order.call})
    again = [getattr(effect, "message", None) for effect in actor.receive(Logged(6, (LONG,)))]
    (order,) = [message for message in again if type(message).__name__ == "StartBuild"]
    assert (0, 4, 6) == (order.batch, order.marked, len(order.context))
