"""What the door does for turns: a client's keys, somebody's attendance, looks into the memory, subagents' logs."""

from collections.abc import Callable
from queue import SimpleQueue

import msgspec
import pytest

from eukhe.actors.behaviour import KeepKeys, Send, Tell
from eukhe.actors.messages import (
    AgentLogged,
    AgentNamed,
    AgentSaid,
    AskTexts,
    At,
    Attend,
    BeginAgent,
    Cancel,
    Crashed,
    DateOf,
    Entry,
    Hello,
    Look,
    Msg,
    Poisoned,
    Search,
    Seen,
    SocketHeard,
    TextsInForce,
    Welcome,
    Zoom,
    ZoomAgent,
)
from eukhe.actors.ports import Key, Received
from eukhe.actors.wire import encode
from eukhe.errors import Bug
from eukhe.limits import (
    AGENT_WANTED_CHARS_MAX,
    EDGE_WAIT_S,
    KEY_BYTES_MAX,
    LOOK_DATE_CHARS_MAX,
    LOOK_ID_MAX,
    LOOK_WORDS_CHARS_MAX,
    PROTOCOL,
)
from eukhe.model.prompt import texts
from tests.door_kit import HELLO, DoorKit, grant, refusal

pytestmark = pytest.mark.usefixtures("both_runtimes")

SECRET = "sk-never-to-be-seen"
KEYS = (Key("anthropic", SECRET), Key("openai", SECRET, f"https://{SECRET}@localhost"))
WITH_KEYS = Hello(PROTOCOL, "1.2", 99, KEYS)


# --- keys ---


def test_a_clients_keys_are_kept_before_it_is_welcomed() -> None:
    """So that what it orders next finds them."""
    kit = DoorKit()
    client = kit.connect()
    welcome = Send(client, Welcome(PROTOCOL, "1.2", 41))
    assert [KeepKeys(KEYS), welcome, grant(client, WITH_KEYS)] == kit.say(client, WITH_KEYS)


@pytest.mark.parametrize("protocol", [PROTOCOL - 1, PROTOCOL + 1])
def test_the_keys_of_a_client_that_is_not_let_in_are_not_kept(protocol: int) -> None:
    kit = DoorKit()
    effects = kit.say(kit.connect(), Hello(protocol, "1.2", 99, KEYS))
    assert not any(isinstance(effect, KeepKeys) for effect in effects)


def test_keys_that_come_after_the_first_frame_are_refused_without_a_word_of_them() -> None:
    kit = DoorKit()
    client = kit.welcome()
    why = refusal(client, kit.say(client, WITH_KEYS))
    assert "Hello is no order that a client may give" == why


def crash(kit: DoorKit, message: Msg) -> str:
    """What is told of the crash that a message brings, as owner.log has it."""
    crashes: SimpleQueue[Msg] = SimpleQueue()
    kit.rig.did.tell = lambda to, message: crashes.put(message)  # type: ignore[method-assign]
    kit.rig.tell(message)
    crashed = crashes.get(timeout=EDGE_WAIT_S)
    assert isinstance(crashed, Crashed)
    return crashed.why


def test_no_crash_of_the_door_tells_a_key() -> None:
    kit = DoorKit()
    kit.say(kit.connect(), WITH_KEYS)
    why = crash(kit, Poisoned("a disk"))
    assert "Poisoned(why='a disk')" in why
    assert "SocketHeard" in why
    assert SECRET not in why


def test_no_crash_in_the_midst_of_a_hello_tells_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(keys: tuple[Key, ...]) -> bool:
        raise Bug("no workers")

    kit = DoorKit()
    client = kit.connect()
    monkeypatch.setattr(kit.rig.did.workers, "keep", breaks)
    why = crash(kit, SocketHeard(Received(client, encode(WITH_KEYS))))
    assert why.startswith("Bug: no workers\n")
    assert f"Received({client}, {len(encode(WITH_KEYS))} bytes)" in why
    assert SECRET not in why


@pytest.mark.parametrize("what", [KEYS, WITH_KEYS, KeepKeys(KEYS)], ids=lambda value: type(value).__name__)
def test_nothing_that_holds_a_key_shows_it(what: object) -> None:
    DoorKit()
    assert "Key(anthropic)" in repr(what)
    assert SECRET not in repr(what)


@pytest.mark.parametrize("cut", range(1, 200, 7))
def test_no_refusal_of_a_broken_hello_tells_a_key(cut: int) -> None:
    kit = DoorKit()
    client = kit.connect()
    data = encode(WITH_KEYS)
    broken = data[: len(data) - cut] + b"\xc1" * (cut % 3)
    assert SECRET[:6] not in refusal(client, kit.bytes(client, broken))


