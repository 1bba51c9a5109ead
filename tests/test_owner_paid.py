"""A whole owner whose model costs money, on both runtimes: what its calls see, and how they are counted."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eukhe.actors.behaviour import Behaviour, Effect, Tell
from eukhe.actors.messages import (
    Append,
    AppendDone,
    AskTexts,
    Attend,
    CallOver,
    CallSent,
    Entry,
    Msg,
    Ping,
    Pong,
    Sync,
    Synced,
    TextsInForce,
)
from eukhe.actors.ports import Replied, Responding
from eukhe.model.ledger import COMPACTION, FOLDER, OVER, RESPONDED, SENT, Note, read
from eukhe.model.part import Part
from eukhe.model.prompt import texts
from eukhe.model.request import line_talk
from eukhe.model.talk import Usage
from tests.actor_kit import RUNTIMES
from tests.owner_kit import LONG, Owner
from tests.owner_kit import owner as owner_on

OURS = texts("Be brief.")
USAGE = Usage(1, 2, 3, 4)


class SilentLedger:
    """A ledger that lets no call go. `told`: what it was told of calls."""

    def __init__(self) -> None:
        self.told: list[Msg] = []

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket):
                return [Tell(reply_to, Synced(ticket))]
            case CallSent() | CallOver():
                self.told.append(message)
        return []


Opened = Callable[..., AbstractContextManager[Owner]]


@pytest.fixture(params=RUNTIMES)
def paid(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens an owner, with actors in the place of its own by their names."""

    def opened(**instead: Callable[[], Behaviour]) -> AbstractContextManager[Owner]:
        given = {"paid": True, "texts": OURS, "effort": "low", "session": "life"}
        return owner_on(request.param, tmp_path, "provider/model", instead, **given)

    return opened


def log(owner: Owner, *said: str) -> None:
    owner.order("planner", Attend)
    entries = tuple(Entry("user", text) for text in said)
    assert isinstance(owner.ask("store", lambda to, ticket: Append(entries, to, ticket)), AppendDone)
    settle(owner)


def settle(owner: Owner) -> None:
    for _ in range(4):
        owner.settle()
        assert isinstance(owner.ask("ledger", Ping), Pong)


def noted(owner: Owner) -> list[Note]:
    """What the ledger has written down."""
    disk = owner.system.disk
    return [note for name in disk.names(FOLDER) for note in read(disk.read(f"{FOLDER}/{name}").splitlines())]


@pytest.mark.rule("32", "34", "35", "41")
def test_a_call_sees_the_lines_before_it_and_is_sent_with_the_texts_in_force(paid: Opened) -> None:
    with paid() as owner:
        log(owner, "one", "two", "three", "four", "five", f"six {LONG}")
        _, request, _ = owner.calls.running[Part(0, 5)]
        # The first five are free, and so are their merges; none of these stands in the view before a batch.
        seen = [(Part(0, i), f"user: {word}") for i, word in enumerate(("one", "two", "three", "four", "five"))]
        assert line_talk(OURS, seen, Part(0, 5), (f"user: six {LONG}",), (), "low") == request.talk
        (sent,) = noted(owner)
        assert (SENT, COMPACTION, "provider/model", None) == (sent.stage, sent.role, sent.model, sent.usage)
        assert sent.id.startswith("life/")
        began = Usage(input=1)
        owner.hear(Part(0, 5), Responding(began), Replied("six", usage=USAGE))
        settle(owner)
        later = [(note.id, note.stage, note.usage, note.why) for note in noted(owner)[1:]]
        assert [(sent.id, RESPONDED, began, ""), (sent.id, OVER, USAGE, "")] == later


@pytest.mark.rule("30", "36")
def test_a_follow_up_is_counted_under_a_name_of_its_own(paid: Opened) -> None:
    with paid() as owner:
        log(owner, LONG)
        owner.hear(Part(0, 0), Responding(), Replied("x" * 600))
        settle(owner)
        _, request, _ = owner.calls.running[Part(0, 0)]
        assert line_talk(OURS, [], Part(0, 0), (f"user: {LONG}",), ("x" * 600,), "low") == request.talk
        first, over, second = noted(owner)
        assert [SENT, OVER, SENT] == [note.stage for note in (first, over, second)]
        assert first.id == over.id != second.id


def test_an_owner_whose_ledger_does_not_answer_sends_nothing_and_still_ends(paid: Opened) -> None:
    ledger = SilentLedger()
    with paid(ledger=lambda: ledger) as owner:
        log(owner, LONG)
        assert {} == owner.calls.running
    sent, over = ledger.told
    assert isinstance(sent, CallSent)
    assert CallOver(sent.call, Usage(), "stopped") == over


@pytest.mark.rule("27", "44")
def test_the_texts_in_force_are_told_to_turns(paid: Opened) -> None:
    with paid() as owner:
        told = owner.ask("gate", AskTexts)
        assert isinstance(told, TextsInForce)
        assert OURS == told.texts


def test_a_call_under_way_as_the_owner_ends_is_noted_to_be_over(paid: Opened) -> None:
    with paid() as owner:
        log(owner, LONG)
    sent, over = noted(owner)
    assert (sent.id, OVER, None, "stopped") == (over.id, over.stage, over.usage, over.why)
