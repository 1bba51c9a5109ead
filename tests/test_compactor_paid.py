"""A compactor whose model costs money: it sees the lines before it, and each call is counted. Rules 30, 32, 34, 36."""

from collections.abc import Callable, Sequence

import pytest

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, StartCall, StopCall, Tell
from eukhe.actors.compactor import Compactor, Paid
from eukhe.actors.messages import (
    BuildDone,
    BuildFailed,
    CallHeard,
    CallOver,
    CallResponded,
    CallSent,
    Counted,
    EnterPrefix,
    LeavePrefix,
    Msg,
    Overdue,
    PrefixOpen,
    PrefixRead,
    ReadSource,
    ReadView,
    Source,
    StartBuild,
    StopBuild,
    Sync,
    Synced,
    ViewTexts,
    WaitFailed,
)
from eukhe.actors.ports import Broke, Outage, Replied, Request, Responding
from eukhe.limits import CALL_DEADLINE_S, NODE_BYTES_MAX, TRIES_MAX
from eukhe.model.gate import prefix_of
from eukhe.model.part import Part
from eukhe.model.prompt import texts
from eukhe.model.request import blocks_to_mark, line_talk
from eukhe.model.talk import NO_USAGE, Talk, Usage, text_of
from tests.actor_kit import Rig, told

pytestmark = [pytest.mark.usefixtures("both_runtimes"), pytest.mark.rule("30", "32")]

ME, MODEL = "compactor-3", "provider/model"
OURS = texts("Be brief.")
PAID = Paid(OURS, "low", "life")
PART = Part(0, 9)
CONTEXT = tuple(Part(0, i) for i in range(9))
SEEN = tuple(f"user: {i}" for i in range(9))
MESSAGE = "user: " + "word " * 200
LONG = "x" * (NODE_BYTES_MAX + 2)
CALL = 5 * TRIES_MAX  # the first call of order 5; those after it are numbered on
USAGE = Usage(10, 20, 30, 40)

READ_VIEW = Tell("index", ReadView(CONTEXT, (), ME, 5))
ENTER = Tell("gate", EnterPrefix(prefix_of(MODEL, CONTEXT, "low", OURS), ME, 5))
LEAVE = Tell("gate", LeavePrefix(ME, 5))
UNDONE = CancelTimer("deadline")


def sent(replies: Sequence[str] = ()) -> Talk:
    return line_talk(OURS, list(zip(CONTEXT, SEEN, strict=True)), PART, (MESSAGE,), replies, "low", 4)


def counting(replies: Sequence[str] = ()) -> Tell:
    number = CALL + len(replies)
    told = CallSent(f"life/{number}", "compaction", MODEL, 7, blocks_to_mark(sent(replies)), ME, number)
    return Tell("ledger", told)


def over(usage: Usage | None, why: str = "", number: int = CALL) -> Tell:
    return Tell("ledger", CallOver(f"life/{number}", usage, why))


def call(replies: Sequence[str] = ()) -> list[Effect]:
    number = CALL + len(replies)
    return [
        SetTimer("deadline", CALL_DEADLINE_S, Overdue(number)),
        StartCall(number, Request(MODEL, PART, (MESSAGE,), tuple(replies), sent(replies))),
    ]


def failed(why: str, outage: Outage | None = None) -> Tell:
    return Tell("planner", BuildFailed(5, PART, why, MESSAGE[:NODE_BYTES_MAX], 1, outage))


def reading() -> Rig[Compactor]:
    """One that was told to build, and asked the index for its source."""
    actor = Rig(lambda: Compactor(ME, MODEL, paid=PAID), name=ME)
    assert [Tell("index", ReadSource(PART, ME, 5))] == actor.receive(StartBuild(5, PART, CONTEXT, batch=7, marked=4))
    return actor


def seeing() -> Rig[Compactor]:
    actor = reading()
    assert [READ_VIEW] == actor.receive(Source(5, (MESSAGE,)))
    return actor


def at_the_gate() -> Rig[Compactor]:
    actor = seeing()
    assert [ENTER] == actor.receive(ViewTexts(5, SEEN))
    return actor


def at_the_ledger() -> Rig[Compactor]:
    actor = at_the_gate()
    assert [counting()] == actor.receive(PrefixOpen(5))
    return actor


def called() -> Rig[Compactor]:
    actor = at_the_ledger()
    assert call() == actor.receive(Counted(CALL))
    return actor


@pytest.mark.rule("34", "35")
def test_it_sends_what_it_reads_once_that_is_counted_and_its_ten_minutes_begin_then() -> None:
    actor = at_the_ledger()
    assert call() == actor.receive(Counted(CALL), 1_000)


def test_what_a_call_costs_is_told_as_it_begins_and_as_it_ends() -> None:
    actor = called()
    assert [
        Tell("gate", PrefixRead(ME, 5)),
        Tell("ledger", CallResponded(f"life/{CALL}", Usage(input=10))),
    ] == actor.receive(CallHeard(CALL, Responding(Usage(input=10))))
    assert [over(USAGE), UNDONE, LEAVE, Tell("planner", BuildDone(5, PART, "short", 1))] == actor.receive(
        CallHeard(CALL, Replied("short", usage=USAGE))
    )


def test_of_a_response_whose_provider_does_not_say_what_it_costs_nothing_is_made_up() -> None:
    actor = called()
    assert [Tell("gate", PrefixRead(ME, 5))] == actor.receive(CallHeard(CALL, Responding()))
    assert over(None) in actor.receive(CallHeard(CALL, Replied("short")))