# --- attendance ---


def test_somebody_attends_until_it_says_that_it_does_not() -> None:
    kit = DoorKit()
    client = kit.welcome()
    attend, cancel = Attend("", 4), Cancel("", 4)
    assert [Tell("planner", Attend("door", 1))] == kit.say(client, attend)
    assert [Tell("planner", Cancel("door", 1)), grant(client, cancel), grant(client, attend)] == kit.say(client, cancel)
    assert 2 == kit.order(client, attend)


def test_who_is_gone_attends_no_more_and_the_others_do() -> None:
    kit = DoorKit()
    client, other = kit.welcome(), kit.welcome()
    kit.order(client, Attend("", 4))
    kit.order(other, Attend("", 4))
    assert [Tell("planner", Cancel("door", 1))] == kit.leave(client)
    assert {2} == set(kit.door.orders)


# --- looks, and subagents ---

WORDS = "x" * LOOK_WORDS_CHARS_MAX
ORDERS = {
    Look(Zoom(8, 4), "", 7): ("index", lambda n: Seen(n, "8+2|…")),
    Look(Zoom(-LOOK_ID_MAX, LOOK_ID_MAX), "", 7): ("index", lambda n: Seen(n, "No line", found=False)),
    Look(ZoomAgent("Rita", 2), "", 7): ("index", lambda n: Seen(n, "page")),
    Look(DateOf(3), "", 7): ("index", lambda n: Seen(n, "2026")),
    Look(Search(WORDS), "", 7): ("index", lambda n: Seen(n, "hits", (b"image",))),
    Look(At("x" * LOOK_DATE_CHARS_MAX), "", 7): ("index", lambda n: Seen(n, "no date", found=False)),
    AskTexts("", 7): ("gate", lambda n: TextsInForce(n, texts())),
    BeginAgent("Rita", "key", "", 7): ("agents", lambda n: AgentNamed(n, "Rita-2")),
    AgentSaid("Rita", (Entry("user", "hi", key="k"),), "", 7): ("agents", lambda n: AgentLogged(n, "full")),
}
"""Each order of a turn, who is to do it, and its answer."""


@pytest.mark.parametrize(
    ("order", "to", "answer"),
    [(order, to, answer) for order, (to, answer) in ORDERS.items()],
    ids=lambda value: type(value).__name__ if isinstance(value, Msg) else None,
)
def test_a_turns_order_goes_to_its_actor_and_the_answer_to_whoever_gave_it(
    order: Msg, to: str, answer: Callable[[int], Msg]
) -> None:
    kit = DoorKit()
    client = kit.welcome()
    assert [Tell(to, msgspec.structs.replace(order, reply_to="door", ticket=1))] == kit.say(client, order)
    assert [Send(client, answer(7)), grant(client, order)] == kit.receive(answer(1))
    # Not wanted any more: it is answered to nobody, and counts until then.
    kit.say(client, order)
    kit.say(client, Cancel("", 7))
    assert [grant(client, order)] == kit.receive(answer(2))


@pytest.mark.parametrize(
    "order",
    [
        Look(Zoom(LOOK_ID_MAX + 1, 1), "", 7),
        Look(Zoom(0, -LOOK_ID_MAX - 1), "", 7),
        Look(ZoomAgent("x" * (AGENT_WANTED_CHARS_MAX + 1)), "", 7),
        Look(ZoomAgent("Rita", LOOK_ID_MAX + 1), "", 7),
        Look(DateOf(LOOK_ID_MAX + 1), "", 7),
        Look(Search(WORDS + "x"), "", 7),
        Look(At("x" * (LOOK_DATE_CHARS_MAX + 1)), "", 7),
        BeginAgent("x" * (AGENT_WANTED_CHARS_MAX + 1), "key", "", 7),
        BeginAgent("Rita", "k" * (KEY_BYTES_MAX + 1), "", 7),
    ],
    ids=lambda order: repr(order)[:60],
)
def test_what_is_past_every_limit_is_refused_and_goes_nowhere(order: Msg) -> None:
    kit = DoorKit()
    client = kit.welcome()
    effects = kit.say(client, order)
    assert refusal(client, effects).startswith("what was said is no order: Expected ")
    assert 2 == len(effects)


def test_a_client_of_the_protocol_before_is_too_old() -> None:
    """It would be answered what it does not know."""
    kit = DoorKit()
    client = kit.connect()
    assert "is newer than this eukhe" in refusal(client, kit.say(client, msgspec.structs.replace(HELLO, protocol=1)))
