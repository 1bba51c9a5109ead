"""A client's link to the owner: the greeting, partial frames, owners that are gone, silent, newer or not ours."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eukhe.actors.messages import (
    Append,
    AppendDone,
    Entry,
    Hello,
    Msg,
    Ping,
    Refused,
    Synced,
    ViewTexts,
    Welcome,
)
from eukhe.actors.ports import Key
from eukhe.actors.wire import decode, encode
from eukhe.errors import HomeError, OwnerGone, OwnerRefused
from eukhe.limits import FRAME_BYTES_MAX, PROTOCOL
from eukhe.world import link as link_module
from eukhe.world.address import Address
from eukhe.world.frames import FrameTooLong, frame
from eukhe.world.link import Link
from tests.socket_kit import WAIT_S, read_frame

pytestmark = pytest.mark.usefixtures("no_leaks")

WELCOME = Welcome(PROTOCOL, "1.2", 41)
Says = Callable[[socket.socket], None]


@contextmanager
def owner(chat: Path, says: Says) -> Iterator[None]:
    """An owner that lets one client in, and says to it what a function does."""
    address = Address(chat)
    address.listener.settimeout(WAIT_S)

    def serve() -> None:
        connection, _ = address.listener.accept()
        with connection:
            connection.settimeout(WAIT_S)
            says(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        address.close()


@contextmanager
def linked(chat: Path) -> Iterator[tuple[Link, socket.socket]]:
    """A link, and the owner's end of it."""
    address = Address(chat)
    address.listener.setblocking(True)
    taken: list[socket.socket] = []

    def serve() -> None:
        connection, _ = address.listener.accept()
        connection.settimeout(WAIT_S)
        taken.append(connection)
        assert isinstance(decode(read_frame(connection)), Hello)
        connection.sendall(frame(encode(WELCOME)))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with Link.connect(chat, WAIT_S) as link:
            thread.join()
            yield link, taken[0]
    finally:
        address.close()
        taken[0].close()


def says(*messages: Msg) -> Says:
    def say(connection: socket.socket) -> None:
        assert isinstance(decode(read_frame(connection)), Hello)
        connection.sendall(b"".join(frame(encode(message)) for message in messages))

    return say


# --- the greeting ---


def test_a_link_says_hello_and_knows_whom_it_talks_with(tmp_path: Path) -> None:
    heard: list[Msg] = []

    def say(connection: socket.socket) -> None:
        heard.append(decode(read_frame(connection)))
        connection.sendall(frame(encode(WELCOME)))

    keys = (Key("anthropic", "sk-1"), Key("openai", "", "http://localhost:1"))
    with owner(tmp_path, say), Link.connect(tmp_path, WAIT_S, keys=keys) as link:
        assert 41 == link.pid
    (hello,) = heard
    assert isinstance(hello, Hello)
    assert (PROTOCOL, os.getpid(), keys) == (hello.protocol, hello.pid, hello.keys)


def test_where_nobody_listens_the_owner_is_gone(tmp_path: Path) -> None:
    with pytest.raises(OwnerGone):
        Link.connect(tmp_path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(tmp_path / "socket"))
    with pytest.raises(OwnerGone):
        Link.connect(tmp_path)
    (tmp_path / "socket").unlink()
    (tmp_path / "socket").symlink_to("/nowhere")
    with pytest.raises(OwnerGone):
        Link.connect(tmp_path)
    with pytest.raises(OwnerGone):
        Link.connect(tmp_path / ("d" * 200))


def test_what_is_no_socket_is_the_homes_trouble(tmp_path: Path) -> None:
    (tmp_path / "socket").symlink_to(tmp_path / "socket")
    with pytest.raises(HomeError, match="the chat's owner can't be reached"):
        Link.connect(tmp_path)


def test_a_newer_owner_refuses_in_its_own_words(tmp_path: Path) -> None:
    with owner(tmp_path, says(Refused("update", leaving=False))), pytest.raises(OwnerRefused, match="update"):
        Link.connect(tmp_path, WAIT_S)


