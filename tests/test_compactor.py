"""A compactor's behaviour, driven by hand."""

from collections.abc import Sequence

import pytest

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, StartCall, StopCall, Tell
from eukhe.actors.compactor import Compactor
from eukhe.actors.messages import (
    BuildDone,
    BuildFailed,
    CallHeard,
    Overdue,
    PrefixOpen,
    ReadSource,
    Source,
    StartBuild,
    StopBuild,
    Sync,
    Synced,
)
from eukhe.actors.ports import Broke, Delta, Outage, Replied, Request, Responding
from eukhe.limits import CALL_DEADLINE_S, NODE_BYTES_MAX, TRIES_MAX
from eukhe.model.part import Part
from eukhe.model.talk import Usage
from tests.actor_kit import Rig, told

pytestmark = pytest.mark.usefixtures("both_runtimes")

MESSAGE = "user: " + "word " * 200
CALL = 5 * TRIES_MAX  # the first call of order 5; those after it are numbered on
LEFT, RIGHT = "left " * 80, "right " * 80


def compactor() -> Rig[Compactor]:
    return Rig(lambda: Compactor("compactor-0", "builtin/extract"), name="compactor-0")


def failure(why: str, outage: Outage | None = None, calls: int = 1) -> BuildFailed:
    """Of order 5, for the long message."""
    return BuildFailed(5, Part(0, 3), why, MESSAGE[:NODE_BYTES_MAX], calls, outage)


def asked(part: Part, *texts: str) -> tuple[Rig[Compactor], Sequence[Effect]]:
    """A compactor whose call 5 for `part` has been given its source; the effects of that."""
    actor = compactor()
    actor.receive(StartBuild(5, part))
    return actor, actor.receive(Source(5, texts))


def test_an_order_reads_the_source_then_starts_one_call_with_a_deadline() -> None:
    actor = compactor()
    order = actor.receive(StartBuild(5, Part(0, 3)))
    assert [Tell("index", ReadSource(Part(0, 3), "compactor-0", 5))] == order
    assert [
        SetTimer("deadline", CALL_DEADLINE_S, Overdue(CALL)),
        StartCall(CALL, Request("builtin/extract", Part(0, 3), (MESSAGE,))),
    ] == actor.receive(Source(5, (MESSAGE,)))


@pytest.mark.rule("12")
def test_a_source_that_fits_is_the_line_without_a_call() -> None:
    _, effects = asked(Part(1, 0), "one", "two")
    assert [Tell("planner", BuildDone(5, Part(1, 0), "one\ntwo", 0))] == effects


@pytest.mark.rule("36", "37")
def test_a_line_that_is_too_long_is_asked_for_again_in_the_same_order() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    long = "x" * (NODE_BYTES_MAX + 1)
    assert [
        CancelTimer("deadline"),
        SetTimer("deadline", CALL_DEADLINE_S, Overdue(CALL + 1)),  # each call has its own ten minutes
        StartCall(CALL + 1, Request("builtin/extract", Part(0, 3), (MESSAGE,), (long,))),
    ] == actor.receive(CallHeard(CALL, Replied(long)))
    assert [CancelTimer("deadline"), Tell("planner", BuildDone(5, Part(0, 3), "short", 2))] == actor.receive(
        CallHeard(CALL + 1, Replied(" short "))
    )


def test_a_failed_call_carries_the_line_made_of_the_input() -> None:
    actor, _ = asked(Part(1, 0), LEFT, RIGHT)
    (_, tell) = actor.receive(CallHeard(CALL, Broke("refused")))
    assert isinstance(tell, Tell)
    failed = tell.message
    assert isinstance(failed, BuildFailed)
    assert (Part(1, 0), "refused", f"{LEFT[:255]}\n{RIGHT[:255]}", 1) == (
        failed.part,
        failed.why,
        failed.fallback,
        failed.calls,
    )


def test_an_empty_reply_is_a_reply_and_not_a_failure() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    (_, tell) = actor.receive(CallHeard(CALL, Replied(None)))
    assert Tell("planner", BuildDone(5, Part(0, 3), MESSAGE[:NODE_BYTES_MAX], 1)) == tell


def test_an_order_to_a_busy_compactor_is_a_bug() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    with pytest.raises(AssertionError, match="compactor-0 is busy"):
        actor.receive(StartBuild(6, Part(0, 4)))


@pytest.mark.parametrize(
    "end", [Overdue(CALL), StopBuild(5), Sync("supervisor", 2)], ids=lambda message: type(message).__name__
)
def test_what_comes_after_a_call_was_given_up_is_dropped(end: Overdue | StopBuild | Sync) -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    actor.receive(end)
    late = [CallHeard(CALL, Replied("late")), Overdue(CALL), Source(5, ("late",)), PrefixOpen(5), StopBuild(5)]
    assert [[]] * 5 == [actor.receive(message) for message in late]


@pytest.mark.rule("36", "38")
def test_of_two_results_of_a_call_the_first_wins_also_where_another_call_was_made_since() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    long = "x" * (NODE_BYTES_MAX + 1)
    actor.receive(CallHeard(CALL, Replied(long)))
    assert [[], []] == [actor.receive(CallHeard(CALL, event)) for event in (Replied(long), Broke("it broke"))]
    assert BuildDone(5, Part(0, 3), "short", 2) in told(actor.receive(CallHeard(CALL + 1, Replied("short"))), "planner")


def test_a_deadline_that_passed_as_the_reply_came_ends_no_later_call() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    actor.receive(CallHeard(CALL, Replied("x" * (NODE_BYTES_MAX + 1))))
    assert [] == actor.receive(Overdue(CALL))
    assert BuildFailed in map(type, told(actor.receive(Overdue(CALL + 1)), "planner"))


@pytest.mark.rule("D13")
def test_an_outage_is_the_providers_and_told_as_such() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    out = Outage("429", 30)
    assert [CancelTimer("deadline"), Tell("planner", failure("429", out))] == actor.receive(CallHeard(CALL, out))


def test_a_call_past_its_deadline_is_stopped_and_has_failed() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    stop, _, tell = actor.receive(Overdue(CALL))
    assert StopCall(CALL) == stop
    assert isinstance(tell, Tell)
    assert isinstance(tell.message, BuildFailed)


def test_a_source_that_cannot_be_read_is_a_failure_whose_fallback_says_lost() -> None:
    _, effects = asked(Part(0, 3))
    assert [Tell("planner", BuildFailed(5, Part(0, 3), "what it is built from can't be read", "(lost)", 1))] == effects


def test_what_a_free_call_says_before_its_end_is_of_no_matter() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    assert [[], []] == [
        actor.receive(CallHeard(CALL, event)) for event in (Responding(Usage(1)), Delta("text", "a piece"))
    ]


def test_a_sync_gives_up_the_call_under_way() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    assert [StopCall(CALL), CancelTimer("deadline"), Tell("supervisor", Synced(2))] == actor.receive(
        Sync("supervisor", 2)
    )
