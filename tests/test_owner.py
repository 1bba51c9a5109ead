"""A whole owner on both runtimes: turns that wait, calls that share a prefix, and an outage, through all its actors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eukhe.actors.messages import (
    AskStatus,
    Resume,
    Status,
    TakeView,
    ViewTaken,
    Wait,
)
from eukhe.actors.ports import Broke, Outage, Replied, Responding
from eukhe.model.part import Part
from eukhe.model.text import cut
from tests.actor_kit import RUNTIMES
from tests.owner_kit import LONG, Owner
from tests.owner_kit import owner as owner_on

ONE, TWO, THREE = (Part(0, i) for i in range(3))
CUT = cut(f"user: {LONG}")


@pytest.fixture(params=RUNTIMES)
def owner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Owner]:
    with owner_on(request.param, tmp_path) as owner:
        yield owner


def view(owner: Owner, wait: int) -> ViewTaken:
    taken = owner.answer(wait)
    assert isinstance(taken, ViewTaken)
    return taken


def status(owner: Owner) -> Status:
    said = owner.ask("planner", AskStatus)
    assert isinstance(said, Status)
    return said


@pytest.mark.rule("47", "D5", "D10")
def test_a_turn_waits_until_its_lines_are_on_disk_and_reads_them(owner: Owner) -> None:
    owner.log(LONG, "short", LONG)
    wait = owner.order("planner", Wait)
    for _ in range(2):
        assert 1 == status(owner).waiting
        part = next(iter(owner.calls.running))
        owner.reply(part, f"the line of {part.name}")
    taken = view(owner, wait)
    assert (3, (), None) == (taken.t, taken.unbuilt, taken.paused)
    assert ("the line of 0+1", "user: short", "the line of 2+1") == owner.texts(taken)


@pytest.mark.rule("D10")
def test_at_its_deadline_a_turn_reads_the_messages_that_have_no_line(owner: Owner) -> None:
    owner.log(LONG, LONG)
    wait = owner.order("planner", Wait)
    (built,) = owner.calls.running  # the other waits at the gate until its response begins
    owner.reply(built, "a line")
    owner.system.tell("planner", TakeView("edge", wait))
    taken = view(owner, wait)
    assert 1 == len(taken.unbuilt)
    assert ["a line" if part == built else CUT for part in taken.lines] == list(owner.texts(taken))


@pytest.mark.rule("30")
def test_of_calls_that_are_alike_one_is_sent_and_the_others_when_its_response_begins(owner: Owner) -> None:
    owner.log(LONG, LONG, LONG)
    (first,) = owner.calls.running
    assert 3 == status(owner).running
    owner.hear(first, Responding())
    assert {ONE, TWO, THREE} == set(owner.calls.running)


@pytest.mark.rule("30", "38")
def test_when_the_writers_call_breaks_the_next_one_is_sent(owner: Owner) -> None:
    owner.log(LONG, LONG, LONG)
    (first,) = owner.calls.running
    owner.hear(first, Broke("the worker died"))
    (second,) = owner.calls.running
    assert first != second
    assert (2, 1) == (status(owner).running, status(owner).parked)
    owner.reply(second, "a line")
    assert 1 == len(owner.calls.running), "the third; the first waits for the next message"


@pytest.mark.rule("30", "D5")
def test_a_call_that_is_stopped_at_the_gate_leaves_it(owner: Owner) -> None:
    owner.log(LONG, LONG)
    for _ in range(2):
        (part,) = owner.calls.running
        owner.hear(part, Replied("x" * 400))  # without a response's beginning: the next one writes
    (merge,) = owner.calls.running
    assert Part(1, 0) == merge
    owner.log(LONG)
    assert [merge] == list(owner.calls.running), "the new message's call waits at the gate"
    owner.order("planner", Wait)
    owner.settle()
    assert [THREE] == list(owner.calls.running)


@pytest.mark.rule("D13")
def test_an_outage_ends_a_wait_and_calls_go_on_with_another_key(owner: Owner) -> None:
    owner.log(LONG)
    wait = owner.order("planner", Wait)
    owner.hear(ONE, Outage("401: the key is wrong", key=True))
    taken = view(owner, wait)
    assert ((ONE,), "401: the key is wrong") == (taken.unbuilt, taken.paused)
    assert (CUT,) == owner.texts(taken)
    assert {} == owner.calls.running
    owner.system.tell("planner", Resume(changed=True))
    owner.settle()
    owner.reply(ONE, "a line")
    assert ("a line",) == owner.texts(view(owner, owner.order("planner", Wait)))


@pytest.mark.rule("36")
def test_a_line_that_is_too_long_is_asked_for_again_past_the_gate(owner: Owner) -> None:
    owner.log(LONG)
    long = "x" * 600
    owner.reply(ONE, long)
    _, request, _ = owner.calls.running[ONE]
    assert (long,) == request.replies
    owner.reply(ONE, "short")
    assert ("short",) == owner.texts(view(owner, owner.order("planner", Wait)))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_it_ends_although_turns_wait_and_calls_run(runtime: str, tmp_path: Path) -> None:
    with owner_on(runtime, tmp_path) as owner:
        owner.log(LONG, LONG)
        owner.order("planner", Wait)
        owner.settle()
        assert 1 == len(owner.calls.running)
    assert {} == owner.calls.running
