"""The chat's socket: frames, windows, clients that are late, ahead, gone or too many, and where it lies."""

import errno
import os
import resource
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from eukhe.actors.ports import Connected, Deafened, Disconnected, Received
from eukhe.limits import CLIENTS_MAX, FRAME_BYTES_MAX, FRAME_OVERHEAD_BYTES, HANDLES_KEPT
from eukhe.world import connection as connection_module
from eukhe.world import socket as socket_module
from eukhe.world.connection import Connection
from eukhe.world.frames import Frames, FrameTooLong, frame
from eukhe.world.socket import UnixSockets
from tests.socket_kit import Ear, has_ended, listening, plug, read, read_frame

pytestmark = pytest.mark.usefixtures("no_leaks")


@pytest.fixture
def ear(tmp_path: Path) -> Iterator[Ear]:
    with listening(tmp_path) as ear:
        yield ear


def counted(data: bytes) -> int:
    return len(data) + FRAME_OVERHEAD_BYTES


# --- frames ---


def test_frames_come_whole_however_they_are_cut() -> None:
    sent = [b"", b"a", b"bc" * 300, b"d" * 70_000]
    stream = b"".join(map(frame, sent))
    for step in (1, 3, 4, 5, 1_000, len(stream)):
        frames, found = Frames(), []
        for at in range(0, len(stream), step):
            frames.take(stream[at : at + step])
            while (data := frames.next()) is not None:
                found.append(data)
        assert sent == found
        assert frames.length() is None


def test_a_frame_that_is_too_long_is_none_on_either_side() -> None:
    frames = Frames()
    frames.take((FRAME_BYTES_MAX + 1).to_bytes(4))
    with pytest.raises(FrameTooLong, match="a frame of 134,217,729 bytes; 134,217,728 is the most"):
        frames.next()
    with pytest.raises(FrameTooLong):
        frame(bytes(FRAME_BYTES_MAX + 1))


def turn(ear: Ear, client: socket.socket, number: int) -> None:
    """A client is heard twice, and nothing else: whatever else the thread had to do is done."""
    for _ in range(2):
        client.sendall(frame(b"here"))
        assert Received(number, b"here") == ear.next()
        ear.sockets.grant(number, counted(b"here"))


# --- clients ---


def test_a_client_is_heard_from_its_coming_to_its_going(tmp_path: Path, ear: Ear) -> None:
    with plug(tmp_path) as client:
        assert Connected(1) == ear.next()
        client.sendall(frame(b"one") + frame(b"") + frame(b"three"))
        assert [Received(1, b"one"), Received(1, b""), Received(1, b"three")] == [ear.next() for _ in range(3)]
        ear.sockets.send(1, b"yes")
        assert b"yes" == read_frame(client)
    assert Disconnected(1, "it is gone") == ear.next()
    with plug(tmp_path):
        assert Connected(2) == ear.next()


def test_what_was_sent_before_the_end_is_heard_but_for_half_a_frame(tmp_path: Path, ear: Ear) -> None:
    with plug(tmp_path) as client:
        client.sendall(frame(b"whole") + frame(b"half")[:-1])
    assert [Connected(1), Received(1, b"whole"), Disconnected(1, "it is gone")] == [ear.next() for _ in range(3)]


def test_a_frame_of_any_size_arrives_as_it_was_sent(tmp_path: Path, ear: Ear) -> None:
    large = os.urandom(1 << 20) * 20
    with plug(tmp_path) as client, ThreadPoolExecutor(1) as other:
        number = ear.connected()
        other.submit(client.sendall, frame(large))
        assert large == ear.received()
        ear.sockets.send(number, large)
        assert large == read_frame(client)


def test_a_client_that_claims_a_frame_of_a_gigabyte_is_cut_off_before_any_of_it(tmp_path: Path, ear: Ear) -> None:
    with plug(tmp_path) as client:
        number = ear.connected()
        client.sendall(frame(b"first") + (1 << 30).to_bytes(4) + b"x" * 1000)
        assert b"first" == ear.received()
        assert (number, "a frame of 1,073,741,824 bytes; 134,217,728 is the most") == ear.disconnected()
        assert has_ended(client)


