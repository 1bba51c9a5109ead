"""The courier, on both runtimes: orders go to the owner that there is, answers to whoever asked; owners die."""

import pytest

from eukhe.actors.behaviour import EDGE, Dial, Effect, Hang, Order
from eukhe.actors.courier import NAME, TURN, Courier
from eukhe.actors.messages import (
    Append,
    AppendDone,
    AskStatus,
    Attend,
    CallOver,
    Cancel,
    Counted,
    EnterPrefix,
    Entry,
    LeavePrefix,
    Logging,
    Msg,
    OwnerHeard,
    OwnerIs,
    PrefixOpen,
    PrefixRead,
    Sync,
    Synced,
    TakeView,
    TurnDue,
    TurnOver,
    ViewTaken,
    Wait,
)
from eukhe.actors.ports import OwnerFound, OwnerLost, OwnerSaid, ToolEnded
from eukhe.actors.wire import encode
from tests.actor_kit import Rig, Runtime, told
from tests.turn_kit import asked, client, given, heard_all, says, tell, use, when

pytestmark = pytest.mark.usefixtures("both_runtimes")


def courier() -> Rig[Courier]:
    return Rig(lambda: Courier("me"), name=NAME)


def found(rig: Rig[Courier], pid: int = 1) -> list[Effect]:
    return rig.receive(OwnerHeard(OwnerFound(pid)))


def said(rig: Rig[Courier], answer: Msg) -> list[Effect]:
    return rig.receive(OwnerHeard(OwnerSaid(encode(answer))))


def orders(effects: list[Effect]) -> list[tuple[str, Msg]]:
    return [(effect.to, effect.message) for effect in effects if isinstance(effect, Order)]


def test_it_looks_for_an_owner_with_the_first_order_and_sends_it_when_there_is_one() -> None:
    rig = courier()
    assert [Dial()] == rig.receive(AskStatus(TURN, 7))
    assert [] == rig.receive(AskStatus(TURN, 8))
    effects = found(rig)
    assert [("planner", AskStatus(EDGE, 1)), ("planner", AskStatus(EDGE, 2))] == orders(effects)
    assert Dial() == effects[0]  # from now on what is sent is for this one
    assert [OwnerIs(1)] == told(effects, TURN) == told(effects, EDGE)


@pytest.mark.rule("7")
def test_answers_go_to_whoever_asked_under_its_own_ticket() -> None:
    rig = courier()
    rig.receive(Append((Entry("user", "a"),), TURN, 70))
    (append,) = [order for _, order in orders(found(rig))]
    assert isinstance(append, Append)
    done = AppendDone(append.ticket, (Logging(5, 1, 1),))
    assert [AppendDone(70, (Logging(5, 1, 1),))] == told(said(rig, done), TURN)
    assert [] == said(rig, done)


@pytest.mark.rule("7", "D2")
def test_what_is_not_answered_is_sent_again_to_the_next_owner_with_the_same_keys() -> None:
    rig = courier()
    rig.receive(Append((Entry("user", "a"),), TURN, 70))
    first = orders(found(rig))
    assert first == orders(found(rig, 2))
    ((_, append),) = first
    assert isinstance(append, Append)
    assert "me.1.0" == append.entries[0].key


@pytest.mark.rule("47", "D10")
def test_a_wait_and_what_follows_it_go_to_the_next_owner() -> None:
    rig = courier()
    rig.receive(Wait(TURN, 70))
    found(rig)
    assert [("planner", TakeView(EDGE, 1))] == orders(rig.receive(TakeView(TURN, 70)))
    assert [("planner", Wait(EDGE, 1)), ("planner", TakeView(EDGE, 1))] == orders(found(rig, 2))
    assert [ViewTaken(70, 0, (), (), None)] == told(said(rig, ViewTaken(1, 0, (), (), None)), TURN)
    assert [] == rig.receive(TakeView(TURN, 70))


@pytest.mark.rule("30")
def test_a_call_that_waits_enters_the_next_owners_gate_and_one_that_was_sent_does_not() -> None:
    rig = courier()
    rig.receive(EnterPrefix("p", TURN, 70))
    found(rig)
    assert [("gate", EnterPrefix("p", EDGE, 1))] == orders(found(rig, 2))
    assert [PrefixOpen(70)] == told(said(rig, PrefixOpen(1)), TURN)
    assert [] == orders(found(rig, 3))
    assert [("gate", PrefixRead(EDGE, 1))] == orders(rig.receive(PrefixRead(TURN, 70)))
    assert [("gate", LeavePrefix(EDGE, 1))] == orders(rig.receive(LeavePrefix(TURN, 70)))
    assert [] == rig.receive(LeavePrefix(TURN, 70))


def test_what_is_cancelled_is_not_wanted_of_the_next_owner() -> None:
    rig = courier()
    rig.receive(Attend(TURN, 70))
    rig.receive(AskStatus(TURN, 71))
    found(rig)
    assert [("planner", Cancel(EDGE, 1))] == orders(rig.receive(Cancel(TURN, 70)))
    assert [] == orders(rig.receive(Cancel(TURN, 71)))  # it goes on, and nobody hears of it
    assert [] == orders(found(rig, 2))


