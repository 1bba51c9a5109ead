"""A turn that waits at a planner, and what becomes of the calls it waits for."""

from collections.abc import Iterable, Sequence

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer
from eukhe.actors.messages import (
    AskStatus,
    BuildDone,
    BuildFailed,
    Cancel,
    Logged,
    Status,
    TakeView,
    Tick,
    ViewTaken,
    Wait,
    Written,
)
from eukhe.actors.planner import Planner
from eukhe.actors.planner_marks import batch_of
from eukhe.actors.ports import Outage
from eukhe.limits import RETRY_TICK_S
from eukhe.model.part import Part
from tests.actor_kit import Rig, told
from tests.planner_kit import LONG, last_order, orders, planner

TURN = Wait("door", 1)
TAKE = TakeView("door", 1)
CANCEL = Cancel("door", 1)
OUT = Outage("529: overloaded")
TICK = SetTimer("retry", RETRY_TICK_S, Tick())


def part(i: int) -> Part:
    return Part(0, i)


def done(call: int, of: Part) -> BuildDone:
    return BuildDone(call, of, "x" * 300, 1)


def failed(call: int, of: Part, outage: Outage | None = None) -> BuildFailed:
    return BuildFailed(call, of, "no answer", "cut", 1, outage)


def build(actor: Rig[Planner], calls: dict[Part, int]) -> list[Effect]:
    """These calls end well and their lines are on disk: all that follows."""
    effects: list[Effect] = []
    for of, call in calls.items():
        effects += actor.receive(done(call, of))
        effects += actor.receive(Written((of,), last_order(effects)))
    return effects


def merging() -> tuple[Rig[Planner], int]:
    """A planner of two built messages, whose merge runs; and the call for it."""
    actor = planner()
    merge = orders(build(actor, orders(actor.receive(Logged(0, (LONG, LONG))))))
    assert [Part(1, 0)] == list(merge)
    return actor, merge[Part(1, 0)]


def taken(t: int, lines: Iterable[Part], unbuilt: Sequence[Part] = (), paused: str | None = None) -> ViewTaken:
    lines = tuple(lines)
    return ViewTaken(1, t, lines, tuple(unbuilt), paused, batch_of(lines))


def retries(effects: Iterable[Effect]) -> list[Effect]:
    """What becomes of the tick's timer."""
    return [effect for effect in effects if isinstance(effect, SetTimer | CancelTimer) and effect.name == "retry"]


def status(actor: Rig[Planner]) -> Status:
    (answer,) = told(actor.receive(AskStatus("edge", 9)), "edge")
    assert isinstance(answer, Status)
    return answer
