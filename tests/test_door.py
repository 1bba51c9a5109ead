"""The door: who is let in, where orders go, whom answers reach, and when the owner is to end."""

from collections.abc import Callable

import msgspec
import pytest

from eukhe.actors.behaviour import EDGE, CancelTimer, Grant, Listen, Send, Tell, Unlisten
from eukhe.actors.messages import (
    Append,
    AppendDone,
    AppendFailed,
    AskStatus,
    Begin,
    Cancel,
    EnterPrefix,
    Entry,
    Hello,
    HelloDue,
    IdleDue,
    LeavePrefix,
    Leaving,
    Logging,
    Msg,
    Ping,
    Poisoned,
    Pong,
    PrefixOpen,
    PrefixRead,
    ReadSource,
    ReadView,
    Refused,
    Settle,
    Settled,
    SettleFailed,
    SocketHeard,
    StopOwner,
    Stopping,
    Sync,
    Synced,
    TakeView,
    ViewTaken,
    ViewTexts,
    Wait,
    WaitFailed,
    Welcome,
    WriteTree,
)
from eukhe.actors.ports import Connected, Deafened
from eukhe.actors.wire import encode
from eukhe.errors import Bug
from eukhe.limits import FRAME_OVERHEAD_BYTES, PROTOCOL
from eukhe.model.part import Part
from tests.door_kit import HELLO, DoorKit, grant, idle_or_not, refusal

pytestmark = pytest.mark.usefixtures("both_runtimes")

APPEND = Append((Entry("user", "hi"),), "whoever", 7)
DONE = (Logging(0, 1, 1),)
LINES = (Part(0, 3),)

ORDERS = {
    APPEND: ("store", lambda n: AppendDone(n, DONE), lambda n: AppendFailed(n, "full")),
    Settle("whoever", 7, 3, True): ("planner", lambda n: Settled(n, 1, 2), lambda n: SettleFailed(n, "full")),
    Wait("whoever", 7): (
        "planner",
        lambda n: ViewTaken(n, 3, LINES, LINES, None),
        lambda n: WaitFailed(n, "full"),
    ),
    AskStatus("whoever", 7): ("planner", lambda n: idle_or_not(n, idle=True)),
    Sync("whoever", 7): ("index", Synced),
    ReadView(LINES, LINES, "whoever", 7): ("index", lambda n: ViewTexts(n, ("text",))),
}
"""Each order, who is to do it, and how it may be answered."""


# --- who is let in ---


def test_it_listens_before_it_is_up() -> None:
    assert [Listen(), Tell("supervisor", Pong(1))] == DoorKit().up


def test_a_client_of_its_protocol_is_welcomed() -> None:
    kit = DoorKit()
    client = kit.connect()
    assert [Send(client, Welcome(PROTOCOL, "1.2", 41)), grant(client, HELLO)] == kit.say(client, HELLO)


def test_a_client_that_says_nothing_is_sent_away_and_one_that_did_stays() -> None:
    """There are only so many places."""
    kit = DoorKit()
    silent, known = kit.connect(), kit.welcome()
    assert "no Hello was said in 60 s" == refusal(silent, kit.receive(HelloDue(silent)))
    assert [] == kit.receive(HelloDue(known))
    assert [] == kit.receive(HelloDue(silent))


def test_an_older_client_is_told_to_be_updated_and_dropped() -> None:
    kit = DoorKit()
    client = kit.connect()
    effects = kit.say(client, Hello(PROTOCOL - 1, "0.9", 99))
    assert (
        "the chat's owner (pid 41, eukhe 1.2) is newer than this eukhe (0.9): update this one, or end that process"
        == refusal(client, effects)
    )
    assert 2 == len(effects)


