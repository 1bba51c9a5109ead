"""The prefix gate: the rule for one prefix (model.gate), and the actor that keeps many. Rule 30."""

import pytest

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, Tell
from eukhe.actors.gate import Gate
from eukhe.actors.messages import (
    AskTexts,
    Cancel,
    EnterPrefix,
    LeavePrefix,
    Ping,
    Pong,
    PrefixOpen,
    PrefixRead,
    Sync,
    Synced,
    TextsInForce,
    Tick,
    WriterLate,
)
from eukhe.errors import Bug
from eukhe.limits import PREFIX_WARM_S, PREFIX_WRITER_S
from eukhe.model.gate import Gone, Prefix, prefix_of
from eukhe.model.part import Part
from eukhe.model.prompt import texts
from tests.actor_kit import Rig

pytestmark = pytest.mark.rule("30")

A, B, C, D = (("compactor-1", 1), ("compactor-2", 2), ("door", 1), ("door", 2))
LINES = [Part(0, i) for i in range(12)]


def written(*waiters: tuple[str, int]) -> Prefix:
    """A prefix that A writes since second 0, and that others wait for."""
    prefix = Prefix()
    for call in (A, *waiters):
        prefix.enter(call, 0)
    return prefix


# --- one prefix ---


def test_the_first_call_writes_and_the_others_wait_until_its_response_begins() -> None:
    prefix = Prefix()
    assert Gone((A,), writes=True) == prefix.enter(A, 0)
    assert [Gone(), Gone()] == [prefix.enter(call, 1) for call in (B, C)]
    assert Gone((B, C)) == prefix.read(A, 2)
    assert Gone((D,)) == prefix.enter(D, 3)


def test_a_call_that_is_there_already_stays_where_it_is() -> None:
    prefix = written(B, C)
    assert [Gone(), Gone()] == [prefix.enter(call, 1) for call in (A, B)]
    assert Gone((B, C)) == prefix.read(A, 2)


def test_the_next_waiter_writes_when_the_writer_ends_before_its_response() -> None:
    prefix = written(B, C)
    assert Gone((B,), writes=True) == prefix.leave(A, 1)
    assert Gone((C,), writes=True) == prefix.leave(B, 2)
    assert Gone() == prefix.leave(C, 3)
    assert prefix.is_cold(3)


def test_a_waiter_that_is_stopped_leaves() -> None:
    prefix = written(B, C)
    assert Gone() == prefix.leave(B, 1)
    assert Gone((C,)) == prefix.read(A, 2)


def test_one_who_is_not_there_changes_nothing_by_leaving() -> None:
    prefix = written(B)
    assert Gone() == prefix.leave(D, 1)
    assert (A, [B]) == (prefix.writer, prefix.waiters)


def test_anothers_response_does_not_free_those_who_wait_for_the_writers() -> None:
    prefix = written(B)
    assert Gone((B,), writes=True) == prefix.leave(A, PREFIX_WRITER_S)
    prefix.enter(C, PREFIX_WRITER_S)
    assert Gone() == prefix.read(A, PREFIX_WRITER_S + 1)
    assert Gone((C,)) == prefix.read(B, PREFIX_WRITER_S + 2)


def test_a_late_writers_response_warms_a_prefix_that_no_one_else_writes() -> None:
    prefix = written()
    prefix.leave(A, PREFIX_WRITER_S)
    assert Gone() == prefix.read(A, 200)
    assert Gone((B,)) == prefix.enter(B, 201)


def test_a_prefix_is_warm_for_four_minutes_after_its_last_read() -> None:
    prefix = written()
    prefix.read(A, 10)
    assert Gone((B,)) == prefix.enter(B, 10 + PREFIX_WARM_S - 1)
    prefix.read(B, 100)
    assert Gone((C,)) == prefix.enter(C, 100 + PREFIX_WARM_S - 1)
    assert Gone((D,), writes=True) == prefix.enter(D, 100 + PREFIX_WARM_S)


