"""Worker processes: how they start, are kept, stopped and closed."""

import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from eukhe.actors.ports import Broke, CallEvent, Replied, Request, Responding
from eukhe.model.extract import extract
from eukhe.model.part import Part
from eukhe.world.worker_process import WorkerProcess
from tests.leaks import comes_true, descendants, is_running, no_leaks
from tests.worker_kit import SOURCES, WAIT_S, Ear, Script, fork_server, process_workers, script, scripted

__all__ = ["no_leaks", "script"]  # fixtures

pytestmark = [
    pytest.mark.usefixtures("no_leaks"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc"),
]

LINE = extract(Part(0, 0), SOURCES)
DIED = Broke("its worker process died")


# --- how they are kept ---


def test_idle_workers_are_taken_again_and_there_are_as_many_as_calls_at_once(script: Script) -> None:
    script.write(any=["reply 0.05"])
    with process_workers() as workers:
        for _ in range(2):
            ears = [Ear() for _ in range(8)]
            for call, ear in enumerate(ears):
                workers.start(call, scripted(call), ear)
            assert [Replied(LINE)] * 8 == [ear.end() for ear in ears]
        pids = [made.pid for made in script.made()]
        assert set(pids[:8]) == set(pids[8:])
        assert 8 == len(set(pids))
        assert {fork_server(), *pids} == set(descendants())


def test_of_idle_workers_the_last_is_taken_so_that_the_others_retire(script: Script) -> None:
    with process_workers() as workers:
        ears = [Ear() for _ in range(5)]
        for call, ear in enumerate(ears[:3]):
            workers.start(call, scripted(call), ear)
        ends = [ear.end() for ear in ears[:3]]
        for call, ear in enumerate(ears[3:], 3):
            workers.start(call, scripted(call), ear)
            ends.append(ear.end())
        assert [Replied(LINE)] * 5 == ends
        assert script.made()[3].pid == script.made()[4].pid


def test_an_idle_worker_is_gone_after_a_while_and_the_next_call_gets_a_new_one(script: Script) -> None:
    with process_workers(idle_s=0.01) as workers:
        for call in range(2):
            ear = Ear()
            workers.start(call, scripted(call), ear)
            assert Replied(LINE) == ear.end()
            assert comes_true(lambda: {fork_server()} == set(descendants()))
            assert comes_true(lambda: not [thread for thread in threading.enumerate() if thread.name == "worker"])
        first, second = script.made()
        assert first.pid != second.pid


def test_a_worker_that_dies_idle_fails_no_call(script: Script) -> None:
    with process_workers() as workers:
        for call in range(2):
            ear = Ear()
            workers.start(call, scripted(call), ear)
            assert Replied(LINE) == ear.end()
            pid = script.made()[call].pid
            os.kill(pid, signal.SIGKILL)
            assert comes_true(lambda pid=pid: not is_running(pid))  # type: ignore[misc]


# --- stopping ---


@pytest.mark.rule("39", "D5")
@pytest.mark.parametrize("act", ["silent", "pings 0.001", "spin", "deep", "stop", "reply 1000"])
def test_a_call_is_stopped_at_once_whatever_it_is_at(script: Script, act: str) -> None:
    script.write(n3=[act])
    with process_workers() as workers:
        stopped, next_one = Ear(), Ear()
        workers.start(1, scripted(3), stopped)
        pid = script.taken(1)[0].pid
        workers.stop(1)
        heard = stopped.rest()
        workers.start(2, scripted(0), next_one)
        assert Replied(LINE) == next_one.end()
        assert comes_true(lambda: pid not in descendants())
        assert {Responding()} >= set(heard)
        assert [] == stopped.rest()


def test_a_call_is_stopped_before_its_worker_is_there(script: Script) -> None:
    with process_workers() as workers:
        stopped, next_one = Ear(), Ear()
        workers.start(1, scripted(3), stopped)
        workers.stop(1)
        workers.start(2, scripted(0), next_one)
        assert Replied(LINE) == next_one.end()
        assert comes_true(lambda: 2 == len(descendants()))
        assert [] == stopped.rest()


def test_a_stop_of_a_call_that_has_ended_ends_nothing(script: Script) -> None:
    with process_workers() as workers:
        for call in range(3):
            ear = Ear()
            workers.start(call, scripted(call), ear)
            assert Replied(LINE) == ear.end()
            workers.stop(call)
        assert 1 == len({made.pid for made in script.made()})


def test_whoever_hears_of_a_call_may_stop_it_and_start_the_next(script: Script) -> None:
    script.write(n1=["reply"], n2=["silent"], n3=["reply"])
    with process_workers() as workers:
        last = Ear()

        def begin_next(event: CallEvent) -> None:
            if isinstance(event, Replied):
                workers.start(3, scripted(3), last)

        def stop(event: CallEvent) -> None:
            workers.stop(1)
            workers.start(2, scripted(2), Ear())
            workers.stop(2)
            workers.start(4, scripted(1), Ear(begin_next))

        ear = Ear(stop)
        workers.start(1, scripted(1), ear)
        assert Replied(LINE) == last.end()
        assert [Responding()] == ear.rest()


# --- when they can't be started ---


def test_a_fork_server_that_dies_takes_no_call_with_it_and_is_replaced(script: Script) -> None:
    script.write(n1=["reply 0.5"])
    with process_workers() as workers:
        under_way, after = Ear(), Ear()
        workers.start(1, scripted(1), under_way)
        script.taken(1)
        server = fork_server()
        os.kill(server, signal.SIGKILL)
        workers.start(2, scripted(2), after)
        assert [Replied(LINE)] * 2 == [after.end(), under_way.end()]
        assert server != fork_server()
        assert server not in descendants()


def test_a_fork_server_that_hangs_is_replaced(script: Script) -> None:
    script.write(n1=["silent"])
    with process_workers(start_s=2) as workers:
        workers.start(1, scripted(1), Ear())
        script.taken(1)
        server = fork_server()
        os.kill(server, signal.SIGSTOP)
        ears = [Ear(), Ear()]
        for call, ear in enumerate(ears, 2):
            workers.start(call, scripted(call), ear)
        assert [Replied(LINE)] * 2 == [ear.end() for ear in ears]
        assert server not in descendants()
        assert is_running(script.made()[0].pid)


@pytest.mark.parametrize(
    ("executable", "why"),
    [
        ("/bin/false", "the fork server of the workers has ended; "),
        ("/no/such/python", "no fork server could be started: .*No such file"),
        ("/bin/sleep", "the fork server of the workers has ended; "),
    ],
)
def test_no_worker_at_all_is_a_failed_call(executable: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with process_workers() as workers:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", executable)
            broken = Ear()
            workers.start(1, scripted(1), broken)
            with pytest.raises(AssertionError, match=why):
                raise AssertionError(broken.end())
        ear = Ear()
        workers.start(2, Request("builtin/extract", Part(0, 0), SOURCES), ear)
        assert Replied(LINE) == ear.end()


def full(*args: object) -> None:
    raise OSError(24, "Too many open files")


def test_no_free_handle_and_no_free_thread_are_failed_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    for call, (target, name, broken, why) in enumerate(
        [
            (socket, "socketpair", full, "no fork server could be started: [Errno 24] Too many open files"),
            (threading.Thread, "start", no_thread, "no thread could be started for a worker"),
        ]
    ):
        with process_workers() as workers, monkeypatch.context() as patch:
            patch.setattr(target, name, broken)
            ear = Ear()
            workers.start(call, scripted(1), ear)
            assert Broke(why) == ear.end()


def test_what_nobody_foresaw_is_a_failed_call_too_and_its_slot_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    def unforeseen(*args: object) -> None:
        raise MemoryError("no room for a call")

    with process_workers() as workers:
        with monkeypatch.context() as patch:
            patch.setattr(WorkerProcess, "order", unforeseen)
            broken = Ear()
            workers.start(1, Request("builtin/extract", Part(0, 0), SOURCES), broken)
            assert Broke("MemoryError: no room for a call") == broken.end()
        ear = Ear()
        workers.start(1, Request("builtin/extract", Part(0, 0), SOURCES), ear)
        assert Replied(LINE) == ear.end()


# --- the end ---


@pytest.mark.parametrize("acts", [["reply"], ["silent"], ["spin"], ["stop"], ["deep"]])
def test_a_close_leaves_nothing_and_may_be_repeated(script: Script, acts: list[str]) -> None:
    script.write(any=acts)
    before = set(threading.enumerate())
    with process_workers() as workers:
        ears = [Ear() for _ in range(3)]
        for call, ear in enumerate(ears):
            workers.start(call, scripted(call), ear)
        pids = {made.pid for made in script.taken(3)}
        workers.close()
        heard = [ear.rest() for ear in ears]
        workers.close()
        assert before == set(threading.enumerate())
        assert comes_true(lambda: not any(map(is_running, pids)))
        assert [[], [], []] == [ear.rest() for ear in ears]
        assert {Responding(), Replied(LINE)} >= {event for events in heard for event in events}
        with pytest.raises(AssertionError, match="the workers have gone"):
            workers.start(9, scripted(1), ears[0])


def test_workers_that_made_no_call_have_started_nothing() -> None:
    with process_workers():
        assert {} == descendants()


def test_workers_that_are_warm_have_a_fork_server_and_no_worker(script: Script) -> None:
    with process_workers() as workers:
        workers.warm()
        workers.warm()
        server = fork_server()
        assert {server} == set(descendants())
        ear = Ear()
        workers.start(1, scripted(0), ear)
        assert Replied(LINE) == ear.end()
        assert server == fork_server()


def test_workers_that_can_not_be_warmed_say_so_to_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with process_workers() as workers:
        monkeypatch.setattr(sys, "executable", "/no/such/python")
        workers.warm()
        ear = Ear()
        workers.start(1, scripted(0), ear)
        assert "no fork server could be started" in str(ear.end())


@pytest.mark.parametrize("hang", [True, False])
def test_a_close_while_a_worker_starts_waits_for_none(hang: bool, script: Script) -> None:
    with process_workers(start_s=WAIT_S) as workers:
        if hang:
            ear = Ear()
            workers.start(1, scripted(1), ear)
            ear.end()
            os.kill(fork_server(), signal.SIGSTOP)
        for call in (2, 3):
            workers.start(call, scripted(call), Ear())
        workers.close()


def test_two_close_at_the_same_time(script: Script) -> None:
    with process_workers() as workers:
        workers.start(1, scripted(1), Ear())
        closing = [threading.Thread(target=workers.close) for _ in range(2)]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()


END_WITH = """
import threading
from eukhe.worker import wait_for_end
threading.Thread(target=wait_for_end, args=(0,), daemon=True).start()
print("up", flush=True)
while True: pass
"""


def test_where_the_kernel_does_not_end_a_worker_a_thread_of_its_own_does() -> None:
    child = subprocess.Popen([sys.executable, "-c", END_WITH], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            assert b"up\n" == child.stdout.readline()
            assert child.poll() is None
            child.stdin.close()
            assert 0 == child.wait(WAIT_S)
        finally:
            child.kill()
