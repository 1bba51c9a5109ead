"""Owners that die or stand still, other users, children, deep homes: at the socket of a real owner."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from eukhe.actors.messages import Append, AppendDone, Entry
from eukhe.errors import HomeError, OwnerGone
from eukhe.world.home import make_home
from eukhe.world.link import Link
from tests.live.door_owner import owner_process, owning
from tests.socket_kit import WAIT_S, append

pytestmark = pytest.mark.usefixtures("no_leaks")

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play another user")


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@pytest.mark.rule("7")
def test_the_next_owner_comes_after_one_that_was_killed(chat: Path) -> None:
    with owner_process(chat) as owner:
        with Link.connect(chat) as link:
            append(link, "first")
            owner.kill()
            with pytest.raises(OwnerGone):
                link.hear(WAIT_S)
        owner.wait(WAIT_S)
        assert (chat / "socket").is_socket()
        with pytest.raises(OwnerGone):
            Link.connect(chat)
        with owning(chat), Link.connect(chat) as link:
            assert os.getpid() == link.pid
            assert [0, 1] == [append(link, "first"), append(link, "second")]


@pytest.mark.rule("7")
def test_an_owner_that_stands_still_is_waited_for_as_long_as_was_said(chat: Path) -> None:
    with owner_process(chat) as owner, Link.connect(chat) as link:
        os.kill(owner.pid, signal.SIGSTOP)
        link.tell("", Append((Entry("user", "a"),), "", 1))
        with pytest.raises(TimeoutError):
            link.hear(0.05)
        with pytest.raises(TimeoutError):
            Link.connect(chat, 0.05)
        os.kill(owner.pid, signal.SIGCONT)
        assert isinstance(link.hear(WAIT_S), AppendDone)
        with Link.connect(chat, WAIT_S) as again:
            assert owner.pid == again.pid


def test_children_inherit_neither_lock_nor_socket_nor_connection(chat: Path) -> None:
    with child_that_inherits_all() as before:
        assert before.stdout is not None
        inherits = before.stdout.readline()
    with owning(chat), Link.connect(chat) as link:
        append(link, "a")
        child = child_that_inherits_all()
    with child:
        assert child.stdout is not None
        assert inherits == child.stdout.readline()
        with owning(chat), Link.connect(chat) as link:  # while the child still runs
            assert 1 == append(link, "b")


def child_that_inherits_all() -> subprocess.Popen[str]:
    """A program that says which files it has open, and ends when its stdin does."""
    says = "import os, sys; print(sorted(os.listdir('/dev/fd')), flush=True); sys.stdin.read()"
    return subprocess.Popen(
        [sys.executable, "-c", says],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        close_fds=False,
    )


# --- other users, deep homes ---


# Another user only after the import: where this Python lies, others may not be let in.
AS_NOBODY = """
import os, socket, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
connection = socket.socket(socket.AF_UNIX)
"""
CONNECT = """
error = connection.connect_ex(sys.argv[1])
print(os.strerror(error) if error else connection.recv(1))
"""
LISTEN = """
connection.bind(sys.argv[1])
connection.listen()
print("up", flush=True)
input()
"""


@pytest.fixture
def open_chat() -> Iterator[Path]:
    """A chat whose folders let everybody in, as the user's own never do."""
    with TemporaryDirectory() as name:
        home = Path(name) / "home"
        chat = make_home(home)
        for folder in (home.parent, home, chat):
            folder.chmod(0o777)
        yield chat


def as_nobody(what: str, chat: Path) -> str:
    """What another user's program says."""
    command = [sys.executable, "-c", AS_NOBODY + what, chat / "socket"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@as_root
def test_another_user_is_kept_out_by_the_files_and_not_heard_where_these_let_it_in(open_chat: Path) -> None:
    with owning(open_chat), Link.connect(open_chat) as link:
        assert "Permission denied\n" == as_nobody(CONNECT, open_chat)
        (open_chat / "socket").chmod(0o666)
        assert "b''\n" == as_nobody(CONNECT, open_chat)
        assert 0 == append(link, "a")


@as_root
def test_an_address_where_another_user_listens_is_not_believed(open_chat: Path) -> None:
    rogue = subprocess.Popen(
        [sys.executable, "-c", AS_NOBODY + LISTEN, open_chat / "socket"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with rogue:
        assert rogue.stdout is not None
        assert "up\n" == rogue.stdout.readline()
        with pytest.raises(HomeError, match="another user's program listens here; remove this file"):
            Link.connect(open_chat, WAIT_S)
        rogue.communicate("\n")


def test_a_home_that_is_three_hundred_bytes_deep_works(shallow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(shallow))
    chat = make_home(shallow / ("d" * 150) / ("e" * 150))
    for k in range(2):
        with owning(chat), Link.connect(chat) as link:
            assert k == append(link, f"message {k}")
    assert [] == list((shallow / f"eukhe-{os.geteuid()}").iterdir())
