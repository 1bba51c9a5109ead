"""A compactor whose calls share a prefix: it waits at the gate, and leaves it however its call ends. Rules 30, 34."""

from collections.abc import Callable, Sequence

import pytest

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, StartCall, StopCall, Tell
from eukhe.actors.compactor import Compactor
from eukhe.actors.messages import (
    BuildDone,
    BuildFailed,
    CallHeard,
    EnterPrefix,
    LeavePrefix,
    Msg,
    Overdue,
    Ping,
    Pong,
    PrefixOpen,
    PrefixRead,
    ReadSource,
    Source,
    StartBuild,
    StopBuild,
    Sync,
    Synced,
    Tick,
)
from eukhe.actors.ports import Broke, Outage, Replied, Request, Responding
from eukhe.errors import Bug
from eukhe.limits import CALL_DEADLINE_S, NODE_BYTES_MAX, TRIES_MAX
from eukhe.model.gate import prefix_of
from eukhe.model.part import Part
from tests.actor_kit import Rig, told

pytestmark = [pytest.mark.usefixtures("both_runtimes"), pytest.mark.rule("30")]

ME, MODEL = "compactor-3", "provider/model"
PART = Part(0, 9)
CONTEXT = tuple(Part(0, i) for i in range(9))
MESSAGE = "user: " + "word " * 200
LONG = "x" * (NODE_BYTES_MAX + 2)
CALL = 5 * TRIES_MAX  # the first call of order 5; those after it are numbered on

ENTER = Tell("gate", EnterPrefix(prefix_of(MODEL, CONTEXT[:8]), ME, 5))
READ = Tell("gate", PrefixRead(ME, 5))
LEAVE = Tell("gate", LeavePrefix(ME, 5))
UNDONE = CancelTimer("deadline")


def reading() -> Rig[Compactor]:
    """One that was told to build, and asked the index for its source."""
    actor = Rig(lambda: Compactor(ME, MODEL, gated=True), name=ME)
    assert [Tell("index", ReadSource(PART, ME, 5))] == actor.receive(StartBuild(5, PART, CONTEXT))
    return actor


def at_the_gate() -> Rig[Compactor]:
    actor = reading()
    assert [ENTER] == actor.receive(Source(5, (MESSAGE,)))
    return actor


def called() -> Rig[Compactor]:
    actor = at_the_gate()
    assert call() == actor.receive(PrefixOpen(5))
    return actor


def call(replies: Sequence[str] = ()) -> list[Effect]:
    """A call as it is sent, after so many replies that were too long."""
    number = CALL + len(replies)
    return [
        SetTimer("deadline", CALL_DEADLINE_S, Overdue(number)),
        StartCall(number, Request(MODEL, PART, (MESSAGE,), tuple(replies))),
    ]


def failed(why: str, calls: int = 1, outage: Outage | None = None) -> Tell:
    return Tell("planner", BuildFailed(5, PART, why, MESSAGE[:NODE_BYTES_MAX], calls, outage))


def test_it_waits_at_the_gate_and_its_ten_minutes_count_from_sending() -> None:
    actor = at_the_gate()
    assert call() == actor.receive(PrefixOpen(5), 1_000)


@pytest.mark.rule("29", "34")
def test_calls_that_see_the_same_whole_blocks_are_alike() -> None:
    one, other = Rig(lambda: Compactor(ME, MODEL, gated=True)), Rig(lambda: Compactor(ME, MODEL, gated=True))
    one.receive(StartBuild(5, PART, CONTEXT[:8]))
    other.receive(StartBuild(5, PART, CONTEXT))
    assert one.receive(Source(5, (MESSAGE,))) == other.receive(Source(5, (MESSAGE,)))


def test_it_says_when_the_response_begins_and_leaves_when_it_has_ended() -> None:
    actor = called()
    assert [READ] == actor.receive(CallHeard(CALL, Responding()))
    assert [UNDONE, LEAVE, Tell("planner", BuildDone(5, PART, "short", 1))] == actor.receive(
        CallHeard(CALL, Replied("short"))
    )


@pytest.mark.rule("12")
def test_a_source_that_fits_asks_no_model_and_so_sends_nothing_past_the_gate() -> None:
    effects = reading().receive(Source(5, ("short",)))
    assert [] == [effect for effect in effects if isinstance(effect, Tell) and isinstance(effect.message, EnterPrefix)]
    assert [BuildDone(5, PART, "short", 0)] == told(effects, "planner")


