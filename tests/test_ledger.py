"""The ledger's behaviour: what is noted, and when no more may be spent."""

from itertools import permutations

import pytest
from store_kit import MemoryDisk

from eukhe.actors.behaviour import Persist, SetTimer, Tell
from eukhe.actors.messages import AskBudget, Budget, CallOver, Counted, DayDue, Uncounted
from eukhe.errors import StoreError
from eukhe.model.talk import NO_USAGE
from tests.actor_kit import told
from tests.ledger_kit import MODEL, USD, DayClock, budgets, ledger, lines, over, responded, sent

pytestmark = pytest.mark.usefixtures("both_runtimes")

OUT_OF_MONEY = "memory.dailyUsd (${} of $0.01) is spent, but for what another call may cost, $0.0040"


# --- what is noted ---


def test_a_call_is_counted_once_it_is_on_disk() -> None:
    actor = ledger()
    effects = actor.receive(sent("a/1"))
    assert [Persist, Tell] == [type(effect) for effect in effects]
    assert [Counted(5)] == told(effects, "compactor-0")


def test_each_stage_is_a_line_with_all_keys() -> None:
    disk = MemoryDisk()
    actor = ledger(disk)
    for message in (sent("a/1"), responded("a/1"), over("a/1", why="it broke")):
        actor.receive(message)
    head = {"role": "compaction", "model": MODEL, "batch": 3, "blocks": 7}
    t = "2026-10-05T12:00:00+02:00"
    none = {"input": 0, "output": 0, "cacheRead": 10_000, "cacheWrite": 0}
    all_ = {"input": 1_000, "output": 100, "cacheRead": 10_000, "cacheWrite": 500}
    assert [
        {"id": "a/1", "t": t, "stage": "sent", **head, "usage": None, "why": "", "usd": None, "first": False},
        {"id": "a/1", "t": t, "stage": "responded", **head, "usage": none, "why": "", "usd": 0.001, "first": False},
        {"id": "a/1", "t": t, "stage": "over", **head, "usage": all_, "why": "it broke", "usd": USD, "first": False},
    ] == lines(disk)


def test_what_is_told_twice_is_noted_once_and_answered_twice_also_by_the_next_owner() -> None:
    disk = MemoryDisk()
    for local in ("2026-10-05T12:00:00+02:00", "2026-10-06T01:00:00+02:00"):
        actor = ledger(disk, DayClock(local))
        for _ in range(2):
            assert [Counted(5)] == told(actor.receive(sent("a/1")), "compactor-0")
            actor.receive(over("a/1"))
    assert ["sent", "over"] == [line["stage"] for line in lines(disk)]
    assert [] == lines(disk, "calls/2026-10-06.jsonl")


def test_a_call_of_which_nobody_said_what_it_took_has_no_price() -> None:
    disk = MemoryDisk()
    actor = ledger(disk)
    actor.receive(sent("a/1", model="openai/other"))
    actor.receive(over("a/1"))
    actor.receive(sent("a/2"))
    actor.receive(over("a/2", None, "the worker died"))
    assert [None] * 4 == [line["usd"] for line in lines(disk)]


def test_a_torn_line_is_ended_and_costs_itself_alone() -> None:
    disk = MemoryDisk()
    ledger(disk).receive(sent("a/1"))
    disk.append("calls/2026-10-05.jsonl", b'{"id":"a/2","t"')
    actor = ledger(disk)
    actor.receive(over("a/1"))
    actor.receive(sent("a/3"))
    data = disk.read("calls/2026-10-05.jsonl").split(b"\n")
    assert [True, False, True, True] == [line.endswith(b"}") for line in data[:-1]]


def test_a_clock_that_goes_back_does_not_take_the_file_back() -> None:
    disk, clock = MemoryDisk(), DayClock()
    actor = ledger(disk, clock)
    actor.receive(sent("a/1"))
    clock.now = clock.now.replace(day=4)
    actor.receive(sent("a/2"))
    assert [2, 0] == [len(lines(disk)), len(lines(disk, "calls/2026-10-04.jsonl"))]


# --- a disk that fails ---


class FailingDisk(MemoryDisk):
    """No write succeeds."""

    def append(self, path: str, data: bytes) -> None:
        raise StoreError(path, 28, "No space left on device")


def test_a_failed_write_is_said_once_and_never_stops_the_chat() -> None:
    actor = ledger(FailingDisk())
    effects = actor.receive(sent("a/1"))
    why = "what calls cost is not noted any more: calls/2026-10-05.jsonl: No space left on device"
    assert [why] == [message.why[: len(why)] for message in told(effects, "planner") if isinstance(message, Uncounted)]
    assert [Counted(5)] == told(effects, "compactor-0")
    effects = actor.receive(sent("a/2"))
    assert ([], [Counted(5)]) == (told(effects, "planner"), told(effects, "compactor-0"))
    assert not any(isinstance(effect, Persist) for effect in effects)


def test_where_there_is_a_limit_what_cant_be_noted_is_not_sent() -> None:
    actor = ledger(FailingDisk(), daily_usd=1)
    effects = actor.receive(sent("a/1"))
    assert [] == told(effects, "compactor-0")
    (budget,) = budgets(effects)
    assert ("compactor-0",) == budget.held
    assert "what calls cost can't be noted, and there is a limit: " in (budget.why or "")
    assert [Counted(5)] == told(actor.receive(sent("t/1", "turn", "door")), "door")  # a turn goes on


# --- what may be spent ---


