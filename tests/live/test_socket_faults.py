"""What goes wrong at the socket of a real owner: each fault harms whoever caused it, and nobody else."""

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from eukhe.actors.messages import (
    Append,
    AskStatus,
    EnterPrefix,
    Entry,
    Hello,
    LeavePrefix,
    Leaving,
    Msg,
    PrefixOpen,
    ReadView,
    Refused,
    Settle,
    Settled,
    StopOwner,
    Stopping,
    Welcome,
)
from eukhe.actors.outbox import Outbox
from eukhe.actors.threads import Threads
from eukhe.actors.wire import decode, encode
from eukhe.errors import OwnerGone, OwnerRefused
from eukhe.limits import CLIENTS_MAX, PROTOCOL
from eukhe.model.part import Part
from eukhe.world import connection as connection_module
from eukhe.world.frames import frame
from eukhe.world.home import make_home
from eukhe.world.link import Link
from tests.live.door_owner import owner_process, owning
from tests.socket_kit import WAIT_S, append, greet, has_ended, logged, plug, read_frame, status

pytestmark = pytest.mark.usefixtures("no_leaks")


class Live(NamedTuple):
    """An owner in this process, and its chat."""

    chat: Path
    system: Threads


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@pytest.fixture
def live(chat: Path) -> Iterator[Live]:
    with owning(chat) as system:
        yield Live(chat, system)
    assert not (chat / "socket").exists()


# --- what is said ---


def garbage(seed: int) -> bytes:
    """What no client would say: noise, and messages with a byte changed, left out, or put in."""
    dice = random.Random(seed)
    if dice.random() < 0.3:
        return dice.randbytes(dice.randint(1, 2_000))
    orders: Sequence[Msg] = (
        Append((Entry("user", "x"),), "", 1),
        Settle("", 1, 2, True),
        ReadView((Part(0, 0),), (), "", 1),
        EnterPrefix("p", "", 1),
        Hello(PROTOCOL, "1.2", 9),
    )
    data = bytearray(encode(dice.choice(orders)))
    at = dice.randrange(len(data))
    data[at : at + dice.randint(0, 2)] = dice.randbytes(dice.randint(0, 2))
    return frame(bytes(data))


def test_whatever_is_said_to_it_the_owner_serves_the_others(live: Live) -> None:
    with Link.connect(live.chat) as link:
        for seed in range(300):
            with plug(live.chat) as rogue, suppress(ConnectionError):
                if seed % 3:
                    greet(rogue)
                rogue.sendall(garbage(seed))
                if seed % 2:
                    rogue.sendall(garbage(seed + 1_000))
            if seed % 50 == 0:
                append(link, f"after {seed}")
        append(link, "last")
        assert None is status(link).last_error
    assert {f"after {seed}" for seed in range(0, 300, 50)} | {"last"} <= set(logged(live.chat))


def test_who_says_what_no_client_may_is_told_why_and_cut_off(live: Live) -> None:
    for said in (b"\xc1", encode(Welcome(1, "", 1)), encode(ReadView((Part(2**62, 0),), (), "", 1))):
        with plug(live.chat) as rogue:
            greet(rogue)
            rogue.sendall(frame(said) + frame(b"and more"))
            refused = decode(read_frame(rogue))
            assert isinstance(refused, Refused)
            assert refused.why
            assert has_ended(rogue)


def test_a_view_of_lines_that_are_not_there_harms_nobody(live: Live) -> None:
    with Link.connect(live.chat) as link, Link.connect(live.chat) as other:
        append(link, "a")
        link.tell("", ReadView((Part(0, 7), Part(3, 1)), (Part(0, 7),), "", 5))
        assert 5 == link.hear(WAIT_S).ticket  # type: ignore[attr-defined]
        assert 1 == append(other, "b")
        assert None is status(other).last_error


def test_half_a_frame_and_a_frame_of_a_gigabyte_harm_nobody(live: Live) -> None:
    with Link.connect(live.chat) as link:
        half, whole = plug(live.chat), plug(live.chat)
        greet(half)
        half.sendall(frame(encode(Append((Entry("user", "never"),), "", 1)))[:-1])
        half.close()
        whole.sendall((1 << 30).to_bytes(4) + b"x")
        assert has_ended(whole)
        whole.close()
        assert 0 == append(link, "a")
    assert ["a"] == logged(live.chat)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell a process's memory")
def test_frames_that_are_only_announced_take_no_memory(chat: Path) -> None:
    with owner_process(chat) as owner, Link.connect(chat) as link:
        before = rss_kb(owner.pid)
        rogues = [plug(chat) for _ in range(100)]
        for rogue in rogues:
            greet(rogue)
            rogue.sendall((100 << 20).to_bytes(4) + b"x" * 10_000)
        append(link, "a")
        assert rss_kb(owner.pid) - before < 50_000
        for rogue in rogues:
            rogue.close()


def rss_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


# --- who does not read, or does not stop ---


