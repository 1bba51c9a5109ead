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
    ReadSource,
    Source,
    StartBuild,
    Sync,
    Synced,
)
from eukhe.actors.ports import Broke, Replied, Request
from eukhe.limits import CALL_DEADLINE_S, NODE_BYTES_MAX
from eukhe.model.part import Part
from tests.actor_kit import Rig

pytestmark = pytest.mark.usefixtures("both_runtimes")

MESSAGE = "user: " + "word " * 200
LEFT, RIGHT = "left " * 80, "right " * 80


def compactor() -> Rig[Compactor]:
    return Rig(lambda: Compactor("compactor-0", "builtin/extract"), name="compactor-0")


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
        SetTimer("deadline", CALL_DEADLINE_S, Overdue(25)),
        StartCall(25, Request("builtin/extract", Part(0, 3), (MESSAGE,))),
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
        SetTimer("deadline", CALL_DEADLINE_S, Overdue(26)),  # each call has its own ten minutes
        StartCall(26, Request("builtin/extract", Part(0, 3), (MESSAGE,), (long,))),
    ] == actor.receive(CallHeard(25, Replied(long)))
    assert [CancelTimer("deadline"), Tell("planner", BuildDone(5, Part(0, 3), "short", 2))] == actor.receive(
        CallHeard(26, Replied(" short ")), 0
    )


def test_a_failed_call_carries_the_line_made_of_the_input() -> None:
    actor, _ = asked(Part(1, 0), LEFT, RIGHT)
    (_, tell) = actor.receive(CallHeard(25, Broke("refused")))
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
    (_, tell) = actor.receive(CallHeard(25, Replied(None)))
    assert Tell("planner", BuildDone(5, Part(0, 3), MESSAGE[:NODE_BYTES_MAX], 1)) == tell


def test_an_order_to_a_busy_compactor_is_a_bug() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    with pytest.raises(AssertionError, match="compactor-0 is busy"):
        actor.receive(StartBuild(6, Part(0, 4)))


def test_what_comes_after_a_call_was_given_up_is_dropped() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    actor.receive(Overdue(25))
    assert [[], [], []] == [
        list(actor.receive(late)) for late in (CallHeard(25, Replied("late")), Overdue(25), Source(5, ("late",)))
    ]


def test_a_call_past_its_deadline_is_stopped_and_has_failed() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    stop, _, tell = actor.receive(Overdue(25))
    assert StopCall(25) == stop
    assert isinstance(tell, Tell)
    assert isinstance(tell.message, BuildFailed)


def test_a_source_that_cannot_be_read_is_a_failure_whose_fallback_says_lost() -> None:
    _, effects = asked(Part(0, 3))
    assert [Tell("planner", BuildFailed(5, Part(0, 3), "what it is built from can't be read", "(lost)", 1))] == effects


def test_a_sync_gives_up_the_call_under_way() -> None:
    actor, _ = asked(Part(0, 3), MESSAGE)
    assert [StopCall(25), CancelTimer("deadline"), Tell("supervisor", Synced(2))] == actor.receive(
        Sync("supervisor", 2), 0
    )