@pytest.mark.parametrize(
    "event",
    [Broke("it broke"), Outage("429", 7), Outage("401", key=True)],
    ids=["broken", "out", "without a key"],
)
def test_it_leaves_the_gate_when_its_call_fails(event: Broke | Outage) -> None:
    outage = event if isinstance(event, Outage) else None
    assert [UNDONE, LEAVE, failed(event.why, outage=outage)] == called().receive(CallHeard(CALL, event))


def test_it_leaves_the_gate_when_its_call_is_overdue() -> None:
    expected = [StopCall(CALL), UNDONE, LEAVE, failed("took longer than 10 minutes")]
    assert expected == called().receive(Overdue(CALL))


@pytest.mark.rule("D5")
@pytest.mark.parametrize(
    ("stage", "stops"),
    [(reading, [LEAVE]), (at_the_gate, [LEAVE]), (called, [StopCall(CALL), UNDONE, LEAVE])],
    ids=["reading", "at the gate", "called"],
)
@pytest.mark.parametrize("end", [StopBuild(5), Sync("supervisor", 2)], ids=["stopped", "the owner ends"])
def test_stopped_at_any_stage_it_leaves_the_gate_tells_the_planner_nothing_and_is_free(
    stage: Callable[[], Rig[Compactor]], stops: list[Effect], end: Msg
) -> None:
    actor = stage()
    synced = [Tell("supervisor", Synced(2))] if isinstance(end, Sync) else []
    assert [*stops, *synced] == actor.receive(end)
    late = [Source(5, (MESSAGE,)), PrefixOpen(5), CallHeard(CALL, Replied("late")), Overdue(CALL), StopBuild(5)]
    assert [[]] * 5 == [actor.receive(message) for message in late]
    assert [Tell("index", ReadSource(PART, ME, 6))] == actor.receive(StartBuild(6, PART))


def test_a_stop_of_another_order_is_not_its_own() -> None:
    assert [] == called().receive(StopBuild(4))


@pytest.mark.rule("36", "37")
def test_a_follow_up_passes_the_gate_again_and_carries_the_replies_so_far() -> None:
    actor = called()
    actor.receive(CallHeard(CALL, Responding()))
    replies = [LONG, LONG[1:]]
    assert [UNDONE, LEAVE, ENTER] == actor.receive(CallHeard(CALL, Replied(replies[0])))
    assert call(replies[:1]) == actor.receive(PrefixOpen(5))
    assert [UNDONE, LEAVE, ENTER] == actor.receive(CallHeard(CALL + 1, Replied(replies[1])))
    assert call(replies) == actor.receive(PrefixOpen(5))
    assert [READ] == actor.receive(CallHeard(CALL + 2, Responding()))
    assert BuildDone(5, PART, "short", 3) in told(actor.receive(CallHeard(CALL + 2, Replied("short"))), "planner")


def test_what_is_heard_of_a_call_that_has_ended_while_its_follow_up_waits_at_the_gate_is_dropped() -> None:
    actor = called()
    actor.receive(CallHeard(CALL, Replied(LONG)))
    late = [CallHeard(CALL, Replied("late")), CallHeard(CALL, Responding()), Overdue(CALL)]
    assert [[]] * 3 == [actor.receive(message) for message in late]
    assert call([LONG]) == actor.receive(PrefixOpen(5))


@pytest.mark.rule("36")
def test_a_follow_up_that_fails_fails_the_node_whatever_was_best() -> None:
    actor = called()
    actor.receive(CallHeard(CALL, Replied(LONG)))
    actor.receive(PrefixOpen(5))
    assert [UNDONE, LEAVE, failed("it broke", calls=2)] == actor.receive(CallHeard(CALL + 1, Broke("it broke")))


def test_it_is_sent_once_however_often_the_gate_opens() -> None:
    assert [] == called().receive(PrefixOpen(5))


def test_it_is_up_and_knows_its_own_messages_alone() -> None:
    actor = Rig(lambda: Compactor(ME, MODEL, gated=True))
    assert [Tell("supervisor", Pong(1))] == actor.receive(Ping("supervisor", 1))
    with pytest.raises(Bug, match="a compactor does not know"):
        actor.receive(Tick())
