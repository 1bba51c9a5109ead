"""The door of an owner that leaves when nobody comes."""

import pytest

from eukhe.actors.behaviour import EDGE, CancelTimer, Effect, SetTimer, Tell
from eukhe.actors.messages import AskStatus, IdleDue, Leaving
from eukhe.limits import OWNER_BUSY_S, OWNER_IDLE_S
from tests.door_kit import HELLO, DoorKit, idle_or_not

pytestmark = pytest.mark.usefixtures("both_runtimes")

IDLE: Effect = SetTimer("idle", OWNER_IDLE_S, IdleDue())


def test_an_owner_that_may_leave_does_so_when_nobody_came_and_nothing_is_left_to_do() -> None:
    kit = DoorKit(leaves_when_idle=True)
    assert IDLE in kit.up
    assert [Tell("planner", AskStatus("door", 1))] == kit.receive(IdleDue())
    assert [Tell(EDGE, Leaving("idle"))] == kit.receive(idle_or_not(1, idle=True))


def test_while_calls_run_it_looks_again_soon() -> None:
    kit = DoorKit(leaves_when_idle=True)
    kit.receive(IdleDue())
    assert [SetTimer("idle", OWNER_BUSY_S, IdleDue())] == kit.receive(idle_or_not(1, idle=False))
    assert [Tell("planner", AskStatus("door", 2))] == kit.receive(IdleDue())
    assert [] == kit.receive(idle_or_not(1, idle=True))


def test_a_client_that_comes_keeps_it_and_the_last_to_go_begins_the_wait_anew() -> None:
    kit = DoorKit(leaves_when_idle=True)
    kit.receive(IdleDue())
    one, stranger = kit.connect(), kit.connect()
    assert CancelTimer("idle") == kit.say(one, HELLO)[0]
    assert [] == kit.receive(idle_or_not(1, idle=True))
    assert [] == kit.receive(IdleDue())
    two = kit.welcome()
    assert [] == kit.leave(one)
    assert [IDLE] == kit.leave(two)
    assert [] == kit.leave(stranger)


def test_one_that_came_and_went_while_it_asked_keeps_it_for_as_long_again() -> None:
    kit = DoorKit(leaves_when_idle=True)
    kit.receive(IdleDue())
    assert [IDLE] == kit.leave(kit.welcome())
    assert [] == kit.receive(idle_or_not(1, idle=True))
    assert [Tell("planner", AskStatus("door", 2))] == kit.receive(IdleDue())


def test_one_that_only_connects_keeps_nobody() -> None:
    kit = DoorKit(leaves_when_idle=True)
    kit.connect()
    assert [Tell("planner", AskStatus("door", 1))] == kit.receive(IdleDue())


def test_one_that_is_refused_begins_the_wait_anew() -> None:
    kit = DoorKit(leaves_when_idle=True)
    client = kit.welcome()
    assert IDLE == kit.bytes(client, b"")[0]


def test_an_owner_that_stays_never_asks() -> None:
    kit = DoorKit()
    client = kit.welcome()
    assert [] == kit.leave(client)
