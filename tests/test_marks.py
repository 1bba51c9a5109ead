"""Which lines of a view were marked before, and whether its beginning has changed since."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.actors.messages import Logged, Wait, Written
from eukhe.actors.planner_marks import Mark, Marks, batch_of
from eukhe.model.part import Part
from tests.planner_kit import LONG, SHORT, last_order, planner, views
from tests.waits_kit import build, part


def lines(count: int, merged: int = 0) -> tuple[Part, ...]:
    """So many lines, the first of them merged."""
    return *(Part(1, i) for i in range(merged)), *(Part(0, i) for i in range(2 * merged, merged + count))


def of(marks: Marks, view: tuple[Part, ...], built: int | None = None) -> int:
    """The lines before the mark that a request of this view finds."""
    return marks.next(view, view, len(view) if built is None else built).lines


def test_the_first_request_finds_no_mark_and_the_next_one_that_of_the_last_whole_block() -> None:
    marks = Marks()
    assert [0, 8, 12] == [of(marks, lines(10)), of(marks, lines(13)), of(marks, lines(13))]


def test_in_a_deadline_view_the_mark_stands_before_the_first_unbuilt_line() -> None:
    marks = Marks()
    assert [0, 4] == [of(marks, lines(10), 5), of(marks, lines(10))]


def test_a_merge_begins_another_batch_with_no_mark() -> None:
    marks = Marks()
    views_ = [lines(10), lines(9, merged=1), lines(11, merged=1), lines(10, merged=2)]
    assert [0, 0, 8, 0] == [of(marks, view) for view in views_]
    assert 3 == len(set(map(batch_of, views_)))


def test_a_shorter_request_in_between_changes_nothing() -> None:
    marks = Marks()
    view = lines(11)
    assert [Mark(batch_of(view), found) for found in (0, 0, 8)] == [
        marks.next(view, view[:count], count) for count in (10, 6, 11)
    ]


def test_another_owner_counts_the_same_batch() -> None:
    view = lines(9, merged=2)
    assert Marks().next(view, view, 9).batch == Marks().next((*view, Part(0, 11)), view, 9).batch


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=20))
def test_up_to_a_mark_a_request_is_one_that_was_sent_before_and_a_batch_has_one_beginning(
    steps: list[tuple[int, bool]],
) -> None:
    marks, merged, t = Marks(), 0, 0
    sent: dict[int, list[tuple[Part, ...]]] = {}
    for more, merges in steps:
        t += more
        merged = min(merged + merges, t // 2)
        now = lines(t - merged, merged)
        batch, marked = marks.next(now, now, len(now))
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
    assert first.batch == second.batch
    assert (0, 8) == (first.marked, second.marked)


@pytest.mark.usefixtures("both_runtimes")
def test_calls_are_told_of_the_call_before() -> None:
    actor = planner(jobs=1, contexts=True)
    actor.receive(Logged(0, (SHORT,) * 5))
    first = [message for effect in actor.receive(Logged(5, (LONG,))) if (message := getattr(effect, "message", None))]
    (order,) = [message for message in first if type(message).__name__ == "StartBuild"]
    assert (0, 5) == (order.marked, len(order.context))
    build(actor, {part(5): order.call})
    again = [getattr(effect, "message", None) for effect in actor.receive(Logged(6, (LONG,)))]
    (order,) = [message for message in again if type(message).__name__ == "StartBuild"]
    assert (4, 6) == (order.marked, len(order.context))
