"""The lock: one owner, who is named, and whose end frees it at once."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from eukhe.errors import ChatLockedError, HomeError
from eukhe.world.lock import ChatLock, owner_pid

OWNER = """
import subprocess, sys
from pathlib import Path
from eukhe.errors import ChatLockedError
from eukhe.world.lock import ChatLock
try:
    lock = ChatLock(Path(sys.argv[1]))
except ChatLockedError:
    print("taken", flush=True)
    sys.exit()
print("mine", flush=True)
"""
TOOL = 'print(subprocess.Popen(["sleep", "60"], close_fds=False).pid, flush=True)\n'
STAY = "sys.stdin.read()\n"


@contextmanager
def owner(chat: Path, script: str = OWNER + STAY) -> Iterator["subprocess.Popen[str]"]:
    """A process that tries to own the chat and has said whether it does."""
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(chat)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        yield child
        child.kill()


def line(child: "subprocess.Popen[str]") -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


@pytest.mark.rule("7")
def test_a_second_owner_is_refused_and_told_whose_the_chat_is(tmp_path: Path) -> None:
    with owner(tmp_path) as child:
        assert "mine" == line(child)
        with pytest.raises(ChatLockedError, match=f"owned by pid {child.pid};"):
            ChatLock(tmp_path)
        assert child.pid == owner_pid(tmp_path)


@pytest.mark.rule("7")
def test_a_lock_that_is_let_go_can_be_taken(tmp_path: Path) -> None:
    with ChatLock(tmp_path):
        with pytest.raises(ChatLockedError):
            ChatLock(tmp_path)
        assert os.getpid() == owner_pid(tmp_path)
    ChatLock(tmp_path).release()


@pytest.mark.rule("7")
def test_the_lock_of_a_killed_owner_is_free_at_once_though_a_tool_of_its_still_runs(tmp_path: Path) -> None:
    with owner(tmp_path, OWNER + TOOL + STAY) as child:
        assert "mine" == line(child)
        tool = int(line(child))
        try:
            child.kill()
            child.wait()
            with ChatLock(tmp_path):
                os.kill(tool, 0)  # it is still there
                assert os.getpid() == owner_pid(tmp_path)
        finally:
            os.kill(tool, signal.SIGKILL)


@pytest.mark.rule("7")
def test_the_pid_is_never_believed(tmp_path: Path) -> None:
    (tmp_path / "lock.pid").write_text(str(os.getpid()))
    with ChatLock(tmp_path):
        (tmp_path / "lock.pid").write_text("nonsense")
        assert None is owner_pid(tmp_path)
        with pytest.raises(ChatLockedError, match="owned by another process;"):
            ChatLock(tmp_path)
        (tmp_path / "lock.pid").unlink()
        with pytest.raises(ChatLockedError, match="owned by another process;"):
            ChatLock(tmp_path)


@pytest.mark.rule("7")
def test_of_many_that_want_it_exactly_one_owns_the_chat(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", OWNER + STAY, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    assert ["mine", *["taken"] * 5] == sorted(line(child) for child in children)
    for child in children:
        child.communicate()


def test_its_files_are_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with ChatLock(tmp_path):
            assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)


@pytest.mark.rule("7")
def test_a_lock_whose_owner_cant_be_named_is_held_all_the_same_and_names_no_other(tmp_path: Path) -> None:
    (tmp_path / "lock.pid").write_text("1")
    (tmp_path / "lock.pid.new").mkdir()  # as if the disk were full
    with ChatLock(tmp_path):
        assert None is owner_pid(tmp_path)
        with pytest.raises(ChatLockedError, match="owned by another process;"):
            ChatLock(tmp_path)


def test_a_lock_that_cant_be_opened_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HomeError, match="the chat can't be locked, so it can't be written"):
        ChatLock(tmp_path / "file")
    (tmp_path / "lock").mkdir()
    with pytest.raises(HomeError, match="Is a directory; the chat can't be locked"):
        ChatLock(tmp_path)


def test_where_the_system_has_no_locks_the_chat_is_not_owned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(fd: int, operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", missing)
    with pytest.raises(HomeError, match="the chat can't be locked, so it can't be written"):
        ChatLock(tmp_path)


def test_an_owner_waits_for_a_reader_that_takes_the_lock_for_a_moment(tmp_path: Path) -> None:
    reader = ChatLock(tmp_path, to_own=False)
    assert owner_pid(tmp_path) is None
    with ThreadPoolExecutor(1) as owners:
        owner = owners.submit(ChatLock, tmp_path)
        with pytest.raises(ChatLockedError):
            ChatLock(tmp_path, to_own=False)
        reader.release()
        owner.result().release()
    assert os.getpid() == owner_pid(tmp_path)
