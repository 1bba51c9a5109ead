"""Turns that wait for their view: what runs meanwhile, ticks, deadlines. Rules 38 to 40, 47, D5, D10."""

import pytest

from eukhe.actors.behaviour import CancelTimer, SetTimer
from eukhe.actors.messages import (
    Cancel,
    Logged,
    StartBuild,
    StopBuild,
    Tick,
    Wait,
    Written,
)
from eukhe.limits import RETRY_TICK_S
from eukhe.model.part import Part
from eukhe.model.record import node
from tests.actor_kit import told
from tests.planner_kit import LONG, SHORT, last_order, orders, planner, stopped, views, written
from tests.waits_kit import CANCEL, TAKE, TICK, TURN, build, done, failed, merging, part, retries, status, taken

pytestmark = pytest.mark.usefixtures("both_runtimes")


# --- a view that is built, or gets built ---


@pytest.mark.rule("47")
def test_a_turn_of_an_empty_chat_gets_its_empty_view_at_once() -> None:
    assert [taken(0, ())] == views(planner().receive(TURN))


@pytest.mark.rule("47")
def test_a_turn_gets_its_view_once_every_line_of_it_is_built() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG, LONG))))
    assert [] == views(actor.receive(TURN))
    last = {part(1): calls.pop(part(1))}
    assert [] == views(build(actor, calls))
    assert [taken(2, (part(0), part(1)))] == views(build(actor, last))
    assert 0 == status(actor).waiting


@pytest.mark.rule("47")
def test_messages_that_others_log_during_a_wait_are_part_of_the_view_that_it_is_about() -> None:
    actor = planner()
    first = orders(actor.receive(Logged(0, (LONG,))))
    actor.receive(TURN)
    second = orders(actor.receive(Logged(1, (LONG,))))
    assert [] == views(build(actor, first))
    assert [taken(2, (part(0), part(1)))] == views(build(actor, second))


@pytest.mark.rule("47")
def test_several_turns_wait_together_and_get_the_same_view_in_their_order() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG,))))
    for ticket in (1, 2):
        actor.receive(Wait("door", ticket))
    actor.receive(Wait("edge", 1))
    assert 3 == status(actor).waiting
    effects = build(actor, calls)
    assert [1, 2, 1] == [view.ticket for view in views(effects)]
    assert 1 == len({(view.t, view.lines, view.unbuilt) for view in views(effects)})
    assert 1 == len(told(effects, "edge"))


def test_a_wait_that_is_ordered_again_is_the_same_wait() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG,)), 0))
    actor.receive(TURN)
    actor.receive(failed(calls[part(0)], part(0)))
    assert [] == actor.receive(TURN, RETRY_TICK_S), "what failed is for the tick"
    assert 1 == status(actor).waiting


def test_a_wait_whose_view_is_on_its_way_may_be_ordered_again_and_is_answered_once() -> None:
    actor, _ = merging()
    actor.receive(Logged(2, (LONG, SHORT)))
    actor.receive(TURN)
    actor.receive(TAKE)  # to be handed out once the last message's line is on disk
    assert [] == actor.receive(TURN), "nothing is stopped for it"
    assert [1] == [view.ticket for view in views(actor.receive(Written((part(3),), 3)))]
    assert [] == views(actor.receive(done(4, part(2))))


# --- what runs meanwhile ---


@pytest.mark.rule("D5")
def test_while_a_turn_waits_only_lines_of_its_view_start_and_merges_go_on_after() -> None:
    actor = planner(jobs=4)
    calls = orders(actor.receive(Logged(0, (LONG,) * 4)))
    actor.receive(TURN)
    last = calls.pop(part(3))
    assert {} == orders(build(actor, calls))
    after = actor.receive(done(last, part(3)))
    after += actor.receive(Written((part(3),), last_order(after)))
    assert [taken(4, map(part, range(4)))] == views(after)
    assert [Part(1, 0), Part(1, 1)] == list(orders(after))


@pytest.mark.rule("D5", "38")
def test_calls_that_a_wait_does_not_need_are_stopped_which_is_no_failure_and_their_lines_are_dropped() -> None:
    actor, merge = merging()
    line = orders(actor.receive(Logged(2, (LONG,))))
    assert [merge] == stopped(actor.receive(TURN))
    late = actor.receive(done(merge, Part(1, 0)))
    assert ([], {}, {}) == (written(late), actor.behaviour.chat.failures, orders(late))
    after = build(actor, line)
    assert [taken(3, map(part, range(3)))] == views(after)
    again = orders(after)
    assert [Part(1, 0)] == list(again)
    assert merge != again[Part(1, 0)]
    assert 0 == status(actor).parked


