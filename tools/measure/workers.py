"""Worker processes: how soon one is there, and gone with its owner; what eight cost of memory, and a call by one."""

import subprocess
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue
from statistics import median

from eukhe.actors.ports import CallEvent, Replied, Request, Workers
from eukhe.limits import JOBS_MAX
from eukhe.model.part import Part
from eukhe.world.fork_server import ForkServer
from eukhe.world.process_workers import ProcessWorkers
from eukhe.world.worker_process import WorkerProcess
from eukhe.world.worker_wire import Order
from eukhe.world.workers import OfflineWorkers
from measure.figures import Aim, Figure, Sizes, medians, seconds

MS = 1_000
MB = 1_000_000
KIB = 1_024
WAIT_S = 60
LOOK_S = 0.001
_OWNER = """
from time import sleep
from eukhe.world.fork_server import ForkServer
server = ForkServer()
workers = [server.fork({wait}) for _ in range({workers})]
print(server.pid, *(worker.pid for worker in workers), flush=True)
sleep(3600)
"""
_INTERPRETER = "import eukhe.worker; print(flush=True); input()"
_REQUEST = Request(
    "builtin/extract",
    Part(0, 0),
    ("tool: " + "\n".join(f"{n} passed, tests/test_{n}.py failed: no line {n * n}" for n in range(40)),),
)


def measure(of: Sizes) -> list[Figure]:
    return [_start(of.worker_starts), *_memory(), _call(of.worker_calls), *_end(of.worker_ends)]


def _start(starts: int) -> Figure:
    """Until a worker says that it is there."""
    with ExitStack() as stack:
        servers: list[ForkServer] = []

        def begin() -> None:
            servers.append(stack.enter_context(closing(ForkServer())))
            fork()

        def fork() -> None:
            stack.enter_context(closing(WorkerProcess(servers[-1].fork(WAIT_S))))

        first_s = seconds(begin)
        (after_s,) = medians(starts, fork)
    return Figure(
        "a worker's start, after the first",
        after_s * MS,
        "ms",
        "the first, with the fork server's own",
        first_s * MS,
        Aim("value", 20),
    )


def _memory() -> list[Figure]:
    """What is a process's alone, of each that has made a call. None where the system does not tell."""
    if sys.platform != "linux":
        return []
    with ExitStack() as stack:
        server = stack.enter_context(closing(ForkServer()))
        workers = [stack.enter_context(closing(WorkerProcess(server.fork(WAIT_S)))) for _ in range(JOBS_MAX)]
        for worker in workers:
            _make_call(worker)
        ours = sum(map(private_bytes, [server.pid, *(worker.pid for worker in workers)]))
    with ExitStack() as stack:
        spawned = [stack.enter_context(_interpreter()) for _ in range(JOBS_MAX)]
        theirs = sum(private_bytes(process.pid) for process in spawned)
        for process in spawned:
            process.kill()
    return [
        Figure(
            f"private memory of {JOBS_MAX} workers and the fork server",
            ours / MB,
            "MB",
            f"{JOBS_MAX} interpreters that load the same",
            theirs / MB,
            Aim("value", 150),
        )
    ]


def _make_call(worker: WorkerProcess) -> None:
    order = Order(1, _REQUEST)
    worker.order(order)
    while not isinstance(worker.hear(order), Replied):
        pass


def _interpreter() -> "subprocess.Popen[bytes]":
    process = subprocess.Popen([sys.executable, "-c", _INTERPRETER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def private_bytes(pid: int) -> int:
    """Memory of a process that no other has."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return KIB * sum(int(row.split()[1]) for row in rows if row.startswith(("Private_Clean:", "Private_Dirty:")))


def _call(calls: int) -> Figure:
    with closing(ProcessWorkers()) as workers:
        _until_replied(workers)  # that starts the worker
        there_s, here_s = medians(calls, lambda: _until_replied(workers), lambda: _until_replied(OfflineWorkers()))
    return Figure("a call of builtin/extract in a worker", there_s * MS, "ms", "in the owner", here_s * MS)


def _until_replied(workers: Workers) -> None:
    heard: SimpleQueue[CallEvent] = SimpleQueue()
    workers.start(1, _REQUEST, heard.put)
    while not isinstance(heard.get(timeout=WAIT_S), Replied):
        pass


def _end(owners: int) -> list[Figure]:
    """From the kill of an owner until none of its workers runs, nor their fork server. The medians."""
    if sys.platform != "linux":
        return []
    orphaned_s, owner_s = (median(each) for each in zip(*(_ended() for _ in range(owners)), strict=True))
    return [
        Figure(
            f"{JOBS_MAX} workers and the fork server gone, their owner killed",
            orphaned_s * MS,
            "ms",
            "the owner itself",
            owner_s * MS,
            Aim("value", 1_000),
        )
    ]


def _ended() -> tuple[float, float]:
    """Seconds from the kill until its workers have ended, and until the owner has."""
    code = _OWNER.format(wait=WAIT_S, workers=JOBS_MAX)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pids = [int(pid) for pid in owner.stdout.readline().split()]
        begun = time.perf_counter()
        owner.kill()
        owner.wait()
        owner_s = time.perf_counter() - begun
        while any(map(_runs, pids)):
            time.sleep(LOOK_S)
        return time.perf_counter() - begun, owner_s


def _runs(pid: int) -> bool:
    """Whether a process is there and has not ended; one that nobody has asked about yet has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