def test_an_older_owner_is_gone_once_it_has_gone(tmp_path: Path) -> None:
    gone: list[bool] = []

    def say(connection: socket.socket) -> None:
        says(Refused("makes room", leaving=True))(connection)
        gone.append(True)

    with owner(tmp_path, say), pytest.raises(OwnerGone):
        Link.connect(tmp_path, WAIT_S)
    assert [True] == gone


def test_an_older_owner_that_has_to_finish_something_first_is_not_waited_for_longer_than_was_said(
    tmp_path: Path,
) -> None:
    done = threading.Event()

    def say(connection: socket.socket) -> None:
        says(Refused("makes room", leaving=True))(connection)
        done.wait(WAIT_S)

    with owner(tmp_path, say):
        with pytest.raises(TimeoutError):
            Link.connect(tmp_path, 0.05)
        done.set()


@pytest.mark.parametrize("said", [b"", b"\xff\xff\xff\xff", frame(b"\xc1"), frame(encode(Synced(1)))])
def test_an_owner_that_does_not_greet_is_none(tmp_path: Path, said: bytes) -> None:
    def say(connection: socket.socket) -> None:
        read_frame(connection)
        connection.sendall(said)

    with owner(tmp_path, say), pytest.raises(OwnerRefused if said else OwnerGone):
        Link.connect(tmp_path, WAIT_S)


def test_an_owner_that_is_stopped_is_not_waited_for_longer_than_was_said(tmp_path: Path) -> None:
    address = Address(tmp_path)
    with pytest.raises(TimeoutError):
        Link.connect(tmp_path, 0.05)
    address.close()


def test_nor_is_one_before_whom_too_many_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eukhe.world.address.CLIENTS_QUEUED_MAX", 0)
    address = Address(tmp_path)
    waiting = []
    for _ in range(2):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.setblocking(False)
        client.connect_ex(str(tmp_path / "socket"))
        waiting.append(client)
    with pytest.raises(TimeoutError, match="lets nobody in"):
        Link.connect(tmp_path, 0.05)
    for client in waiting:
        client.close()
    address.close()


def test_another_users_program_is_not_talked_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "is_other_user", lambda connection: True)
    address = Address(tmp_path)
    with pytest.raises(HomeError, match="another user's program listens here"):
        Link.connect(tmp_path)
    address.close()


# --- talking ---


def test_messages_arrive_in_both_directions(tmp_path: Path) -> None:
    with linked(tmp_path) as (link, end):
        link.tell("store", Ping("edge", 1))
        assert Ping("edge", 1) == decode(read_frame(end))
        end.sendall(frame(encode(Synced(1))) + frame(encode(Synced(2))))
        assert [Synced(1), Synced(2)] == [link.hear(WAIT_S), link.hear(None)]


def test_a_frame_that_came_in_part_stays_for_the_next_time(tmp_path: Path) -> None:
    data = frame(encode(ViewTexts(1, ("x" * 1_000,))))
    with linked(tmp_path) as (link, end):
        for part in (data[:2], data[2:7], data[7:-1]):
            end.sendall(part)
            with pytest.raises(TimeoutError):
                link.hear(0.01)
        end.sendall(data[-1:])
        assert ViewTexts(1, ("x" * 1_000,)) == link.hear(WAIT_S)


def test_what_the_owner_does_not_read_yet_is_no_reason_to_wait(tmp_path: Path) -> None:
    large = Append((Entry("user", "x" * 5_000_000),), "", 1)
    read: list[Msg] = []
    with linked(tmp_path) as (link, end):
        for _ in range(3):
            link.tell("", large)
        with pytest.raises(TimeoutError):
            link.hear(0)

        def serve() -> None:
            read.extend(decode(read_frame(end)) for _ in range(3))
            end.sendall(frame(encode(AppendDone(1, ()))))

        thread = threading.Thread(target=serve)
        thread.start()
        assert AppendDone(1, ()) == link.hear(WAIT_S)
        thread.join()
    assert [large] * 3 == read


