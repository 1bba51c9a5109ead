"""The supervisor's behaviour: the order of starting and stopping, and crashes."""

import pytest

from eukhe.actors.behaviour import Effect, StartActor, StopActor, Tell
from eukhe.actors.messages import Begin, Begun, Crashed, End, Ended, OwnerFailed, Ping, Pong, Sync, Synced
from eukhe.actors.supervisor import Supervisor
from eukhe.errors import Bug
from tests.actor_kit import Rig

pytestmark = pytest.mark.usefixtures("both_runtimes")


def supervisor(*order: str) -> Rig[Supervisor]:
    return Rig(lambda: Supervisor(order, "edge"), name="supervisor")


def begun(*order: str) -> Rig[Supervisor]:
    actor = supervisor(*order)
    actor.receive(Begin("edge", 1))
    for ticket in range(1, len(order) + 1):
        actor.receive(Pong(ticket))
    return actor


def test_each_starts_once_the_one_before_it_answers() -> None:
    actor = supervisor("index", "store")
    assert [StartActor("index"), Tell("index", Ping("supervisor", 1))] == actor.receive(Begin("edge", 4))
    assert [StartActor("store"), Tell("store", Ping("supervisor", 2))] == actor.receive(Pong(1))
    assert [Tell("edge", Begun(4))] == actor.receive(Pong(2))


def test_they_finish_and_stop_in_reverse() -> None:
    actor = begun("index", "store")
    assert [Tell("store", Sync("supervisor", 2))] == actor.receive(End("edge", 9))
    assert [StopActor("store"), Tell("index", Sync("supervisor", 1))] == actor.receive(Synced(2))
    assert [StopActor("index"), Tell("edge", Ended(9, None))] == actor.receive(Synced(1))


def test_a_crash_is_said_at_once_and_ends_the_others_without_waiting_for_the_crashed() -> None:
    actor = begun("index", "store", "planner")
    effects = actor.receive(Crashed("store", "a bug"))
    assert [Tell("edge", OwnerFailed("store: a bug")), Tell("planner", Sync("supervisor", 3))] == effects
    assert [StopActor("planner"), StopActor("store"), Tell("index", Sync("supervisor", 1))] == actor.receive(
        Synced(3), 0
    )
    assert [StopActor("index")] == actor.receive(Synced(1))
    assert [Tell("edge", Ended(2, "store: a bug"))] == actor.receive(End("edge", 2))


def test_a_crash_of_the_one_that_is_waited_for_goes_on_with_the_next() -> None:
    actor = begun("index", "store")
    actor.receive(End("edge", 9))
    effects: list[Effect] = list(actor.receive(Crashed("store", "a bug")))
    assert [
        Tell("edge", OwnerFailed("store: a bug")),
        StopActor("store"),
        Tell("index", Sync("supervisor", 1)),
    ] == effects
    assert [StopActor("index"), Tell("edge", Ended(9, "store: a bug"))] == actor.receive(Synced(1))


def test_a_crash_while_starting_ends_what_was_started() -> None:
    actor = supervisor("index", "store", "planner")
    actor.receive(Begin("edge", 1))
    actor.receive(Pong(1))
    effects = actor.receive(Crashed("store", "a bug"))
    assert [
        Tell("edge", OwnerFailed("store: a bug")),
        StopActor("store"),
        Tell("index", Sync("supervisor", 1)),
    ] == effects
    assert [] == actor.receive(Pong(2))


def test_a_message_that_is_not_the_supervisors_is_a_bug() -> None:
    with pytest.raises(Bug, match="the supervisor does not know"):
        supervisor("index").receive(Ping("edge", 1))