@pytest.mark.rule("D5")
def test_the_compactor_of_a_stopped_call_is_told_so_before_it_gets_another_order() -> None:
    actor = planner(jobs=1)
    merge = orders(build(actor, orders(build(actor, orders(actor.receive(Logged(0, (LONG, LONG))))))))
    assert [Part(1, 0)] == list(merge)
    actor.receive(Logged(2, (LONG,)))
    stop, start = told(actor.receive(TURN), "compactor-0")
    assert StopBuild(merge[Part(1, 0)]) == stop
    assert isinstance(start, StartBuild)
    assert part(2) == start.part


@pytest.mark.rule("47", "D5")
def test_a_turn_whose_view_is_built_does_not_wait_and_stops_nothing() -> None:
    actor, _ = merging()
    effects = actor.receive(TURN)
    assert [taken(2, (part(0), part(1)))] == views(effects)
    assert ([], [], {}) == (stopped(effects), retries(effects), orders(effects))
    assert 1 == status(actor).running


@pytest.mark.rule("13", "D5")
def test_a_line_on_its_way_to_the_disk_when_a_turn_begins_to_wait_is_not_built_again() -> None:
    actor, merge = merging()
    line = orders(actor.receive(Logged(2, (LONG,))))
    on_its_way = actor.receive(done(merge, Part(1, 0)))
    assert [] == stopped(actor.receive(TURN))
    assert {} == orders(actor.receive(TAKE))
    assert {} == orders(actor.receive(Written((Part(1, 0),), last_order(on_its_way))))
    assert {} == orders(build(actor, line))


@pytest.mark.rule("D5")
def test_an_order_that_no_compactor_was_told_yet_is_taken_back_in_silence() -> None:
    actor = planner(node=300, jobs=2, builds=1)
    free = [part(0), part(1), Part(1, 0), part(2), part(3), Part(1, 1)]
    assert {} == orders(actor.receive(Logged(0, (SHORT,) * 4)))
    assert (1, 0) == (status(actor).running, actor.behaviour.builds_left)  # 0+4: its halves are not on disk
    effects = actor.receive(Logged(4, (LONG,)))
    assert {} == orders(effects)
    waiting = actor.receive(TURN)
    assert ([], [part(4)]) == (stopped(waiting), list(orders(waiting)))
    assert {} == orders(actor.receive(Written(tuple(free), 4)))
    assert {} == orders(build(actor, orders(waiting))), "the one build that was allowed has been made"
    assert status(actor).idle


def test_where_no_build_is_allowed_any_more_nothing_can_start() -> None:
    actor = planner(builds=0)
    actor.receive(Logged(0, (LONG,)))
    assert status(actor).idle


# --- ticks ---


@pytest.mark.rule("38", "D5")
def test_a_failed_line_is_tried_again_every_ten_seconds_while_a_turn_waits_and_then_no_more() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG,)), 0))
    assert [TICK] == retries(actor.receive(TURN))
    actor.receive(failed(calls[part(0)], part(0)), 3)
    tick = actor.receive(Tick(), RETRY_TICK_S)
    assert ([part(0)], [TICK]) == (list(orders(tick)), retries(tick))
    actor.receive(failed(orders(tick)[part(0)], part(0)), 12)
    again = actor.receive(Tick(), 2 * RETRY_TICK_S)
    assert ([part(0)], [TICK]) == (list(orders(again)), retries(again))
    assert CancelTimer("retry") in build(actor, orders(again))


@pytest.mark.rule("D5")
@pytest.mark.parametrize(
    ("since_s", "first_s"), [(0, 10), (4, 6), (9, 1), (10, None), (60, None)], ids=lambda seconds: f"{seconds}s"
)
def test_the_first_tick_comes_ten_seconds_after_the_newest_failure_or_at_once(
    since_s: float, first_s: float | None
) -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG,)), 0))
    actor.receive(failed(calls[part(0)], part(0)), 100)
    effects = actor.receive(TURN, 100 + since_s)
    if first_s is None:
        assert ([part(0)], [TICK]) == (list(orders(effects)), retries(effects))
    else:
        assert ([], [SetTimer("retry", first_s, Tick())]) == (list(orders(effects)), retries(effects))
        assert [part(0)] == list(orders(actor.receive(Tick(), 100 + RETRY_TICK_S)))


