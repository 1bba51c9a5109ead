"""When calls that cost money start: while somebody is there, then for what was there, and never beyond."""

from collections.abc import Iterable

import pytest

from eukhe.actors.behaviour import Effect
from eukhe.actors.messages import (
    Attend,
    Budget,
    Cancel,
    Logged,
    Settle,
    Settled,
    StopBuild,
    TakeView,
    Tick,
    Wait,
    Written,
)
from eukhe.actors.planner import Planner
from eukhe.model.part import Part
from tests.actor_kit import Rig, told
from tests.planner_kit import LONG, SHORT, last_order, orders, planner, stopped, views
from tests.waits_kit import OUT, build, done, failed, part, status

pytestmark = pytest.mark.usefixtures("both_runtimes")

THERE = Attend("door", 7)
GONE = Cancel("door", 7)


def parts(effects: Iterable[Effect]) -> list[Part]:
    """The nodes that compactors are to build."""
    return list(orders(effects))


def test_import_alone_starts_no_paid_call() -> None:
    actor = planner(paid=True)
    assert [] == parts(actor.receive(Logged(0, (LONG, SHORT, LONG))))
    effects = actor.receive(Settle("edge", 1, 3, take=False))
    assert [Settled(1, 0, 2)] == told(effects, "edge")
    assert [] == parts(effects)
    assert status(actor).idle


def test_a_model_that_costs_nothing_is_called_whoever_is_there() -> None:
    assert [part(0)] == parts(planner(paid=False).receive(Logged(0, (LONG,))))


@pytest.mark.parametrize("comes", [THERE, Wait("door", 7), Settle("door", 7, 0, take=True)])
def test_calls_start_when_somebody_comes(comes: Attend | Wait | Settle) -> None:
    actor = planner(paid=True)
    actor.receive(Logged(0, (LONG, LONG)))
    assert [part(0), part(1)] == parts(actor.receive(comes))


def test_what_comes_in_while_somebody_is_there_is_built_at_once() -> None:
    actor = planner(paid=True)
    actor.receive(THERE)
    assert [part(0)] == parts(actor.receive(Logged(0, (LONG,))))


def test_after_the_last_one_has_gone_what_was_there_is_built_up_to_its_merges_and_nothing_beyond() -> None:
    actor = planner(paid=True, jobs=1)
    actor.receive(Logged(0, (LONG, LONG)))
    actor.receive(Attend("door", 8))
    calls = orders(actor.receive(THERE))
    first = orders(build(actor, {part(0): running_call(actor)}))
    assert {} == calls
    actor.receive(Cancel("door", 8))
    assert [] == parts(actor.receive(GONE))  # its only slot is taken
    actor.receive(Logged(2, (LONG, LONG)))
    second = orders(build(actor, first))
    assert [Part(1, 0)] == list(second)
    assert {} == orders(build(actor, second))
    assert status(actor).idle
    assert [part(2)] == parts(actor.receive(THERE))


def running_call(actor: Rig[Planner]) -> int:
    (call,) = actor.behaviour.busy
    return call


def test_no_call_leaves_an_idle_chat_whose_queue_is_empty() -> None:
    actor = planner(paid=True)
    actor.receive(THERE)
    actor.receive(GONE)
    for at in range(4):
        assert [] == parts(actor.receive(Logged(at, (LONG,))))
    actor.receive(Tick())
    assert status(actor).idle


def test_a_turn_whose_view_is_there_at_once_counts_as_having_been_there() -> None:
    actor = planner(paid=True)
    free = actor.receive(Logged(0, (300, 300)))  # free each, their merge is not
    assert [] == parts(actor.receive(Written((part(0), part(1)), last_order(free))))
    effects = actor.receive(Wait("door", 1))
    assert ([(0, 2)], [Part(1, 0)]) == ([(len(view.unbuilt), view.t) for view in views(effects)], parts(effects))