def test_a_client_that_is_ahead_is_not_read_from_until_it_is_granted_more(
    tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"x" * 1_000
    monkeypatch.setattr(connection_module, "CLIENT_WINDOW_BYTES", 3 * counted(data))
    with plug(tmp_path) as ahead, plug(tmp_path) as other:
        one, two = ear.connected(), ear.connected()
        ahead.sendall(frame(data) * 5)
        assert [Received(one, data)] * 3 == [ear.next() for _ in range(3)]
        turn(ear, other, two)
        ear.sockets.grant(one, counted(data) - 1)  # not enough for one more
        turn(ear, other, two)
        ear.sockets.grant(one, 1)
        assert Received(one, data) == ear.next()
        ear.sockets.grant(one, 3 * counted(data))
        assert Received(one, data) == ear.next()


def test_no_more_is_read_of_a_client_that_is_ahead_than_once(
    tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "CLIENT_WINDOW_BYTES", counted(b"here"))
    with plug(tmp_path) as ahead, plug(tmp_path) as other:
        ear.connected()
        two = ear.connected()
        ahead.sendall(frame(b"") * 2)
        assert b"" == ear.received()
        ahead.setblocking(False)
        taken = 0
        for _ in range(200):
            with suppress(BlockingIOError):
                taken += ahead.send(bytes(100_000))
            turn(ear, other, two)
        assert taken < 5_000_000


def test_that_a_client_has_gone_is_heard_also_while_it_is_ahead(
    tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "CLIENT_WINDOW_BYTES", counted(b""))
    with plug(tmp_path) as client:
        number = ear.connected()
        client.sendall(frame(b"") * 3)
        assert b"" == ear.received()
    assert (number, "it is gone") == ear.disconnected()


def test_a_client_that_never_reads_is_dropped_and_keeps_nobody_waiting(
    tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "CLIENT_BEHIND_BYTES_MAX", 4_000_000)
    with plug(tmp_path), plug(tmp_path) as other:
        deaf, number = ear.connected(), ear.connected()
        for _ in range(50):
            ear.sockets.send(deaf, bytes(100_000))
            ear.sockets.send(number, b"still here")
        assert (deaf, "it has not read what it was sent, more than 4,000,000 bytes") == ear.disconnected()
        assert [b"still here"] * 50 == [read_frame(other) for _ in range(50)]


def test_what_a_slow_client_is_sent_waits_for_it_in_its_order(tmp_path: Path, ear: Ear) -> None:
    frames = [bytes([k]) * 300_000 for k in range(20)]
    with plug(tmp_path) as client:
        number = ear.connected()
        for data in frames:
            ear.sockets.send(number, data)
        assert frames == [read_frame(client) for _ in frames]


def test_who_is_dropped_still_reads_what_it_was_sent_and_is_not_heard_of(tmp_path: Path, ear: Ear) -> None:
    with plug(tmp_path) as client, plug(tmp_path) as other:
        number, two = ear.connected(), ear.connected()
        client.sendall(b"\xff" * 10)
        assert (number, "a frame of 4,294,967,295 bytes; 134,217,728 is the most") == ear.disconnected()
        assert has_ended(client)
        last = bytes(2_000_000)
        ear.sockets.send(two, last)
        ear.sockets.drop(two)
        other.sendall(frame(b"not heard"))
        assert last == read_frame(other)
        assert has_ended(other)
    with plug(tmp_path):
        assert Connected(3) == ear.next()


def test_who_is_dropped_and_does_not_read_is_cut_off_after_a_moment(
    tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "DROP_S", 0)
    with plug(tmp_path) as client:
        number = ear.connected()
        ear.sockets.send(number, bytes(2_000_000))
        ear.sockets.drop(number)
        with plug(tmp_path):
            assert Connected(2) == ear.next()
        assert 0 < len(read(client, 2_000_004)) < 2_000_004


def test_to_a_client_that_is_gone_nothing_is_done(tmp_path: Path, ear: Ear) -> None:
    plug(tmp_path).close()
    number = ear.connected()
    ear.disconnected()
    ear.sockets.send(number, b"late")
    ear.sockets.grant(number, 1)
    ear.sockets.drop(number)
    with plug(tmp_path):
        assert Connected(2) == ear.next()


def test_of_who_is_dropped_nothing_is_handed_over() -> None:
    one, two = socket.socketpair()
    with one, two:
        connection = Connection(one)
        two.sendall(frame(b"read before"))
        connection.read(memoryview(bytearray(1_000)))
        assert connection.drop(0.0)
        assert [] == connection.frames()
        assert 0 == connection.awaited()


# --- many, and none to let in ---


def test_those_who_are_too_many_wait_until_one_has_gone(
    tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_module, "CLIENTS_MAX", 2)
    one, two, three = (plug(tmp_path) for _ in range(3))
    assert [1, 2] == [ear.connected(), ear.connected()]
    three.sendall(frame(b"patient"))
    tries = counter(monkeypatch)
    for _ in range(20):
        turn(ear, two, 2)
    assert tries() < 3, "it looks at those who wait all the time"
    one.close()
    assert 1 == ear.disconnected()[0]
    assert [Connected(3), Received(3, b"patient")] == [ear.next(), ear.next()]
    for client in (two, three):
        client.close()


def test_clients_leave_the_owner_the_file_handles_that_it_needs(
    tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_module.resource, "getrlimit", lambda _: (HANDLES_KEPT + 2, 1_024))
    three = [plug(tmp_path) for _ in range(3)]
    for client in three:
        client.sendall(frame(b"here"))
    first = [ear.next() for _ in range(4)]
    assert {1, 2} == {event.client for event in first if isinstance(event, Connected)}
    assert {1, 2} == {event.client for event in first if isinstance(event, Received)}
    three[0].close()
    assert 1 == ear.disconnected()[0]
    assert [Connected(3), Received(3, b"here")] == [ear.next(), ear.next()]
    for client in three[1:]:
        client.close()


@pytest.mark.parametrize(("handles", "most"), [(1_024, 256), (256, 192), (10, 1), (resource.RLIM_INFINITY, 256)])
def test_how_many_clients_there_may_be_depends_on_the_file_handles(
    monkeypatch: pytest.MonkeyPatch, handles: int, most: int
) -> None:
    monkeypatch.setattr(socket_module.resource, "getrlimit", lambda _: (handles, handles))
    assert most == socket_module._clients_max()


def test_all_of_three_hundred_clients_are_served(tmp_path: Path, ear: Ear) -> None:
    assert CLIENTS_MAX < 300

    def client(k: int) -> bytes:
        with plug(tmp_path) as mine:
            mine.sendall(frame(b"%d" % k))
            return read_frame(mine)

    with ThreadPoolExecutor(300) as clients:
        answers = [clients.submit(client, k) for k in range(300)]
        served = 0
        while served < 300:
            match ear.next():
                case Received(number, data):
                    ear.sockets.send(number, b"served " + data)
                    served += 1
        assert {b"served %d" % k for k in range(300)} == {answer.result() for answer in answers}


class Full:
    """A listener in a process that has opened all the files it may."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.is_full = False

    def accept(self) -> tuple[socket.socket, object]:
        if self.is_full:
            raise OSError(errno.EMFILE, "Too many open files")
        return self.listener.accept()

    def fileno(self) -> int:
        return self.listener.fileno()

    def close(self) -> None:
        self.listener.close()


def counter(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often the thread looks whom it can let in, from now on."""
    looks: list[None] = []
    let_in = socket_module._Loop._let_in

    def counted(self: socket_module._Loop) -> None:
        looks.append(None)
        let_in(self)

    monkeypatch.setattr(socket_module._Loop, "_let_in", counted)
    return lambda: len(looks)


def test_without_a_free_file_handle_nobody_is_let_in_and_nobody_is_harmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sockets = UnixSockets(tmp_path)
    listener = Full(sockets._address.listener)
    sockets._address.listener = listener  # type: ignore[assignment]
    ear = Ear(sockets)
    with plug(tmp_path) as first:
        number = ear.connected()
        listener.is_full = True
        turn(ear, first, number)
        tries = counter(monkeypatch)
        with plug(tmp_path) as second:
            second.sendall(frame(b"at last"))
            for _ in range(20):
                turn(ear, first, number)
            assert tries() < 3, "it tries all the time"
            listener.is_full = False
            assert [Connected(2), Received(2, b"at last")] == [ear.next(), ear.next()]
    sockets.close()


def test_sockets_that_fail_say_so_and_leave_nothing(tmp_path: Path, ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Connection, room: memoryview) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(Connection, "read", fail)
    client = plug(tmp_path)
    ear.connected()
    client.sendall(frame(b""))
    event = ear.next()
    assert isinstance(event, Deafened)
    assert "ZeroDivisionError: planted" in event.why
    assert has_ended(client)
    assert [] == list(tmp_path.iterdir())
    client.close()
