"""A whole owner whose model costs money, on both runtimes: what its calls see, and how they are counted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eukhe.actors.messages import (
    Append,
    AppendDone,
    AskTexts,
    Attend,
    CallOver,
    CallSent,
    Entry,
    Ping,
    Pong,
    TextsInForce,
)
from eukhe.actors.ports import Replied, Responding
from eukhe.model.part import Part
from eukhe.model.prompt import texts
from eukhe.model.request import line_talk
from eukhe.model.talk import Usage
from tests.actor_kit import RUNTIMES
from tests.ledger_kit import Ledger
from tests.owner_kit import LONG, Owner
from tests.owner_kit import owner as owner_on

OURS = texts("Be brief.")
USAGE = Usage(1, 2, 3, 4)


@pytest.fixture(params=RUNTIMES)
def paid(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Ledger], Iterator[Owner]]:
    """An owner, with this ledger."""
    return lambda ledger: owner_on(
        request.param,
        tmp_path,
        "provider/model",
        {"ledger": lambda: ledger},
        paid=True,
        texts=OURS,
        effort="low",
        session="life",
    )


def log(owner: Owner, *said: str) -> None:
    owner.order("planner", Attend)
    entries = tuple(Entry("user", text) for text in said)
    assert isinstance(owner.ask("store", lambda to, ticket: Append(entries, to, ticket)), AppendDone)
    settle(owner)


def settle(owner: Owner) -> None:
    for _ in range(4):
        owner.settle()
        assert isinstance(owner.ask("ledger", Ping), Pong)


@pytest.mark.rule("32", "34", "35", "41")
def test_a_call_sees_the_lines_before_it_and_is_sent_with_the_texts_in_force(paid) -> None:  # type: ignore[no-untyped-def]
    ledger = Ledger()
    with paid(ledger) as owner:
        log(owner, "one", "two", "three", "four", "five", f"six {LONG}")
        _, request, _ = owner.calls.running[Part(0, 5)]
        # The first five are free, and so are their merges; none of these stands in the view before a batch.
        seen = [(Part(0, i), f"user: {word}") for i, word in enumerate(("one", "two", "three", "four", "five"))]
        assert line_talk(OURS, seen, Part(0, 5), (f"user: six {LONG}",), (), "low") == request.talk
        (sent,) = ledger.told
        assert isinstance(sent, CallSent)
        assert ("compaction", "provider/model") == (sent.role, sent.model)
        assert sent.call.startswith("life/")
        owner.hear(Part(0, 5), Responding(Usage(input=1)), Replied("six", usage=USAGE))
        settle(owner)
        assert CallOver(sent.call, USAGE) == ledger.told[-1]


@pytest.mark.rule("30", "36")
def test_a_follow_up_is_counted_under_a_name_of_its_own(paid) -> None:  # type: ignore[no-untyped-def]
    ledger = Ledger()
    with paid(ledger) as owner:
        log(owner, LONG)
        owner.hear(Part(0, 0), Responding(), Replied("x" * 600))
        settle(owner)
        _, request, _ = owner.calls.running[Part(0, 0)]
        assert line_talk(OURS, [], Part(0, 0), (f"user: {LONG}",), ("x" * 600,), "low") == request.talk
        sent = [told.call for told in ledger.told if isinstance(told, CallSent)]
        assert 2 == len(sent) == len(set(sent))


def test_an_owner_whose_ledger_does_not_answer_sends_nothing_and_still_ends(paid) -> None:  # type: ignore[no-untyped-def]
    ledger = Ledger(answers=False)
    with paid(ledger) as owner:
        log(owner, LONG)
        assert {} == owner.calls.running
    sent, over = ledger.told
    assert isinstance(sent, CallSent)
    assert CallOver(sent.call, Usage(), "stopped") == over


@pytest.mark.rule("27", "44")
def test_the_texts_in_force_are_told_to_turns(paid) -> None:  # type: ignore[no-untyped-def]
    with paid(Ledger()) as owner:
        told = owner.ask("gate", AskTexts)
        assert isinstance(told, TextsInForce)
        assert OURS == told.texts