def test_who_wanted_all_built_and_was_answered_at_once_has_gone_before_what_comes_next() -> None:
    actor = planner(paid=True)
    assert [Settled(7, 0, 0)] == told(actor.receive(Settle("door", 7, 0, take=True)), "door")
    assert [] == parts(actor.receive(Logged(0, (LONG,))))


def test_merges_past_the_end_are_there_again_when_somebody_comes() -> None:
    actor = planner(paid=True)
    actor.receive(THERE)
    actor.receive(GONE)
    free = actor.receive(Logged(0, (300,) * 4))
    actor.receive(Written(tuple(part(i) for i in range(4)), last_order(free)))
    assert status(actor).idle
    assert status(actor).idle
    assert [Part(1, 0), Part(1, 1)] == parts(actor.receive(THERE))


def test_a_failed_call_of_what_was_there_is_tried_again_and_one_beyond_is_not() -> None:
    actor = planner(paid=True)
    actor.receive(THERE)
    call = orders(actor.receive(Logged(0, (LONG,))))[part(0)]
    actor.receive(GONE)
    actor.receive(failed(call, part(0)))
    assert [part(0)] == parts(actor.receive(Logged(1, (LONG,))))


# --- what may be spent ---


def test_nothing_is_ordered_once_what_may_be_spent_is_spent_and_again_when_there_is_more() -> None:
    actor = planner()
    actor.receive(Budget("spent"))
    assert [] == parts(actor.receive(Logged(0, (LONG,))))
    now = status(actor)
    assert ("spent", "spent", True) == (now.paused, now.last_error, now.idle)
    assert [part(0)] == parts(actor.receive(Budget(None)))
    assert None is status(actor).paused


def test_a_waiting_turn_gets_its_view_at_once_with_the_reason() -> None:
    actor = planner()
    actor.receive(Logged(0, (LONG,)))
    assert [] == views(actor.receive(Wait("door", 1)))
    (view,) = views(actor.receive(Budget("spent")))
    assert ((part(0),), "spent") == (view.unbuilt, view.paused)


def test_who_waits_for_quiet_is_answered_when_the_calls_under_way_have_ended() -> None:
    actor = planner(jobs=1)
    call = orders(actor.receive(Logged(0, (LONG, LONG))))[part(0)]
    actor.receive(Settle("edge", 1, 2, take=True))
    assert [] == told(actor.receive(Budget("spent")), "edge")
    written = actor.receive(done(call, part(0)))
    assert [] == told(written, "edge")
    assert [Settled(1, 1, 1)] == told(actor.receive(Written((part(0),), actor.behaviour.ordered)), "edge")


def test_calls_that_must_not_be_sent_end_as_if_they_had_not_been_ordered() -> None:
    actor = planner(jobs=2, builds=2)
    calls = orders(actor.receive(Logged(0, (LONG, LONG))))
    (_, compactor) = actor.behaviour.busy[calls[part(1)]]
    effects = actor.receive(Budget("spent", (compactor,)))
    assert [StopBuild(calls[part(1)])] == told(effects, compactor)
    assert [calls[part(1)]] == stopped(effects)
    assert (1, 1) == (status(actor).running, actor.behaviour.builds_left)
    assert [part(1)] == parts(actor.receive(Budget(None)))


def test_an_outage_and_a_budget_end_apart() -> None:
    actor = planner()
    call = orders(actor.receive(Logged(0, (LONG,))))[part(0)]
    actor.receive(Budget("spent"))
    actor.receive(failed(call, part(0), OUT))
    actor.receive(Budget(None))
    assert OUT.why == status(actor).paused


def test_a_view_may_still_be_taken_at_its_deadline() -> None:
    actor = planner(paid=True)
    actor.receive(Logged(0, (LONG,)))
    actor.receive(Wait("door", 1))
    assert 1 == len(views(actor.receive(TakeView("door", 1))))
