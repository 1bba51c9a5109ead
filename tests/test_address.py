"""Where a chat's owner is reached: for the user alone, however long the path, and nothing is left of it."""

import os
import socket
import stat
from pathlib import Path

import pytest

from eukhe.actors.ports import Connected, Received
from eukhe.errors import HomeError
from eukhe.world import address
from eukhe.world.frames import frame
from eukhe.world.socket import UnixSockets
from tests.socket_kit import Ear, has_ended, listening, plug

pytestmark = pytest.mark.usefixtures("no_leaks")


def test_the_address_is_for_the_user_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with listening(tmp_path):
            assert ["socket"] == [path.name for path in tmp_path.iterdir()]
            assert 0o600 == stat.S_IMODE((tmp_path / "socket").lstat().st_mode)
    finally:
        os.umask(before)


def test_nothing_is_left_after_the_close(tmp_path: Path) -> None:
    with listening(tmp_path) as ear, plug(tmp_path) as client:
        ear.connected()
        ear.sockets.close()
        ear.sockets.close()
        assert has_ended(client)
        assert [] == list(tmp_path.iterdir())
    UnixSockets(tmp_path).close()
    assert [] == list(tmp_path.iterdir())


def test_who_comes_before_anybody_listens_waits(tmp_path: Path) -> None:
    sockets = UnixSockets(tmp_path)
    with plug(tmp_path) as client:
        client.sendall(frame(b"early"))
        ear = Ear(sockets)
        assert [Connected(1), Received(1, b"early")] == [ear.next(), ear.next()]
        sockets.close()


@pytest.mark.parametrize("left", ["socket", "file", "link"])
def test_what_a_dead_owner_left_is_replaced(tmp_path: Path, left: str) -> None:
    for name in ("socket", "socket.new"):
        if left == "socket":
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
                dead.bind(str(tmp_path / name))
        elif left == "file":
            (tmp_path / name).touch()
        else:
            (tmp_path / name).symlink_to("/nowhere")
    with listening(tmp_path) as ear, plug(tmp_path):
        assert Connected(1) == ear.next()
    assert [] == list(tmp_path.iterdir())


@pytest.fixture
def deep(shallow: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A chat whose path is 300 bytes long, beside a temporary folder of its own."""
    monkeypatch.setattr("tempfile.tempdir", str(shallow))
    chat = shallow / ("d" * 150) / ("e" * (149 - len(str(shallow)) % 100))
    chat.mkdir(parents=True)
    assert len(str(chat)) >= 300
    return chat


def test_a_chat_with_a_long_path_is_reached_by_a_link(deep: Path, shallow: Path) -> None:
    folder = shallow / f"eukhe-{os.geteuid()}"
    (deep / "socket.new").symlink_to("/nowhere")  # as an owner leaves it that dies just then
    for _ in range(2):
        with listening(deep) as ear:
            with plug(deep):
                assert Connected(1) == ear.next()
            assert 0o700 == stat.S_IMODE(folder.lstat().st_mode)
            (path,) = folder.iterdir()
            assert path == (deep / "socket").readlink()
            assert 0o600 == stat.S_IMODE(path.lstat().st_mode)
        assert ([], []) == (list(folder.iterdir()), list(deep.iterdir()))


def test_two_such_chats_do_not_meet_and_what_one_left_is_replaced(deep: Path, shallow: Path) -> None:
    other = deep / "more"
    other.mkdir()
    dead = UnixSockets(deep)
    dead._address.listener.close()
    with listening(deep) as one, listening(other) as two:
        with plug(deep):
            one.connected()
        assert two.events.empty()
    dead._bell.close()


def test_sockets_that_killed_owners_of_other_chats_left_are_swept_and_those_of_live_ones_stay(
    deep: Path, shallow: Path
) -> None:
    folder = shallow / f"eukhe-{os.geteuid()}"
    other = deep.with_name("f" * len(deep.name))
    other.mkdir()
    with listening(other):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
            dead.bind(str(folder / "0123456789abcdef"))
        with listening(deep), plug(other), plug(deep):
            live = {(chat / "socket").readlink() for chat in (deep, other)}
            assert live == set(folder.iterdir())


def test_the_folder_is_for_the_user_alone_whatever_the_umask(deep: Path, shallow: Path) -> None:
    before = os.umask(0o777)
    try:
        with listening(deep):
            assert 0o700 == stat.S_IMODE((shallow / f"eukhe-{os.geteuid()}").lstat().st_mode)
    finally:
        os.umask(before)


@pytest.mark.parametrize("planted", ["link", "file", "open", "group"])
def test_a_folder_that_others_could_change_is_not_used(deep: Path, shallow: Path, planted: str) -> None:
    folder = shallow / f"eukhe-{os.geteuid()}"
    (shallow / "elsewhere").mkdir(mode=0o700)
    match planted:
        case "link":
            folder.symlink_to(shallow / "elsewhere")
        case "file":
            folder.touch(mode=0o700)
        case "open":
            folder.mkdir()
            folder.chmod(0o777)
        case "group":
            folder.mkdir()
            folder.chmod(0o710)
    with pytest.raises(HomeError, match="no folder of your own alone"):
        UnixSockets(deep)
    assert [] == list(deep.iterdir())
    assert [] == list((shallow / "elsewhere").iterdir())


def test_a_temporary_folder_that_is_as_deep_is_passed_over(
    deep: Path, shallow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    monkeypatch.setattr(address, "_SHORT", str(shallow))
    with listening(deep), plug(deep):
        assert shallow == (deep / "socket").readlink().parent.parent


def test_an_address_that_cant_be_opened_is_the_homes_trouble(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match="No such file or directory; the chat's address can't be opened"):
        UnixSockets(tmp_path / "gone")