def test_a_writer_is_late_after_120_seconds_and_no_one_else_ever_is() -> None:
    prefix = written(B)
    assert [False, True] == [prefix.is_late(A, now_s) for now_s in (PREFIX_WRITER_S - 1, PREFIX_WRITER_S)]
    assert not prefix.is_late(B, PREFIX_WRITER_S)
    prefix.leave(A, 100)
    assert not prefix.is_late(B, PREFIX_WRITER_S), "its own time has only begun"


def test_a_prefix_is_cold_when_nobody_writes_it_and_its_last_read_is_long_ago() -> None:
    assert Prefix().is_cold(0)
    assert not written().is_cold(1_000)
    prefix = written()
    prefix.read(A, 1)
    assert [False, True] == [prefix.is_cold(now_s) for now_s in (PREFIX_WARM_S, 1 + PREFIX_WARM_S)]


@pytest.mark.rule("29")
def test_calls_are_alike_when_their_whole_blocks_of_lines_are() -> None:
    assert {prefix_of("m", LINES[:8])} == {prefix_of("m", LINES[:count]) for count in range(8, 12)}
    others = [("m", LINES), ("m", LINES[:4]), ("m", []), ("n", LINES[:8]), ("m", [*LINES[:7], Part(1, 3)])]
    assert prefix_of("m", LINES[:8]) not in {prefix_of(model, lines) for model, lines in others}


@pytest.mark.rule("29", "32")
def test_calls_of_another_effort_or_with_other_texts_are_not_alike() -> None:
    alike = prefix_of("m", LINES[:8], "low", texts())
    assert alike == prefix_of("m", LINES[:9], "low", texts())
    others = [("m", LINES[:8], "high", texts()), ("m", LINES[:8], "low", texts("Be brief.")), ("m", LINES[:8])]
    assert alike not in {prefix_of(*other) for other in others}
    assert alike != prefix_of("m", LINES[:8], "low", texts(search=False)), "their tools differ"


# --- the actor ---


@pytest.fixture
def gate(both_runtimes: object) -> Rig[Gate]:
    return Rig(Gate, name="gate")


def enter(call: tuple[str, int], prefix: str = "p") -> EnterPrefix:
    return EnterPrefix(prefix, *call)


def opened(effects: list[Effect]) -> list[tuple[str, int]]:
    """The calls that may be sent now."""
    return [
        (effect.to, effect.message.ticket)
        for effect in effects
        if isinstance(effect, Tell) and isinstance(effect.message, PrefixOpen)
    ]


def late(call: tuple[str, int]) -> SetTimer:
    """A writer's 120 seconds."""
    return SetTimer("p", PREFIX_WRITER_S, WriterLate("p", *call))


def test_the_actor_opens_to_the_writer_with_a_time_and_to_the_others_at_its_response(gate: Rig[Gate]) -> None:
    assert [late(A), Tell("compactor-1", PrefixOpen(1))] == gate.receive(enter(A))
    assert [[], []] == [opened(gate.receive(enter(call))) for call in (B, C)]
    assert [
        CancelTimer("p"),
        Tell("compactor-2", PrefixOpen(2)),
        Tell("door", PrefixOpen(1)),
    ] == gate.receive(PrefixRead(*A))


@pytest.mark.parametrize("end", [LeavePrefix(*A), Cancel(*A)], ids=["it ended", "its asker is gone"])
def test_the_actor_lets_the_next_waiter_write_with_a_time_of_its_own(
    gate: Rig[Gate], end: LeavePrefix | Cancel
) -> None:
    for call in (A, B, C):
        gate.receive(enter(call))
    assert [late(B), Tell("compactor-2", PrefixOpen(2))] == gate.receive(end)