def test_an_owner_makes_room_for_a_newer_client_and_keeps_it_until_it_has_gone() -> None:
    kit = DoorKit()
    client = kit.connect()
    told, leaving = kit.say(client, Hello(PROTOCOL + 1, "2.0", 99))
    why = "the chat's owner (pid 41, eukhe 1.2) is older than this eukhe (2.0), and makes room for it"
    assert (Send(client, Refused(why, leaving=True)), Tell(EDGE, Leaving("newer"))) == (told, leaving)
    assert [] == kit.say(client, APPEND)
    assert [] == kit.leave(client)


def test_the_hello_of_a_later_version_may_say_more() -> None:
    class Later(Hello, frozen=True, tag="Hello"):
        color: str = "green"

    kit = DoorKit()
    client = kit.connect()
    data = msgspec.msgpack.encode(Later(PROTOCOL, "1.3", 99, color="blue"))
    assert Send(client, Welcome(PROTOCOL, "1.2", 41)) == kit.bytes(client, data)[0]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "Input data was truncated"),
        (b"GET / HTTP/1.1\r\n", "Expected `object`, got `int`"),
        (encode(APPEND), "Append"),
        (encode(HELLO)[:-1], "Input data was truncated"),
        (encode(HELLO).replace(b"1.2", b"\xff\xff\xff"), "Invalid UTF-8 encoded string"),
        (b"\x84" + encode(Ping("", 1))[1:] + b"\xa1z" + b"\x91" * 100_000, "maximum recursion depth exceeded"),
    ],
    ids=["nothing", "http", "append", "half", "no UTF-8", "deep"],
)
def test_who_does_not_begin_with_hello_is_refused(data: bytes, why: str) -> None:
    kit = DoorKit()
    client = kit.connect()
    said = refusal(client, kit.bytes(client, data))
    assert said.startswith("what was said first is no Hello: ")
    assert why in said
    assert [] == kit.bytes(client, encode(HELLO))  # it is dropped: what comes after that was on its way


@pytest.mark.parametrize(
    "order",
    [
        HELLO,
        Ping("", 1),
        Begin("", 1),
        Poisoned("why"),
        WriteTree((), 1),
        ReadSource(Part(0, 1), "", 1),
        AppendDone(1, ()),
        SocketHeard(Connected(3)),
        ReadView((Part(2**62, 1),), (), "", 1),
        ReadView((Part(0, 0),), (Part(0, -1),), "", 1),
        ReadView((Part(-1, 0),), (), "", 1),
        ReadView((Part(0, 0), Part(0, 1), Part(0, 0)), (), "", 1),
        ReadView((Part(0, 0),), (Part(0, 0), Part(0, 0)), "", 1),
    ],
    ids=repr,
)
def test_what_no_client_may_say_is_refused_and_goes_nowhere(order: Msg) -> None:
    kit = DoorKit()
    client, other = kit.welcome(), kit.welcome()
    effects = kit.say(client, order)
    assert refusal(client, effects)
    assert 2 == len(effects)
    assert 1 == kit.order(other, APPEND)


def test_garbage_after_hello_is_refused_and_ends_what_waits() -> None:
    kit = DoorKit()
    client = kit.welcome()
    kit.order(client, Wait("", 3))
    effects = kit.bytes(client, b"\xc1\xc1")
    assert Tell("planner", Cancel("door", 1)) == effects[0]
    assert refusal(client, effects).startswith("what was said is no order: MessagePack data is malformed")


# --- orders and answers ---


@pytest.mark.parametrize(
    ("order", "to", "answer"),
    [(order, to, answer) for order, (to, *answers) in ORDERS.items() for answer in answers],
    ids=lambda value: type(value).__name__ if isinstance(value, Msg) else None,
)
def test_an_order_goes_to_its_actor_and_the_answer_to_whoever_gave_it(
    order: Msg, to: str, answer: Callable[[int], Msg]
) -> None:
    kit = DoorKit()
    one, two = kit.welcome(), kit.welcome()
    first = msgspec.structs.replace(order, reply_to="door", ticket=1)
    second = msgspec.structs.replace(order, reply_to="door", ticket=2)
    assert [Tell(to, first)] == kit.say(one, order)
    assert [Tell(to, second)] == kit.say(two, order)
    assert [Send(two, answer(7)), grant(two, order)] == kit.receive(answer(2))
    assert [Send(one, answer(7)), grant(one, order)] == kit.receive(answer(1))
    assert [] == kit.receive(answer(1))
    assert [Tell(to, msgspec.structs.replace(order, reply_to="door", ticket=3))] == kit.say(one, order)