@pytest.mark.rule("38", "D5")
def test_a_tick_that_was_under_way_when_the_wait_ended_starts_nothing() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG,)), 0))
    actor.receive(TURN)
    actor.receive(failed(calls[part(0)], part(0)))
    actor.receive(TAKE, RETRY_TICK_S)
    assert [] == actor.receive(Tick())
    assert 1 == status(actor).parked


@pytest.mark.rule("D5")
def test_a_tick_of_an_earlier_wait_is_none_of_the_next_ones() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG,)), 0))
    actor.receive(TURN)
    actor.receive(failed(calls[part(0)], part(0)), 9)
    actor.receive(TAKE, RETRY_TICK_S)
    actor.receive(Wait("door", 2))
    assert [] == actor.receive(Tick()), "that of the newest failure is due at 19 s"
    assert [part(0)] == list(orders(actor.receive(Tick(), 19)))


@pytest.mark.rule("38")
def test_without_a_turn_a_failed_line_waits_for_the_next_message() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG,))))
    effects = actor.receive(failed(calls[part(0)], part(0)))
    assert ([], {}) == (retries(effects), orders(effects))
    assert [part(0), part(1)] == list(orders(actor.receive(Logged(1, (LONG,)))))


@pytest.mark.rule("38", "D5")
def test_a_third_failure_builds_the_line_from_its_input_and_the_turn_goes() -> None:
    actor = planner()
    effects = actor.receive(Logged(0, (LONG,)), 0)
    actor.receive(TURN)
    for failure in range(3):
        call = orders(effects)[part(0)]
        ended = actor.receive(failed(call, part(0)))
        effects = actor.receive(Tick(), RETRY_TICK_S * (1 + failure))
    assert [node(part(0), "cut")] == written(ended)
    assert [] == views(ended), "not before it is on disk"
    assert [taken(1, [part(0)])] == views(actor.receive(Written((part(0),), last_order(ended))))


# --- the deadline ---


@pytest.mark.rule("D10")
def test_at_its_deadline_a_turn_gets_the_view_as_it_is_and_which_lines_are_not_built() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG,) * 3)))
    actor.receive(TURN)
    del calls[part(0)]
    build(actor, calls)
    effects = actor.receive(TAKE)
    assert [taken(3, map(part, range(3)), [part(0)])] == views(effects)
    assert CancelTimer("retry") in effects
    assert [Part(1, 0)] == list(orders(build(actor, {part(0): 1}))), "what runs goes on"


@pytest.mark.rule("D10")
def test_a_deadline_of_a_turn_that_has_its_view_or_never_waited_is_nothing() -> None:
    actor = planner()
    assert [taken(0, ())] == views(actor.receive(TURN))
    assert [] == actor.receive(TAKE)


@pytest.mark.rule("D5", "D10")
def test_one_turns_deadline_leaves_the_others_waiting() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG,))))
    actor.receive(TURN)
    actor.receive(Wait("door", 2))
    effects = actor.receive(TAKE)
    assert ([1], []) == ([view.ticket for view in views(effects)], retries(effects))
    assert [2] == [view.ticket for view in views(build(actor, calls))]


# --- cancelled ---


@pytest.mark.rule("D5")
def test_a_turn_that_is_cancelled_waits_no_longer_and_the_merges_go_on() -> None:
    actor, _ = merging()
    line = orders(actor.receive(Logged(2, (LONG,))))
    actor.receive(TURN)
    effects = actor.receive(CANCEL)
    assert ([Part(1, 0)], [CancelTimer("retry")]) == (list(orders(effects)), retries(effects))
    assert [] == views(build(actor, line))


def test_a_view_that_waits_for_the_disk_is_not_handed_out_once_it_is_cancelled() -> None:
    actor = planner()
    actor.receive(Logged(0, (SHORT,)))
    assert [] == views(actor.receive(TURN))
    actor.receive(CANCEL)
    assert [] == views(actor.receive(Written((part(0),), 1)))


def test_who_is_cancelled_is_the_one_of_that_asker_and_ticket() -> None:
    actor = planner()
    actor.receive(Logged(0, (LONG,)))
    actor.receive(TURN)
    for other in (Cancel("door", 2), Cancel("edge", 1)):
        actor.receive(other)
    assert 1 == status(actor).waiting