def test_a_writer_without_a_response_for_120_seconds_is_waited_for_no_more(gate: Rig[Gate]) -> None:
    gate.receive(enter(A), 0)
    gate.receive(enter(B), 50)
    assert [late(B), Tell("compactor-2", PrefixOpen(2))] == gate.receive(WriterLate("p", *A), PREFIX_WRITER_S)
    assert [] == opened(gate.receive(PrefixRead(*A)))
    assert [] == opened(gate.receive(LeavePrefix(*A)))
    assert (B, []) == (gate.behaviour.prefixes["p"].writer, gate.behaviour.prefixes["p"].waiters)


def test_a_timer_that_went_off_before_it_was_taken_back_is_not_believed(gate: Rig[Gate]) -> None:
    """A call that asks again, as for a follow-up, writes anew: with all of its 120 seconds."""
    gate.receive(enter(A), 0)
    gate.receive(LeavePrefix(*A), PREFIX_WRITER_S)
    gate.receive(enter(A))
    gate.receive(enter(B))
    assert [] == gate.receive(WriterLate("p", *A))
    gate.receive(PrefixRead(*A))
    assert [] == gate.receive(WriterLate("p", *A))
    assert [] == gate.receive(WriterLate("q", *A))


def test_a_waiter_whose_asker_is_gone_is_not_sent(gate: Rig[Gate]) -> None:
    for call in (A, C, D):
        gate.receive(enter(call))
    gate.receive(Cancel(*C))
    assert [D] == opened(gate.receive(PrefixRead(*A)))


def test_prefixes_do_not_wait_for_each_other(gate: Rig[Gate]) -> None:
    gate.receive(enter(A, "p"))
    assert [B] == opened(gate.receive(enter(B, "q")))


def test_a_call_that_comes_with_another_prefix_has_left_the_first(gate: Rig[Gate]) -> None:
    gate.receive(enter(A, "p"))
    gate.receive(enter(B, "p"))
    assert [B, A] == opened(gate.receive(enter(A, "q")))


def test_what_is_said_of_a_call_that_is_not_there_changes_nothing(gate: Rig[Gate]) -> None:
    assert [[], [], []] == [gate.receive(message) for message in (PrefixRead(*A), LeavePrefix(*A), Cancel(*A))]


def test_cold_prefixes_that_nobody_is_at_are_forgotten_and_others_are_not(gate: Rig[Gate]) -> None:
    for call, prefix in ((A, "left"), (B, "under way"), (C, "read lately"), (D, "late")):
        gate.receive(enter(call, prefix), 0)
    gate.receive(LeavePrefix(*A))
    gate.receive(WriterLate("late", *D), PREFIX_WRITER_S)
    gate.receive(PrefixRead(*C))
    gate.receive(LeavePrefix(*C))
    gate.receive(enter(("door", 9), "new"), PREFIX_WARM_S)
    assert ["under way", "read lately", "late", "new"] == list(gate.behaviour.prefixes)


@pytest.mark.rule("27", "44")
def test_it_tells_the_texts_in_force_and_they_stay_the_same(both_runtimes: object) -> None:
    in_force = texts("Be brief.", search=False)
    gate = Rig(lambda: Gate(in_force), name="gate")
    gate.receive(enter(A))
    assert [
        [Tell("turn", TextsInForce(1, in_force))],
        [Tell("turn", TextsInForce(2, in_force))],
    ] == [gate.receive(AskTexts("turn", ticket)) for ticket in (1, 2)]


def test_without_texts_of_the_users_it_tells_ours(gate: Rig[Gate]) -> None:
    assert [Tell("turn", TextsInForce(1, texts()))] == gate.receive(AskTexts("turn", 1))


def test_it_is_up_and_finishes_at_once(gate: Rig[Gate]) -> None:
    assert [Tell("supervisor", Pong(1))] == gate.receive(Ping("supervisor", 1))
    assert [Tell("supervisor", Synced(2))] == gate.receive(Sync("supervisor", 2))


def test_a_message_that_is_not_the_gates_is_a_bug(gate: Rig[Gate]) -> None:
    with pytest.raises(Bug, match="the gate does not know"):
        gate.receive(Tick())