@pytest.mark.rule("30")
def test_a_call_at_the_gate_is_known_until_it_leaves() -> None:
    kit = DoorKit()
    client = kit.welcome()
    enter, read, leave = EnterPrefix("p", "", 4), PrefixRead("", 4), LeavePrefix("", 4)
    assert [Tell("gate", EnterPrefix("p", "door", 1))] == kit.say(client, enter)
    assert [Send(client, PrefixOpen(4))] == kit.receive(PrefixOpen(1))
    assert [Tell("gate", PrefixRead("door", 1)), grant(client, read)] == kit.say(client, read)
    assert [
        Tell("gate", LeavePrefix("door", 1)),
        grant(client, leave),
        grant(client, enter),
    ] == kit.say(client, leave)
    assert [] == kit.receive(PrefixOpen(1))
    assert [grant(client, leave)] == kit.say(client, leave)


def test_a_view_is_taken_for_the_wait_that_asked_for_it() -> None:
    kit = DoorKit()
    kit.order(kit.welcome(), Wait("", 9))
    client = kit.welcome()
    kit.order(client, Wait("", 9))
    take = TakeView("", 9)
    assert [Tell("planner", TakeView("door", 2)), grant(client, take)] == kit.say(client, take)
    kit.receive(ViewTaken(2, 3, LINES, (), None))
    assert [grant(client, take)] == kit.say(client, take)


@pytest.mark.parametrize(
    ("order", "to"),
    [(Wait("", 4), "planner"), (Settle("", 4, 1, False), "planner"), (EnterPrefix("p", "", 4), "gate")],
    ids=["wait", "settle", "prefix"],
)
def test_what_lasts_is_cancelled_where_it_lasts(order: Msg, to: str) -> None:
    kit = DoorKit()
    client = kit.welcome()
    kit.order(client, order)
    cancel = Cancel("", 4)
    assert [Tell(to, Cancel("door", 1)), grant(client, cancel), grant(client, order)] == kit.say(client, cancel)
    for answer in (ViewTaken(1, 3, LINES, (), None), Settled(1, 0, 0), PrefixOpen(1)):
        assert [] == kit.receive(answer)
    assert 2 == kit.order(client, order)


def test_an_append_goes_on_though_its_answer_is_not_wanted_and_counts_until_then() -> None:
    kit = DoorKit()
    client = kit.welcome()
    kit.order(client, APPEND)
    cancel = Cancel("", 7)
    assert [grant(client, cancel)] == kit.say(client, cancel)
    assert 2 == kit.order(client, APPEND)
    assert [grant(client, APPEND)] == kit.receive(AppendDone(1, DONE))
    assert [Send(client, AppendDone(7, DONE)), grant(client, APPEND)] == kit.receive(AppendDone(2, DONE))


@pytest.mark.parametrize(
    ("order", "follower"),
    [
        (APPEND, TakeView("", 7)),
        (APPEND, LeavePrefix("", 7)),
        (Wait("", 7), PrefixRead("", 7)),
        (EnterPrefix("p", "", 7), TakeView("", 7)),
    ],
    ids=lambda message: type(message).__name__,
)
def test_what_does_not_follow_its_order_is_refused(order: Msg, follower: Msg) -> None:
    kit = DoorKit()
    client = kit.welcome()
    kit.order(client, order)
    why = f"{type(follower).__name__} does not follow {type(order).__name__}"
    assert why == refusal(client, kit.say(client, follower))


def test_two_orders_at_a_time_under_one_ticket_are_refused() -> None:
    kit = DoorKit()
    client = kit.welcome()
    kit.order(client, APPEND)
    why = "ticket 7 is that of another order, which has not ended"
    assert why == refusal(client, kit.say(client, AskStatus("", 7)))


