"""How a command ends: by itself, at its limit, when it is stopped, with its client; and what goes with it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.leaks import comes_true, descendants, is_running, no_leaks
from tests.tools_kit import WAIT_S, Bench, at_work, ended, keepers

__all__ = ["no_leaks"]  # a fixture

pytestmark = [
    pytest.mark.usefixtures("no_leaks"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc"),
]

HERE = Path(__file__).resolve().parent
FAMILY = (
    "echo $$; mkfifo said.$$; "
    "(trap '' TERM HUP INT; echo $BASHPID; sleep 1000 & echo $!; echo >said.$$; wait) & read -r x <said.$$; "
)
"""Starts a child that ends by no signal it can ignore, and a grandchild; goes on once their ids are said."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with at_work(tmp_path) as bench:
        yield bench


@pytest.mark.parametrize("state", ["waits", "is stopped"])
def test_at_its_limit_it_is_ended_with_all_that_it_started(bench: Bench, state: str) -> None:
    more = "kill -STOP 0" if state == "is stopped" else "wait"
    _, ear = bench.begin("bash", command=FAMILY + more, timeout_s=0.5)
    found = ear.end()
    assert found.failed
    assert found.text.endswith("[ended after 0.5 s, its time limit]\n")
    assert [] == [pid for pid in found.text.split("\n")[:3] if not ended(pid)]


@pytest.mark.parametrize("more", ["wait", "exec >&- 2>&-; wait", "while :; do :; done", "kill -STOP 0"])
def test_a_command_that_is_stopped_is_gone_at_once_with_all_that_it_started(bench: Bench, more: str) -> None:
    call, ear = bench.begin("bash", command=FAMILY + more)
    family = list(map(int, ear.lines(3)))
    assert 3 == len(set(family))
    bench.tools.stop(call)
    heard = ear.rest()
    assert [] == [pid for pid in family if not ended(pid)]
    assert [] == heard
    assert [] == ear.rest()
    assert "next\n" == bench.text("bash", command="echo next")


def test_a_command_is_stopped_before_it_has_begun(bench: Bench) -> None:
    for _ in range(20):
        call, ear = bench.begin("bash", command="sleep 1000")
        bench.tools.stop(call)
        assert [] == ear.rest()
    assert comes_true(lambda: set(keepers()) == set(descendants()))


def test_a_stop_of_what_has_ended_does_nothing(bench: Bench) -> None:
    call, ear = bench.begin("bash", command="true")
    ear.end()
    bench.tools.stop(call)
    bench.tools.stop(999)


def test_of_what_is_stopped_nothing_is_heard_however_it_prints(bench: Bench) -> None:
    for _ in range(5):
        call, ear = bench.begin("bash", command="yes")
        ear.hears("y")
        bench.tools.stop(call)
        ear.rest()
        bench.text("bash", command="true")
        assert [] == ear.rest()


def test_what_a_command_leaves_running_is_ended_soon_after_it(bench: Bench) -> None:
    text = bench.text("bash", command="sleep 1000 & echo $!; echo said")
    pid, said, note = text.split("\n")[:3]
    assert ("said", "[what it left running was ended]") == (said, note)
    assert ended(pid)
    pid = bench.text("bash", command="sleep 1000 >/dev/null 2>&1 & echo $!").strip()
    assert ended(pid)


def test_what_is_still_said_by_what_it_left_is_taken_in(bench: Bench) -> None:
    assert "late\n" == bench.text("bash", command="(sleep 0.05; echo late) &")


def test_what_has_made_a_session_of_its_own_goes_on_and_does_not_hold_up_the_tool(bench: Bench) -> None:
    text = bench.text("bash", command="setsid sleep 1000 & echo $!")
    pid, note = text.split("\n")[:2]
    try:
        assert is_running(int(pid))
        assert "[something that it started still runs]" == note
    finally:
        os.kill(int(pid), signal.SIGKILL)


def test_a_command_that_closes_its_output_is_waited_for(bench: Bench) -> None:
    assert "" == bench.text("bash", command="exec >&- 2>&-; sleep 0.1; touch done")
    assert (bench.folder / "done").exists()


def test_several_run_at_once_and_a_gate_of_one_is_opened_by_another(bench: Bench) -> None:
    os.mkfifo(bench.folder / "pipe")
    _, reads = bench.begin("bash", command="cat pipe")
    assert "" == bench.text("bash", command="echo through > pipe")
    assert "through\n" == reads.end().text


def test_a_close_ends_all_and_a_second_one_does_nothing(tmp_path: Path) -> None:
    with at_work(tmp_path) as bench:
        ears = [bench.begin("bash", command=f"{FAMILY} wait")[1] for _ in range(3)]
        found = [int(pid) for ear in ears for pid in ear.lines(3)]
        bench.tools.close()
        assert [] == [pid for pid in found if not ended(pid)]
        bench.tools.close()


def test_where_the_keeper_has_died_the_next_command_gets_a_new_one(bench: Bench) -> None:
    _, ear = bench.begin("bash", command=FAMILY + "wait")
    family = list(map(int, ear.lines(3)))
    (keeper,) = keepers()
    os.kill(keeper, signal.SIGKILL)
    assert ended(keeper)
    assert "x\n" == bench.text("bash", command="echo x")
    assert keeper not in keepers()
    assert 1 == len(keepers())
    assert all(map(is_running, family))


# --- with its client ---


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, "exit"])
@pytest.mark.parametrize("keeper", ["its first", "its second"])
def test_when_the_client_dies_all_that_its_tools_started_is_gone(tmp_path: Path, how: int | str, keeper: str) -> None:
    command = FAMILY + "kill -STOP 0"
    with subprocess.Popen(
        [sys.executable, HERE / "tools_client.py", tmp_path, keeper, command, FAMILY + "wait"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as client:
        assert client.stdout is not None
        assert client.stdin is not None
        found = [int(client.stdout.readline()) for _ in range(6)]
        assert all(map(is_running, found))
        if isinstance(how, int):
            client.send_signal(how)
        else:
            client.stdin.write("exit\n")
            client.stdin.flush()
        client.wait(WAIT_S)
        assert [] == [pid for pid in found if not ended(pid)]


def test_a_thread_that_can_not_be_started_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with at_work(tmp_path) as bench:
        with monkeypatch.context() as patch:
            patch.setattr("threading.Thread.start", _no_thread)
            _, ear = bench.begin("bash", command="true")
            assert "too many" in ear.end().text
        assert "" == bench.text("bash", command="true")


def _no_thread(self: object) -> None:
    raise RuntimeError("can't start new thread")