def test_what_the_owner_still_said_is_heard_before_that_it_is_gone(tmp_path: Path) -> None:
    with linked(tmp_path) as (link, end):
        end.sendall(frame(encode(Synced(1))) + frame(encode(Synced(2)))[:-1])
        end.close()
        for _ in range(3):
            link.tell("", Ping("edge", 1))  # into the void
        assert Synced(1) == link.hear(WAIT_S)
        for _ in range(2):
            with pytest.raises(OwnerGone):
                link.hear(WAIT_S)


def test_one_whose_owner_is_gone_can_still_be_woken_until_it_is_closed(tmp_path: Path) -> None:
    with linked(tmp_path) as (link, end):
        end.close()
        with pytest.raises(OwnerGone):
            link.hear(WAIT_S)
        link.wake()  # by another thread, which has not heard of it


def test_also_where_the_owner_had_not_read_all(tmp_path: Path) -> None:
    with linked(tmp_path) as (link, end):
        link.tell("", Ping("edge", 1))
        end.sendall(frame(encode(Synced(1))))
        end.close()
        assert Synced(1) == link.hear(WAIT_S)
        with pytest.raises(OwnerGone):
            link.hear(WAIT_S)


def test_an_owner_that_refuses_what_it_was_told_says_so(tmp_path: Path) -> None:
    with linked(tmp_path) as (link, end):
        end.sendall(frame(encode(Refused("Begin is no order", leaving=False))))
        end.close()
        with pytest.raises(OwnerRefused, match="Begin is no order"):
            link.hear(WAIT_S)


def test_a_message_that_is_too_long_is_not_sent(tmp_path: Path) -> None:
    with linked(tmp_path) as (link, end):
        with pytest.raises(FrameTooLong):
            link.tell("", Append((Entry("user", "x" * FRAME_BYTES_MAX),), "", 1))
        link.tell("", Ping("edge", 1))
        assert Ping("edge", 1) == decode(read_frame(end))


def test_after_its_close_a_link_is_gone_and_leaves_nothing(tmp_path: Path) -> None:
    with linked(tmp_path) as (link, _):
        link.close()
        link.close()
        link.tell("", Ping("edge", 1))
        with pytest.raises(OwnerGone):
            link.hear(WAIT_S)


# --- Ctrl-C ---


def test_ctrl_c_ends_a_wait_and_the_link_goes_on(tmp_path: Path) -> None:
    main = threading.main_thread().ident
    assert main is not None
    with linked(tmp_path) as (link, end):
        timer = threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            link.hear(WAIT_S)
        timer.join()
        end.sendall(frame(encode(Synced(1))))
        assert Synced(1) == link.hear(WAIT_S)


class Interrupted:
    """A connection on which Ctrl-C strikes after a call has done its work, before anybody could note that."""

    def __init__(self, connection: socket.socket, at: str) -> None:
        self.connection = connection
        self.at = at

    def __getattr__(self, name: str) -> object:
        found = getattr(self.connection, name)
        if name != self.at:
            return found

        def interrupted(*args: object) -> None:
            found(*args)
            raise KeyboardInterrupt

        return interrupted


@pytest.mark.parametrize("at", ["send", "recv_into"])
def test_where_ctrl_c_leaves_it_open_what_was_said_the_link_is_not_used_again(tmp_path: Path, at: str) -> None:
    with linked(tmp_path) as (link, end):
        connection = link._connection
        link._connection = Interrupted(connection, at)  # type: ignore[assignment]
        end.sendall(frame(encode(Synced(1))))
        with pytest.raises(KeyboardInterrupt):
            link.tell("", Ping("edge", 1))
            link.hear(WAIT_S)
        link._connection = connection
        with pytest.raises(OwnerGone, match="it is not known what"):
            link.hear(WAIT_S)
