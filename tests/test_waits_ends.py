"""How waits end: with the batch and on disk, in an outage, with the store, and always. Rules 47, D5, D12, D13, F1."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.actors.behaviour import Effect, SetTimer
from eukhe.actors.messages import (
    Logged,
    Msg,
    Poisoned,
    Resume,
    Settle,
    Settled,
    Sync,
    Synced,
    TakeView,
    Tick,
    ViewTaken,
    Wait,
    WaitFailed,
    WriteTree,
    Written,
)
from eukhe.actors.planner import Planner
from eukhe.actors.ports import Outage
from eukhe.limits import OUTAGE_PAUSE_S, RETRY_TICK_S
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, node
from tests.actor_kit import Rig, example, told
from tests.planner_kit import LONG, SHORT, last_order, orders, planner, stopped, views, written
from tests.waits_kit import OUT, TURN, build, done, failed, merging, part, retries, status, taken

pytestmark = pytest.mark.usefixtures("both_runtimes")


# --- the batch, and the disk ---


@pytest.mark.rule("D12", "F1")
def test_the_batch_that_is_due_runs_when_a_turn_takes_its_view_and_is_on_disk_before_it_is_handed_out() -> None:
    actor = planner(ceiling=700, floor=300)
    calls = orders(actor.receive(Logged(0, (LONG,) * 2)))
    calls |= orders(build(actor, calls))  # 0+1, 1+1 of 300 bytes each; then the merge of both
    build(actor, {Part(1, 0): calls[Part(1, 0)]})
    line = orders(actor.receive(Logged(2, (LONG,))))
    actor.receive(TURN)
    effects = actor.receive(done(line[part(2)], part(2)))
    effects = actor.receive(Written((part(2),), last_order(effects)))
    # 900 bytes are past the ceiling; the merge leaves 600.
    assert [BatchRecord((Part(1, 0),), True, 3)] == written(effects)
    assert [] == views(effects)
    assert [taken(3, (Part(1, 0), part(2)))] == views(actor.receive(Written((), last_order(effects))))


@pytest.mark.rule("12", "F1")
def test_a_view_is_handed_out_once_all_lines_ordered_before_are_on_disk() -> None:
    actor = planner()
    first = last_order(actor.receive(Logged(0, (SHORT,))))
    second = last_order(actor.receive(Logged(1, (SHORT,))))
    assert [] == views(actor.receive(TURN))
    assert [] == views(actor.receive(Written((part(0),), first)))
    assert [taken(2, (part(0), part(1)))] == views(actor.receive(Written((part(1), Part(1, 0)), second)))


@pytest.mark.rule("49", "F1")
def test_a_view_is_pinned_when_it_is_taken_whatever_is_logged_before_it_is_handed_out() -> None:
    actor = planner()
    actor.receive(Logged(0, (SHORT,)))
    actor.receive(TURN)
    actor.receive(Logged(1, (SHORT,)))
    actor.receive(Wait("door", 2))
    effects = actor.receive(Written((part(0),), 1))
    assert [taken(1, [part(0)])] == views(effects)
    assert [2] == [view.t for view in views(actor.receive(Written((part(1), Part(1, 0)), 2)))]


def test_a_poisoned_store_fails_those_who_wait_those_whose_view_is_on_its_way_and_those_who_come() -> None:
    actor = planner()
    actor.receive(Logged(0, (SHORT,)))
    actor.receive(TURN)  # taken, its line not on disk
    actor.receive(Logged(1, (LONG,)))
    actor.receive(Wait("door", 2))
    assert [WaitFailed(1, "disk full"), WaitFailed(2, "disk full")] == told(
        actor.receive(Poisoned("disk full")), "door"
    )
    assert [WaitFailed(3, "disk full")] == told(actor.receive(Wait("door", 3)), "door")
    assert [] == actor.receive(TakeView("door", 3))


# --- outages ---


def outage(actor: Rig[Planner], calls: dict[Part, int], out: Outage = OUT, now: float | None = None) -> list[Effect]:
    """All these calls meet it."""
    return [effect for of, call in calls.items() for effect in actor.receive(failed(call, of, out), now)]


def resumes(effects: Iterable[Effect]) -> list[float]:
    """After how many seconds calls go on."""
    return [effect.after_s for effect in effects if isinstance(effect, SetTimer) and effect.name == "resume"]


@pytest.mark.rule("D13")
def test_an_outage_ends_a_wait_at_once_with_the_view_as_it_is_and_counts_no_failure() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG, LONG))))
    actor.receive(TURN)
    # The other call still runs.
    effects = outage(actor, {part(0): calls[part(0)]})
    assert [taken(2, (part(0), part(1)), (part(0), part(1)), OUT.why)] == views(effects)
    assert ({}, [OUTAGE_PAUSE_S]) == (actor.behaviour.chat.failures, resumes(effects))
    assert (OUT.why, OUT.why, 0) == (status(actor).paused, status(actor).last_error, status(actor).parked)


@pytest.mark.rule("D13")
def test_in_a_pause_nothing_starts_and_a_turn_gets_its_view_at_once() -> None:
    actor = planner(jobs=1)
    outage(actor, orders(actor.receive(Logged(0, (LONG,)))))
    assert {} == orders(actor.receive(Logged(1, (LONG,))))
    effects = actor.receive(TURN)
    assert [taken(2, (part(0), part(1)), (part(0), part(1)), OUT.why)] == views(effects)
    assert ([], {}, True) == (retries(effects), orders(effects), status(actor).idle)


@pytest.mark.rule("D13")
def test_a_view_that_is_built_is_no_outages() -> None:
    actor, merge = merging()
    outage(actor, {Part(1, 0): merge})
    assert [taken(2, (part(0), part(1)))] == views(actor.receive(TURN))


@pytest.mark.rule("D13")
def test_calls_that_still_run_when_an_outage_begins_end_as_they_do() -> None:
    actor = planner()
    calls = orders(actor.receive(Logged(0, (LONG, LONG))))
    outage(actor, {part(0): calls.pop(part(0))})
    effects = build(actor, calls)
    assert ([node(part(1), "x" * 300)], {}) == (written(effects), orders(effects))
    assert [1] == [len(view.unbuilt) for view in views(actor.receive(TURN))]


@pytest.mark.rule("D13")
def test_an_order_that_waits_for_its_source_is_taken_back_in_an_outage() -> None:
    actor = planner(node=300, jobs=2)
    free = [part(0), part(1), Part(1, 0), part(2), part(3), Part(1, 1)]
    actor.receive(Logged(0, (SHORT,) * 4))
    outage(actor, orders(actor.receive(Logged(4, (LONG,)))))
    assert 0 == status(actor).running
    assert {} == orders(actor.receive(Written(tuple(free), 4)))
    assert [part(4), Part(2, 0)] == list(orders(actor.receive(Resume(), OUTAGE_PAUSE_S)))


@pytest.mark.rule("D13")
def test_calls_go_on_after_the_pause_and_the_next_outage_pauses_twice_as_long() -> None:
    actor = planner(jobs=1)
    calls = orders(actor.receive(Logged(0, (LONG,)), 0))
    outage(actor, calls, now=5)
    assert {} == orders(actor.receive(Resume(), 14))
    again = orders(actor.receive(Resume(), 15))
    assert [part(0)] == list(again)
    assert [2 * OUTAGE_PAUSE_S] == resumes(outage(actor, again, now=16))
    build(actor, orders(actor.receive(Resume(), 36)))
    assert [OUTAGE_PAUSE_S] == resumes(outage(actor, orders(actor.receive(Logged(1, (LONG,)), 40)), now=41))


@pytest.mark.rule("D13")
def test_it_pauses_as_long_as_the_provider_says() -> None:
    actor = planner(jobs=1)
    out = Outage("429", 77)
    assert [77] == resumes(outage(actor, orders(actor.receive(Logged(0, (LONG,)), 0)), out))
    assert {} == orders(actor.receive(Resume(), 76))
    assert [part(0)] == list(orders(actor.receive(Resume(), 77)))


@pytest.mark.rule("D13")
def test_a_wrong_key_pauses_until_a_key_or_a_setting_changes() -> None:
    actor = planner(jobs=1)
    out = Outage("401: the key is wrong", key=True)
    assert [] == resumes(outage(actor, orders(actor.receive(Logged(0, (LONG,)), 0)), out))
    assert {} == orders(actor.receive(Resume(), 1_000_000))
    assert [part(0)] == list(orders(actor.receive(Resume(changed=True))))
    assert None is status(actor).paused


@pytest.mark.rule("D13")
def test_what_a_wrong_key_is_refused_after_it_was_changed_says_nothing_of_the_new_one() -> None:
    actor = planner(jobs=2)
    out = Outage("401: the key is wrong", key=True)
    calls = orders(actor.receive(Logged(0, (LONG, LONG))))
    outage(actor, {part(0): calls[part(0)]}, out)
    again = orders(actor.receive(Resume(changed=True)))
    assert [part(0)] == list(again)
    late = orders(outage(actor, {part(1): calls[part(1)]}, out))
    assert (None, [part(1)]) == (status(actor).paused, list(late))
    outage(actor, again, out)
    assert out.why == status(actor).paused


@pytest.mark.rule("D13")
def test_an_outage_of_a_call_that_was_stopped_pauses_nothing() -> None:
    actor, merge = merging()
    actor.receive(Logged(2, (LONG,)))
    actor.receive(TURN)
    assert [] == views(outage(actor, {Part(1, 0): merge}))
    assert None is status(actor).paused


@pytest.mark.rule("D13")
def test_an_outage_settles_those_who_wait_for_all_to_be_built() -> None:
    actor = planner(jobs=1)
    calls = orders(actor.receive(Logged(0, (LONG,))))
    assert [] == told(actor.receive(Settle("edge", 1, 1, take=False)), "edge")
    assert [Settled(1, 1, 1)] == told(outage(actor, calls), "edge")


@pytest.mark.rule("D13")
def test_who_settles_in_an_outage_waits_for_no_tick_that_would_start_nothing() -> None:
    actor = planner(jobs=2)
    calls = orders(actor.receive(Logged(0, (LONG, LONG))))
    actor.receive(Settle("edge", 1, 2, take=False))
    actor.receive(failed(calls[part(0)], part(0)))
    assert [Settled(1, 2, 2)] == told(outage(actor, {part(1): calls[part(1)]}), "edge")


# --- with those who settle, and at the end ---


@pytest.mark.rule("D5", "D12")
def test_who_settles_during_a_wait_is_answered_after_it_when_the_merges_are_built() -> None:
    actor, _ = merging()
    line = orders(actor.receive(Logged(2, (LONG,))))
    actor.receive(TURN)
    assert [] == told(actor.receive(Settle("edge", 7, 0, take=True)), "edge")
    after = build(actor, line)
    assert ([3], []) == ([view.t for view in views(after)], told(after, "edge"))
    settled = told(build(actor, orders(after)), "edge")
    assert [Settled(7, 4, 0)] == settled, "the stopped call has told of no model call"


@pytest.mark.rule("D12")
def test_who_settles_while_a_turn_waits_and_nothing_may_be_built_is_answered() -> None:
    actor = planner(builds=0)
    actor.receive(Logged(0, (LONG,)))
    actor.receive(TURN)
    assert [Settled(7, 0, 1)] == told(actor.receive(Settle("edge", 7, 1, take=False)), "edge")
    assert 1 == status(actor).waiting


def test_the_owner_may_end_while_a_turn_waits() -> None:
    actor = planner()
    actor.receive(Logged(0, (LONG,)))
    actor.receive(TURN)
    assert [Synced(2)] == told(actor.receive(Sync("supervisor", 2)), "supervisor")


# --- laws ---


class Waiting:
    """A planner with a turn that waits. `calls`: those that run; `views`: handed out."""

    def __init__(self, sizes: Sequence[int], jobs: int) -> None:
        self.actor = planner(jobs=jobs)
        self.calls: dict[Part, int] = {}
        self.views: list[ViewTaken] = []
        if sizes:
            self.send(Logged(0, tuple(sizes)), 0)
        self.send(TURN)

    def send(self, message: Msg, now: float | None = None) -> None:
        """A message, and that what is written because of it is on disk."""
        effects = self.actor.receive(message, now)
        ended = stopped(effects)
        self.calls = {of: call for of, call in (self.calls | orders(effects)).items() if call not in ended}
        self.views += views(effects)
        for order in told(effects, "store"):
            if isinstance(order, WriteTree):
                nodes = tuple(line.part for line in order.lines if not isinstance(line, BatchRecord))
                self.send(Written(nodes, order.order))


@pytest.mark.rule("38", "39", "47", "D5")
@given(
    st.lists(st.sampled_from([SHORT, LONG, LONG]), max_size=12),
    st.lists(st.tuples(st.booleans(), st.integers(0, 7)), min_size=1, max_size=30),
    st.integers(1, 4),
)
def test_with_no_new_message_a_wait_ends_after_at_most_three_outcomes_a_line(
    sizes: list[int], outcomes: list[tuple[bool, int]], jobs: int
) -> None:
    """Whatever becomes of its calls, in any order. All that runs meanwhile is needed."""
    with example():
        turn = Waiting(sizes, jobs)
        lines = [part(i) for i, size in enumerate(sizes) if size == LONG]
        ended = 0
        while not turn.views:
            assert set(turn.calls) <= set(lines)
            assert len(turn.calls) <= jobs
            if not turn.calls:
                turn.send(Tick(), turn.actor.clock.monotonic_s() + RETRY_TICK_S)
                assert turn.calls, "all that failed is tried again"
            well, which = outcomes[ended % len(outcomes)]
            of = list(turn.calls)[which % len(turn.calls)]
            turn.send((done if well else failed)(turn.calls.pop(of), of))
            ended += 1
            assert ended <= 3 * len(lines)
        assert [taken(len(sizes), map(part, range(len(sizes))))] == turn.views
