"""A client's link: one thread that finds the owner, speaks with it, and finds the next; no order comes twice."""

from collections.abc import Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue

import pytest

from eukhe.actors.messages import AskStatus, Msg, Synced
from eukhe.actors.ports import OwnerEvent, OwnerFound, OwnerLost, OwnerSaid
from eukhe.actors.wire import encode
from eukhe.cli import owner_link
from eukhe.cli.command import Given
from eukhe.cli.owner_link import RealOwnerLink
from eukhe.errors import Bug, ChatLockedError, OwnerGone
from eukhe.limits import OWNERS_LOST_MAX
from tests.leaks import comes_true

WAIT_S = 30.0


class FakeLine:
    """A way to an owner. `told`: what was sent; `says`: what is heard, or how it ends."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.told: SimpleQueue[tuple[str, Msg]] = SimpleQueue()
        self.says: SimpleQueue[Msg | Exception] = SimpleQueue()
        self.closed = False

    def tell(self, to: str, message: Msg) -> None:
        self.told.put((to, message))

    def hear(self, wait_s: float | None) -> Msg:
        said = self.says.get(timeout=WAIT_S)
        if isinstance(said, Exception):
            raise said
        return said

    def wake(self) -> None:
        self.says.put(TimeoutError())

    def close(self) -> None:
        self.closed = True


class Owners:
    """Those that are found, one after the other; none is found before it is put here."""

    def __init__(self) -> None:
        self.next: SimpleQueue[FakeLine | Exception] = SimpleQueue()

    def way(self, *_: object) -> "Owners":
        return self

    def find(self) -> FakeLine:
        found = self.next.get(timeout=WAIT_S)
        if isinstance(found, Exception):
            raise found
        return found


@pytest.fixture
def owners(monkeypatch: pytest.MonkeyPatch) -> Owners:
    there = Owners()
    monkeypatch.setattr(owner_link, "Way", there.way)
    monkeypatch.setattr(owner_link, "make_home", lambda home: home)
    return there


class Ear:
    def __init__(self) -> None:
        self.events: SimpleQueue[OwnerEvent] = SimpleQueue()

    def __call__(self, event: OwnerEvent) -> None:
        self.events.put(event)

    def next(self) -> OwnerEvent:
        return self.events.get(timeout=WAIT_S)


@pytest.fixture
def link(owners: Owners) -> Iterator[RealOwnerLink]:
    it = RealOwnerLink(Given("/nowhere"))
    yield it
    with suppress(Empty):
        while True:
            owners.next.get_nowait()
    owners.next.put(OwnerGone("the test is over"))
    it.close()


def order(ticket: int) -> bytes:
    return encode(AskStatus("edge", ticket))


def test_orders_go_to_the_owner_and_answers_are_heard(owners: Owners, link: RealOwnerLink) -> None:
    ear, line = Ear(), FakeLine(1)
    owners.next.put(line)
    link.open(ear)
    assert OwnerFound(1) == ear.next()
    link.open(ear)
    link.send("planner", order(7))
    assert ("planner", AskStatus("edge", 7)) == line.told.get(timeout=WAIT_S)
    line.says.put(Synced(7))
    assert OwnerSaid(encode(Synced(7))) == ear.next()


def test_what_was_sent_before_an_owner_was_heard_of_goes_to_none(owners: Owners, link: RealOwnerLink) -> None:
    ear, first, second = Ear(), FakeLine(1), FakeLine(2)
    owners.next.put(first)
    link.open(ear)
    assert OwnerFound(1) == ear.next()
    link.open(ear)
    first.says.put(OwnerGone("it was killed"))
    owners.next.put(second)
    assert OwnerFound(2) == ear.next()
    assert first.closed
    link.send("planner", order(7))  # whoever sends does not know of the second: it will send this again
    link.open(ear)
    link.send("planner", order(7))
    assert ("planner", AskStatus("edge", 7)) == second.told.get(timeout=WAIT_S)
    assert second.told.empty()
    assert first.told.empty()


def test_of_two_owners_that_were_found_the_first_one_heard_of_is_not_the_one_there_is(
    owners: Owners, link: RealOwnerLink
) -> None:
    ear, first, second = Ear(), FakeLine(1), FakeLine(2)
    first.says.put(OwnerGone("it was killed at once"))
    owners.next.put(first)
    owners.next.put(second)
    link.open(ear)
    assert [OwnerFound(1), OwnerFound(2)] == [ear.next(), ear.next()]
    link.open(ear)  # of the first
    link.send("planner", order(7))
    link.open(ear)  # of the second
    link.send("planner", order(7))
    assert ("planner", AskStatus("edge", 7)) == second.told.get(timeout=WAIT_S)
    assert second.told.empty()


@pytest.mark.parametrize(
    ("error", "said", "bug"),
    [
        (ChatLockedError("it is owned"), "it is owned", "None"),
        (Bug("odd"), "a fault of eukhe: odd", "odd"),
        (OSError("no room"), "a fault of eukhe: OSError: no room", "OSError: no room"),
    ],
)
def test_where_none_can_be_had_that_is_heard_and_it_can_be_looked_for_again(
    error: Exception, said: str, bug: str, owners: Owners, link: RealOwnerLink
) -> None:
    ear, line = Ear(), FakeLine(2)
    owners.next.put(error)
    link.open(ear)
    assert OwnerLost(said) == ear.next()
    assert bug == str(link.bug)
    owners.next.put(line)
    link.open(ear)
    assert OwnerFound(2) == ear.next()


def test_an_owner_that_was_heard_of_when_none_was_left_starts_no_second_search(
    owners: Owners, link: RealOwnerLink
) -> None:
    ear, first, second = Ear(), FakeLine(1), FakeLine(2)
    first.says.put(OwnerGone("it was killed at once"))
    owners.next.put(first)
    owners.next.put(ChatLockedError("it is owned"))
    link.open(ear)
    assert [OwnerFound(1), OwnerLost("it is owned")] == [ear.next(), ear.next()]
    link.open(ear)  # of the first
    owners.next.put(second)
    link.open(ear)  # once more
    assert OwnerFound(2) == ear.next()
    link.send("planner", order(7))
    link.open(ear)
    link.send("planner", order(8))
    assert ("planner", AskStatus("edge", 8)) == second.told.get(timeout=WAIT_S)


def test_owners_that_all_end_before_they_answer_are_given_up(owners: Owners, link: RealOwnerLink) -> None:
    ear = Ear()
    for pid in range(OWNERS_LOST_MAX + 1):
        line = FakeLine(pid)
        line.says.put(OwnerGone("it was killed"))
        owners.next.put(line)
    link.open(ear)
    found = [ear.next() for _ in range(OWNERS_LOST_MAX + 1)]
    assert all(isinstance(event, OwnerFound) for event in found)
    lost = ear.next()
    assert isinstance(lost, OwnerLost)
    assert "ended before they answered" in lost.why


def test_closed_it_lets_go_of_the_owner(owners: Owners, link: RealOwnerLink) -> None:
    ear, line = Ear(), FakeLine(1)
    owners.next.put(line)
    link.open(ear)
    ear.next()
    link.close()
    assert comes_true(lambda: line.closed, WAIT_S)
    assert ear.events.empty()