def spend(actor: object, count: int) -> list[Budget]:
    """So many calls, one after the other; what the planner is told."""
    said: list[Budget] = []
    for number in range(count):
        said += budgets(actor.receive(sent(f"a/{number}")))  # type: ignore[attr-defined]
        said += budgets(actor.receive(over(f"a/{number}")))  # type: ignore[attr-defined]
    return said


def test_no_more_is_spent_than_a_day_may_cost_and_a_new_day_has_its_own() -> None:
    clock = DayClock()
    actor = ledger(clock=clock, daily_usd=0.01)
    assert [Budget(OUT_OF_MONEY.format("0.0080"))] == spend(actor, 2)
    effects = actor.receive(sent("a/9"))
    assert [("compactor-0",)] == [budget.held for budget in budgets(effects)]
    assert [] == told(effects, "compactor-0")
    assert [SetTimer("day", 3_600.0, DayDue())] == [effect for effect in effects if isinstance(effect, SetTimer)]
    actor.receive(over("a/9", NO_USAGE, "stopped"))
    assert [] == budgets(actor.receive(DayDue()))
    clock.tomorrow()
    assert [Budget(None)] == budgets(actor.receive(DayDue()))
    assert [Counted(5)] == told(actor.receive(sent("a/10")), "compactor-0")


def test_a_call_that_is_refused_is_not_noted() -> None:
    disk = MemoryDisk()
    actor = ledger(disk, daily_usd=0)
    actor.receive(sent("a/1"))
    effects = actor.receive(CallOver("a/1", NO_USAGE, "stopped", "compactor-0", 6))
    assert ([Counted(6)], []) == (told(effects, "compactor-0"), lines(disk))


def test_the_day_timer_is_set_a_second_past_midnight() -> None:
    actor = ledger(clock=DayClock("2026-10-05T23:59:50+02:00"), daily_usd=0)
    timers = [effect for effect in actor.receive(AskBudget()) if isinstance(effect, SetTimer)]
    assert [SetTimer("day", 11.0, DayDue())] == timers


def test_what_was_spent_today_counts_for_the_next_owner_and_yesterdays_does_not() -> None:
    disk = MemoryDisk()
    spend(ledger(disk, daily_usd=0.01), 2)
    again = ledger(disk, daily_usd=0.0081, estimate_usd=0.004)
    assert 1 == len(budgets(again.receive(AskBudget())))
    tomorrow = ledger(disk, DayClock("2026-10-06T00:00:01+02:00"), daily_usd=0.0081, estimate_usd=0.004)
    assert [] == budgets(tomorrow.receive(AskBudget()))


def test_a_call_waits_where_those_under_way_may_cost_all_and_goes_when_they_cost_less() -> None:
    actor = ledger(limit_usd=0.02, estimate_usd=0.015)
    assert [Counted(5)] == told(actor.receive(sent("a/1")), "compactor-0")
    waits = actor.receive(sent("a/2", to="compactor-1"))
    assert ([], []) == (told(waits, "compactor-1"), told(waits, "planner"))
    goes = actor.receive(over("a/1"))
    assert ([Counted(5)], []) == (told(goes, "compactor-1"), told(goes, "planner"))


def test_a_call_that_waits_is_told_to_the_planner_when_those_under_way_leave_nothing() -> None:
    actor = ledger(limit_usd=0.005, estimate_usd=0.003)
    actor.receive(sent("a/1"))
    actor.receive(sent("a/2", to="compactor-1"))
    (budget,) = budgets(actor.receive(over("a/1")))
    assert ("compactor-1",) == budget.held


def test_a_call_whose_cost_nobody_said_counts_as_the_dearest_so_far() -> None:
    actor = ledger(daily_usd=0.01)
    assert [] == spend(actor, 1)
    actor.receive(sent("b/1"))
    assert [Budget(OUT_OF_MONEY.format("0.0080"))] == budgets(actor.receive(over("b/1", None, "the worker died")))


def test_turns_count_for_no_limit() -> None:
    actor = ledger(daily_usd=0.005)
    for number in range(5):
        actor.receive(sent(f"t/{number}", "turn", "door"))
        assert [] == budgets(actor.receive(over(f"t/{number}")))


def test_with_a_limit_and_no_price_nothing_is_sent() -> None:
    actor = ledger(model="openai/other", daily_usd=5)
    why = "nobody knows what openai/other costs, and there is a limit: say it (prices), or take that away"
    assert [Budget(why)] == budgets(actor.receive(AskBudget()))
    assert [] == budgets(ledger(model="openai/other").receive(AskBudget()))


def test_the_sums_are_the_same_whatever_comes_first() -> None:
    messages = (sent("a/1"), responded("a/1"), over("a/1"), over("a/1"))
    for order in permutations(messages):
        actor = ledger(daily_usd=1)
        for message in order:
            actor.receive(message)
        assert 4_000_000 == actor.behaviour.limits[0].sum.total


@pytest.mark.parametrize(
    ("local", "s"),
    [
        ("2026-10-05T22:30:00+02:00", 3_600.0),  # an hour and a half left: looked at once more before
        ("2026-03-29T23:30:00+02:00", 1_801.0),  # the day that summer time made shorter
        ("2026-10-25T23:30:00+01:00", 1_801.0),
    ],
)
def test_the_day_is_looked_at_every_hour_so_that_summer_time_moves_nothing(local: str, s: float) -> None:
    actor = ledger(clock=DayClock(local), daily_usd=0)
    assert [s] == [effect.after_s for effect in actor.receive(AskBudget()) if isinstance(effect, SetTimer)]