def test_an_order_that_wants_no_answer_is_kept_until_the_owner_has_it() -> None:
    rig = courier()
    over = CallOver("c", None)
    rig.receive(over)
    rig.receive(over)
    assert 2 == len(orders(found(rig)))
    assert [] == said(rig, Counted(1))
    assert 1 == len(orders(found(rig, 2)))


def test_where_none_can_be_had_it_says_so_once_and_looks_again_with_the_next_order() -> None:
    rig = courier()
    rig.receive(Wait(TURN, 70))
    effects = rig.receive(OwnerHeard(OwnerLost("the disk is gone")))
    assert [OwnerIs(0, "the disk is gone")] == told(effects, TURN) == told(effects, EDGE)
    assert [Dial()] == rig.receive(AskStatus(TURN, 71))
    assert [("planner", AskStatus(EDGE, 2))] == orders(found(rig))


# --- the end ---


def test_it_ends_when_all_that_was_said_has_arrived() -> None:
    rig = courier()
    rig.receive(Attend(TURN, 70))
    rig.receive(Append((Entry("user", "a"),), TURN, 71))
    found(rig)
    effects = rig.receive(Sync("supervisor", 9))
    assert [("planner", Cancel(EDGE, 1))] == orders(effects)
    assert [] == told(effects, "supervisor")
    effects = said(rig, AppendDone(2, (Logging(0, 1, 1),)))
    assert [Synced(9)] == told(effects, "supervisor")
    assert Hang() in effects


def test_it_ends_at_once_where_nothing_is_on_its_way_and_in_time_where_no_answer_comes() -> None:
    rig = courier()
    assert [Synced(1)] == told(rig.receive(Sync("supervisor", 1)), "supervisor")
    rig = courier()
    rig.receive(Append((Entry("user", "a"),), TURN, 71))
    assert [] == told(rig.receive(Sync("supervisor", 2)), "supervisor")
    assert [Synced(2)] == told(rig.receive(TurnDue(0)), "supervisor")


# --- a turn whose owner dies ---


@pytest.mark.rule("7", "48")
def test_a_turn_goes_on_with_the_next_owner_wherever_it_was(both_runtimes: Runtime) -> None:
    """The owner dies with each order of the turn, before it has answered."""
    for nth in range(40):
        with client(both_runtimes, [says("I look.", use("read")), says("It is this.")]) as it:
            it.tools.answers["read"] = [[ToolEnded("this")]]
            died = []

            def die(order: Msg, nth: int = nth, died: list[int] = died) -> Msg | None:
                if len(it.owner.orders) == nth + 1 and not died:
                    died.append(nth)
                    it.owner.dies()
                    return None
                return it.owner.answer(order)

            it.owner.answers = dict.fromkeys(KINDS, die)
            it.say("Look.")
            over = it.over()
        assert ("It is this.", "") == (over.reply, over.why)
        assert [
            ("user", "Look."),
            ("eukhe", "I look."),
            ("tool", "read {}"),
            ("echo", "this"),
            ("eukhe", "It is this."),
        ] == it.owner.said
        assert 2 == len(it.model.requests)
        if not died:
            return
    raise AssertionError("it has more orders than that")


@pytest.mark.rule("48")
def test_a_log_that_was_written_by_an_owner_that_died_before_it_said_so_has_nothing_twice(
    both_runtimes: Runtime,
) -> None:
    with client(both_runtimes, [says("Done.")]) as it:
        it.owner.answers[Append] = lambda append: (it.owner.answer(append), it.owner.dies())[1]
        it.say("Do it.")
        given(it, Append)
        del it.owner.answers[Append]
        it.over()
    assert [("user", "Do it."), ("eukhe", "Done.")] == it.owner.said


def test_where_no_owner_can_be_had_any_more_the_turn_ends_and_says_why_and_the_next_one_looks_again(
    both_runtimes: Runtime,
) -> None:
    with client(both_runtimes, [says("", use("read"))]) as it:
        it.say("Look.")
        when(it, lambda: it.tools.running)
        it.owner.dies(next_one=False)
        over = it.over()
        assert "no owner can be had" == over.why
        assert [] == list(it.tools.running)
        it.say("Again.")
        tell(it, asked(it), *says("Yes."))
        assert "Yes." == it.over().reply
    assert TurnOver is type(over)


def test_words_that_came_too_late_for_a_turn_whose_owner_is_lost_begin_one_with_somebody_there(
    both_runtimes: Runtime,
) -> None:
    with client(both_runtimes, [says("Done.")]) as it:
        it.owner.answers[Append] = lambda append: None if append.entries[0].text == "Done." else it.owner.answer(append)
        it.say("Do it.")
        given(it, Append, 2)
        it.say("And that.")
        heard_all(it)
        it.owner.dies(next_one=False)
        assert "no owner can be had" == it.over().why
        tell(it, asked(it), *says("Yes."))
        assert ["Do it.", "And that."] == [text for _, text in it.owner.said]
        assert 2 == len(given(it, Attend, 2))


KINDS = tuple(kind for kind in Msg.__subclasses__() if kind.__name__ not in ("Attend", "Cancel"))
