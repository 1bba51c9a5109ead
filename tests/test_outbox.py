"""The outbox: what the next owner is asked again, and what it is not."""

import msgspec
import pytest

from eukhe.actors.messages import (
    Append,
    AppendDone,
    AskStatus,
    Cancel,
    EnterPrefix,
    Entry,
    LeavePrefix,
    Msg,
    PrefixOpen,
    PrefixRead,
    Settle,
    Sync,
    TakeView,
    ViewTaken,
    Wait,
)
from eukhe.actors.outbox import Outbox


def append(ticket: int, *entries: Entry) -> Append:
    return Append(entries, "edge", ticket)


def keys(order: Msg) -> list[str | None]:
    assert isinstance(order, Append)
    return [entry.key for entry in order.entries]


@pytest.mark.rule("D2")
def test_entries_get_keys_which_stay_the_same_when_they_are_sent_again() -> None:
    outbox = Outbox("me")
    order = outbox.put(append(1, Entry("user", "a"), Entry("user", "b", key="own"), Entry("user", "c")))
    assert ["me.1.0", "own", "me.1.2"] == keys(order)
    assert [order] == outbox.again()
    assert ["me.2.0"] == keys(outbox.put(append(2, Entry("user", "a"))))


def test_what_is_not_answered_is_said_again_in_its_order() -> None:
    outbox = Outbox("me")
    orders = [outbox.put(order) for order in (Settle("", 3, 1, True), append(1), AskStatus("", 2), Sync("", 4))]
    assert orders == outbox.again()
    assert outbox.answered(AppendDone(1, ()))
    assert [orders[0], *orders[2:]] == outbox.again()


def test_an_answer_counts_once() -> None:
    outbox = Outbox("me")
    outbox.put(append(1))
    assert outbox.answered(AppendDone(1, ()))
    assert not outbox.answered(AppendDone(1, ()))
    assert [] == outbox.again()


def test_a_wait_whose_view_was_asked_for_is_followed_by_that_again() -> None:
    outbox = Outbox("me")
    wait, take = Wait("", 1), TakeView("", 1)
    other = Wait("", 2)
    for order in (wait, other, take):
        assert order == outbox.put(order)
    assert [wait, take, other] == outbox.again()
    assert outbox.answered(ViewTaken(1, 0, (), (), None))
    assert [other] == outbox.again()


def test_a_view_that_was_given_is_not_asked_for_again() -> None:
    outbox = Outbox("me")
    take = TakeView("", 1)
    assert take == outbox.put(take)
    assert [] == outbox.again()


def test_what_was_cancelled_is_not_wanted_of_the_next_owner() -> None:
    outbox = Outbox("me")
    outbox.put(Wait("", 1))
    cancel = Cancel("", 1)
    assert cancel == outbox.put(cancel)
    assert [] == outbox.again()
    assert not outbox.answered(ViewTaken(1, 0, (), (), None))


@pytest.mark.rule("30")
def test_a_call_that_waits_before_the_gate_does_so_before_the_next_owners() -> None:
    outbox = Outbox("me")
    enter = EnterPrefix("p", "", 1)
    outbox.put(enter)
    assert [enter] == outbox.again()
    assert outbox.answered(PrefixOpen(1))
    read = PrefixRead("", 1)
    assert read == outbox.put(read)
    assert [] == outbox.again()


@pytest.mark.rule("30")
def test_a_call_that_left_before_it_was_sent_does_not_enter_again() -> None:
    outbox = Outbox("me")
    outbox.put(EnterPrefix("p", "", 1))
    leave = LeavePrefix("", 1)
    assert leave == outbox.put(leave)
    assert [] == outbox.again()


def test_each_order_has_a_ticket_of_its_own() -> None:
    outbox = Outbox("me")
    assert [1, 2, 3] == [outbox.ticket() for _ in range(3)]


def test_an_order_is_kept_as_it_was_sent_and_the_one_put_in_is_left_as_it_is() -> None:
    outbox = Outbox("me")
    order = append(1, Entry("user", "a"))
    sent = outbox.put(order)
    assert [None] == keys(order)
    assert sent == msgspec.structs.replace(order, entries=(Entry("user", "a", key="me.1.0"),))