def test_a_client_that_never_reads_is_cut_off_and_its_appends_stay(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "CLIENT_BEHIND_BYTES_MAX", 100_000)
    with plug(live.chat) as deaf, Link.connect(live.chat) as link:
        greet(deaf)
        orders = [Append((Entry("user", "deaf", key="deaf"),), "", 0)]
        with suppress(ConnectionError):
            deaf.sendall(frame(encode(orders[0])))
            for ticket in range(1, 100_000):
                deaf.sendall(frame(encode(AskStatus("", ticket))))
            pytest.fail("it was never cut off")
        assert 1 == append(link, "a")
    assert ["deaf", "a"] == logged(live.chat)


def test_a_client_that_floods_is_answered_and_others_are_in_between(live: Live) -> None:
    flood = b"".join(frame(encode(AskStatus("", ticket))) for ticket in range(5_000))
    with plug(live.chat) as flooding, Link.connect(live.chat) as link, ThreadPoolExecutor(1) as other:
        greet(flooding)
        sent = other.submit(flooding.sendall, flood)
        assert [0, 1, 2] == [append(link, text) for text in "abc"]
        assert list(range(5_000)) == [decode(read_frame(flooding)).ticket for _ in range(5_000)]  # type: ignore[attr-defined]
        sent.result()


def test_a_client_that_is_far_ahead_waits_and_loses_nothing(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "CLIENT_WINDOW_BYTES", 20_000)
    orders = [Append((Entry("user", f"{k} {'x' * 2_000}"),), "", k) for k in range(200)]
    with plug(live.chat) as ahead, ThreadPoolExecutor(1) as other:
        greet(ahead)
        sent = other.submit(ahead.sendall, b"".join(frame(encode(order)) for order in orders))
        assert list(range(200)) == [decode(read_frame(ahead)).ticket for _ in orders]  # type: ignore[attr-defined]
        sent.result()
    assert [order.entries[0].text for order in orders] == logged(live.chat)


def test_each_of_three_hundred_clients_at_a_time_is_served(live: Live) -> None:
    assert CLIENTS_MAX < 300

    def client(k: int) -> int:
        with Link.connect(live.chat, WAIT_S) as link:
            return append(link, f"client {k}")

    with ThreadPoolExecutor(300) as clients:
        assert set(range(300)) == set(clients.map(client, range(300)))
    assert {f"client {k}" for k in range(300)} == set(logged(live.chat))


# --- who goes ---


@pytest.mark.rule("30")
def test_what_lasts_ends_with_its_client(live: Live) -> None:
    with Link.connect(live.chat) as link:
        with plug(live.chat) as gone:
            greet(gone)
            gone.sendall(frame(encode(Settle("", 1, 100, False))) + frame(encode(EnterPrefix("p", "", 2))))
            assert PrefixOpen(2) == decode(read_frame(gone))
            link.tell("", EnterPrefix("p", "", 3))
        assert PrefixOpen(3) == link.hear(WAIT_S)  # the writer has gone, so the next one writes
        link.tell("", LeavePrefix("", 3))
        link.tell("", Settle("", 4, 0, False))
        assert isinstance(link.hear(WAIT_S), Settled)


@pytest.mark.rule("6", "7", "D2")
def test_what_an_owner_that_closes_did_not_acknowledge_is_told_the_next_one_and_logged_once(chat: Path) -> None:
    outbox = Outbox("me")
    sent = [f"message {k}" for k in range(500)]
    with owning(chat):
        link = Link.connect(chat)
        for text in sent:
            link.tell("", outbox.put(Append((Entry("user", text),), "", outbox.ticket())))
        outbox.answered(link.hear(WAIT_S))
    with pytest.raises(OwnerGone):
        while True:
            outbox.answered(link.hear(WAIT_S))
    link.close()
    with owning(chat), Link.connect(chat) as link:
        for order in outbox.again():
            link.tell("", order)
        while outbox.again():
            assert outbox.answered(link.hear(WAIT_S))
    assert sent == sorted(logged(chat), key=lambda text: int(text.split()[1]))


def test_who_asks_it_to_stop_hears_that_it_does(live: Live) -> None:
    with Link.connect(live.chat) as link:
        link.tell("", StopOwner("", 3))
        assert Stopping(3) == link.hear(WAIT_S)
        assert Leaving("stop") == live.system.edge.hear(WAIT_S)


def test_an_owner_makes_room_for_a_newer_client(chat: Path) -> None:
    with ThreadPoolExecutor(1) as clients:
        with owning(chat) as system:
            newer = clients.submit(Link.connect, chat, WAIT_S, protocol=PROTOCOL + 1)
            assert Leaving("newer") == system.edge.hear(WAIT_S)
            assert not newer.done()
        assert isinstance(newer.exception(), OwnerGone)


def test_an_older_client_is_told_what_to_do(live: Live) -> None:
    with pytest.raises(OwnerRefused, match=r"is newer than this eukhe .* update this one, or end"):
        Link.connect(live.chat, WAIT_S, protocol=PROTOCOL - 1)