# --- clients that go ---


def test_what_would_last_on_for_a_client_that_is_gone_is_cancelled_and_no_more() -> None:
    kit = DoorKit()
    client, other = kit.welcome(), kit.welcome()
    for ticket, order in enumerate(
        (APPEND, Wait("", 0), Settle("", 0, 1, False), EnterPrefix("p", "", 0), Sync("", 0))
    ):
        kit.order(client, msgspec.structs.replace(order, ticket=ticket))
    kit.receive(PrefixOpen(4))
    kit.order(other, Wait("", 1))
    assert [
        Tell("planner", Cancel("door", 2)),
        Tell("planner", Cancel("door", 3)),
        Tell("gate", Cancel("door", 4)),
    ] == kit.leave(client)
    for answer in (AppendDone(1, DONE), ViewTaken(2, 3, LINES, (), None), Synced(5)):
        assert [] == kit.receive(answer)
    assert [] == kit.leave(client)
    assert {6} == set(kit.door.orders)


def test_of_a_client_that_is_gone_nothing_is_kept() -> None:
    kit = DoorKit()
    client, stranger = kit.welcome(), kit.connect()
    kit.order(client, APPEND)
    kit.say(client, Cancel("", 7))
    kit.leave(client)
    kit.leave(stranger)
    assert [] == kit.receive(AppendDone(1, DONE))
    door = kit.door
    assert ({}, {}, set()) == (door.clients, door.orders, door.strangers)


# --- how it ends ---


def test_who_stops_the_owner_is_answered_first() -> None:
    kit = DoorKit()
    client = kit.welcome()
    stop = StopOwner("", 5)
    assert [Send(client, Stopping(5)), grant(client, stop), Tell(EDGE, Leaving("stop"))] == kit.say(client, stop)


def test_when_it_is_to_finish_it_shuts_and_knows_nobody_any_more() -> None:
    kit = DoorKit()
    client, stranger = kit.welcome(), kit.connect()
    kit.order(client, APPEND)
    assert [CancelTimer("idle"), Unlisten(), Tell("supervisor", Synced(8))] == kit.receive(Sync("supervisor", 8))
    assert [] == kit.say(client, APPEND)
    assert [] == kit.say(stranger, HELLO)
    assert [] == kit.hear(Connected(9))
    assert [] == kit.say(9, HELLO)
    assert [] == kit.receive(AppendDone(1, DONE))
    assert [] == kit.receive(IdleDue())


def test_sockets_that_failed_are_a_bug() -> None:
    with pytest.raises(Bug, match="MemoryError"):
        DoorKit().hear(Deafened("MemoryError"))


def test_what_it_does_not_know_is_a_bug() -> None:
    with pytest.raises(Bug, match="the door does not know Poisoned"):
        DoorKit().receive(Poisoned("why"))


def test_all_that_was_received_is_granted_once() -> None:
    """Whatever a client says, in whatever order it is answered: nothing is left of its window, and no more is given."""
    kit = DoorKit()
    client = kit.connect()
    said = [
        HELLO,
        APPEND,
        Wait("", 1),
        TakeView("", 1),
        Wait("", 2),
        Cancel("", 2),
        EnterPrefix("p", "", 3),
        PrefixRead("", 3),
        LeavePrefix("", 3),
        LeavePrefix("", 3),
        Sync("", 4),
        Cancel("", 4),
        StopOwner("", 5),
    ]
    effects = [effect for message in said for effect in kit.say(client, message)]
    for answer in (AppendDone(1, DONE), ViewTaken(2, 3, LINES, (), None), PrefixOpen(4), Synced(5)):
        effects += kit.receive(answer)
    granted = sum(effect.bytes_ for effect in effects if isinstance(effect, Grant))
    assert granted == sum(len(encode(message)) + FRAME_OVERHEAD_BYTES for message in said)
