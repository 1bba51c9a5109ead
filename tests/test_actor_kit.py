"""The kit of the actors' tests: it says what an actor did, and finds a test that did not run where it should have."""

import threading
from collections.abc import Sequence

import pykka
import pytest

from eukhe.actors.behaviour import (
    CancelTimer,
    Drop,
    Effect,
    Grant,
    Listen,
    Persist,
    Replace,
    Send,
    SetTimer,
    StartActor,
    StartCall,
    StopActor,
    StopCall,
    Tell,
    Unlisten,
)
from eukhe.actors.messages import Append, Entry, Msg, Pong, Tick, WriteTree
from eukhe.actors.ports import Request
from eukhe.errors import Bug
from eukhe.model.part import Part
from tests.actor_kit import RUNTIMES, Rig, example, on, told

EVERYTHING: list[Effect] = [
    Persist("main/a", b"line\n"),
    Replace("view.json", b"[]", sync=False),
    Tell("planner", Tick()),
    SetTimer("t", 3, Tick()),
    CancelTimer("t"),
    StartCall(1, Request("m", Part(0, 1), ("a",))),
    StopCall(1),
    Listen(),
    Send(4, Pong(1)),
    Grant(4, 100),
    Drop(4),
    Unlisten(),
    StartActor("store"),
    StopActor("store"),
]


class Says:
    """A behaviour that does the same for every message. `got`: messages, when, on which thread."""

    def __init__(self, *effects: Effect) -> None:
        self.effects = effects
        self.got: list[tuple[Msg, float, int]] = []

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        self.got.append((message, now, threading.get_ident()))
        if isinstance(message, Pong):
            raise Bug("a pong")
        return self.effects


@pytest.mark.usefixtures("both_runtimes")
def test_all_that_an_actor_does_is_taken_down_in_order_for_each_message() -> None:
    actor = Rig(lambda: Says(*EVERYTHING))
    assert [EVERYTHING, EVERYTHING] == [actor.receive(Tick(), now) for now in (1, 5)]
    assert [1, 5] == [now for _, now, _ in actor.behaviour.got]
    assert [Tick(), Tick()] == told(actor.did.effects, "planner")
    assert b"line\nline\n" == actor.did.disk.read("main/a")


@pytest.mark.usefixtures("both_runtimes")
def test_what_an_actor_raises_is_raised_and_it_lives_on() -> None:
    actor = Rig(Says)
    with pytest.raises(Bug, match="a pong"):
        actor.receive(Pong(1))
    assert [] == actor.receive(Tick())


def test_on_threads_an_actor_has_one_of_its_own_and_in_the_simulator_none() -> None:
    here = threading.get_ident()
    seen = []
    for name in RUNTIMES:
        with on(name):
            actor = Rig(Says)
            actor.receive(Tick())
            actor.receive(Tick())
            seen.append({thread for _, _, thread in actor.behaviour.got})
    threads, sim = seen
    assert (1, {here}) == (len(threads), sim)
    assert here not in threads


def test_in_the_simulator_a_message_is_encoded_on_its_way() -> None:
    message = WriteTree((), 1)
    for name in RUNTIMES:
        with on(name):
            actor = Rig(Says)
            actor.receive(message)
            ((got, _, _),) = actor.behaviour.got
            assert (message, name == "threads") == (got, got is message)


def test_what_no_bytes_stand_for_gets_nowhere_in_the_simulator() -> None:
    with on("sim"):
        actor = Rig(Says)
        actor.receive(Tick())
        with pytest.raises(UnicodeEncodeError):
            actor.receive(Append((Entry("user", "\ud83d"),), "edge", 1))


@pytest.mark.parametrize(("really", "said"), [RUNTIMES, RUNTIMES[::-1]])
def test_a_test_that_ran_on_the_other_runtime_is_found(really: str, said: str) -> None:
    with on(really) as runtime:
        actor = Rig(Says)
        actor.receive(Tick())
        runtime.name = said
        with pytest.raises(AssertionError):
            runtime.close()
        runtime.handled = 1


def test_a_test_that_did_nothing_there_is_found() -> None:
    with pytest.raises(AssertionError, match="nothing was done on sim"), on("sim"):
        Rig(Says)


@pytest.mark.usefixtures("both_runtimes")
def test_after_an_example_only_what_was_there_before_it_is_left() -> None:
    outer = Rig(Says)
    before = len(pykka.ActorRegistry.get_all())
    with example():
        for _ in range(3):
            Rig(Says).receive(Tick())
        assert before + 3 == len(pykka.ActorRegistry.get_all())
    assert before == len(pykka.ActorRegistry.get_all())
    assert [] == outer.receive(Tick())