@pytest.mark.rule("D13")
@pytest.mark.parametrize(
    ("event", "usage"),
    [(Broke("it broke", USAGE), USAGE), (Broke("it broke"), None), (Outage("429", 7), NO_USAGE)],
    ids=["broken", "broken without a word", "out"],
)
def test_a_call_that_fails_is_over_with_what_it_has_cost(event: Broke | Outage, usage: Usage | None) -> None:
    outage = event if isinstance(event, Outage) else None
    assert [over(usage, event.why), UNDONE, LEAVE, failed(event.why, outage)] == called().receive(
        CallHeard(CALL, event)
    )


def test_a_call_that_is_overdue_is_over_and_nobody_knows_at_what_cost() -> None:
    why = "took longer than 10 minutes"
    assert [StopCall(CALL), over(None, why), UNDONE, LEAVE, failed(why)] == called().receive(Overdue(CALL))


@pytest.mark.rule("36", "37")
def test_a_follow_up_passes_gate_and_ledger_again_under_a_name_of_its_own() -> None:
    actor = called()
    assert [over(USAGE), UNDONE, LEAVE, ENTER] == actor.receive(CallHeard(CALL, Replied(LONG, usage=USAGE)))
    assert [counting([LONG])] == actor.receive(PrefixOpen(5))
    assert call([LONG]) == actor.receive(Counted(CALL + 1))
    effects = actor.receive(CallHeard(CALL + 1, Replied("short", usage=USAGE)))
    assert [over(USAGE, number=CALL + 1)] == [effect for effect in effects if getattr(effect, "to", "") == "ledger"]
    assert [BuildDone(5, PART, "short", 2)] == told(effects, "planner")


def test_without_lines_before_it_its_view_is_empty() -> None:
    actor = Rig(lambda: Compactor(ME, MODEL, paid=PAID), name=ME)
    actor.receive(StartBuild(5, Part(0, 0)))
    assert [Tell("index", ReadView((), (), ME, 5))] == actor.receive(Source(5, (MESSAGE,)))
    actor.receive(ViewTexts(5, ()))
    actor.receive(PrefixOpen(5))
    (_, start) = actor.receive(Counted(CALL))
    assert isinstance(start, StartCall)
    assert line_talk(OURS, [], Part(0, 0), (MESSAGE,), (), "low") == start.request.talk


@pytest.mark.rule("12")
def test_a_source_that_fits_costs_nothing() -> None:
    effects = reading().receive(Source(5, ("short",)))
    assert [LEAVE, Tell("planner", BuildDone(5, PART, "short", 0))] == effects


def test_lines_that_can_not_be_read_fail_the_node_before_anything_is_sent() -> None:
    assert [LEAVE, failed("no 3+1")] == seeing().receive(WaitFailed(5, "no 3+1"))


@pytest.mark.rule("D5")
@pytest.mark.parametrize(
    ("stage", "stops"),
    [
        (reading, [LEAVE]),
        (seeing, [LEAVE]),
        (at_the_gate, [LEAVE]),
        (at_the_ledger, [over(NO_USAGE, "stopped"), LEAVE]),
        (called, [StopCall(CALL), over(None, "stopped"), UNDONE, LEAVE]),
    ],
    ids=["reading", "seeing", "at the gate", "at the ledger", "called"],
)
@pytest.mark.parametrize("end", [StopBuild(5), Sync("supervisor", 2)], ids=["stopped", "the owner ends"])
def test_stopped_at_any_stage_it_waits_for_nobody_and_is_free(
    stage: Callable[[], Rig[Compactor]], stops: list[Effect], end: Msg
) -> None:
    actor = stage()
    synced = [Tell("supervisor", Synced(2))] if isinstance(end, Sync) else []
    assert [*stops, *synced] == actor.receive(end)
    late: list[Msg] = [
        Source(5, (MESSAGE,)),
        ViewTexts(5, SEEN),
        WaitFailed(5, "late"),
        PrefixOpen(5),
        Counted(CALL),
        CallHeard(CALL, Responding(USAGE)),
        CallHeard(CALL, Replied("late")),
        Overdue(CALL),
        StopBuild(5),
    ]
    assert [[]] * len(late) == [actor.receive(message) for message in late]
    assert [Tell("index", ReadSource(PART, ME, 6))] == actor.receive(StartBuild(6, PART))


def test_it_is_counted_once_and_sent_once_however_often_it_is_let_go() -> None:
    assert [] == at_the_ledger().receive(PrefixOpen(5))
    actor = called()
    assert [[], []] == [actor.receive(message) for message in (PrefixOpen(5), Counted(CALL))]


def test_another_calls_count_lets_nothing_go() -> None:
    assert [] == at_the_ledger().receive(Counted(CALL + 1))


@pytest.mark.rule("D16")
def test_a_key_that_was_logged_is_not_sent() -> None:
    key = "sk-ant-" + "api03-" + "A1b2C3d4" * 11
    actor = reading()
    actor.receive(Source(5, (f"{MESSAGE} {key}",)))
    actor.receive(ViewTexts(5, (f"user: {key}", *SEEN[1:])))
    actor.receive(PrefixOpen(5))
    (_, start) = actor.receive(Counted(CALL))
    assert isinstance(start, StartCall)
    assert start.request.talk is not None
    said = "".join(text_of(speech.blocks) for speech in start.request.talk.speeches)
    assert key not in said
    assert 2 == said.count("[secret anthropic_key ")
