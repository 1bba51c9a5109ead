"""What a test may leave behind is found: processes also after their parent's end, threads, handles."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from tests import leaks
from tests.leaks import MARK, comes_true, descendants, is_running, nothing_left

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc to look at")

ORPHAN = "import subprocess; print(subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL).pid, flush=True)"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is told at once."""
    monkeypatch.setattr(comes_true, "__defaults__", (0.05,))


def test_a_test_that_leaves_nothing_passes() -> None:
    with nothing_left("m"):
        subprocess.run(["true"], check=True)
        thread = threading.Thread(target=bool)
        thread.start()
        thread.join()
        os.close(os.open("/dev/null", os.O_RDONLY))


def leave_a_handle() -> Callable[[], None]:
    fd = os.open("/dev/null", os.O_RDONLY)
    return lambda: os.close(fd)


def leave_a_thread() -> Callable[[], None]:
    event = threading.Event()
    thread = threading.Thread(target=event.wait, name="stays")
    thread.start()

    def end() -> None:
        event.set()
        thread.join()

    return end


def leave_a_process() -> Callable[[], None]:
    child = subprocess.Popen(["sleep", "60"])

    def end() -> None:
        child.kill()
        child.wait()

    return end


def leave_a_process_that_ended() -> Callable[[], None]:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    def end() -> None:
        child.wait()

    return end


@pytest.mark.parametrize(
    ("leave", "said"),
    [
        (leave_a_handle, "handle .*/dev/null"),
        (leave_a_thread, "thread stays"),
        (leave_a_process, "sleep 60"),
        (leave_a_process_that_ended, "state='Z'"),
    ],
)
def test_what_is_left_fails_it(leave: Callable[[], Callable[[], None]], said: str) -> None:
    ends: list[Callable[[], None]] = []
    try:
        with pytest.raises(pytest.fail.Exception, match=said), nothing_left("m"):
            ends.append(leave())
    finally:
        ends[0]()


def test_a_process_whose_parent_has_ended_is_found_by_its_mark_and_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, "of this test")
    with pytest.raises(pytest.fail.Exception, match="sleep 60"), nothing_left("of this test"):
        pid = int(subprocess.check_output([sys.executable, "-c", ORPHAN]))
        assert pid not in descendants()
    assert comes_true(lambda: not is_running(pid), leaks.LEFT_WAIT_S)
