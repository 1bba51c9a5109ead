"""Many runs, on as many processes as one likes; their outcomes come in the order of their seeds, whatever that is."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable
from multiprocessing import resource_tracker

from eukhe.limits import SIM_RUNS_A_TASK
from eukhe.sim.chaos import Outcome, run
from eukhe.sim.options import Options


def run_all(
    runs: Iterable[Options], jobs: int, play: Callable[[Options], Outcome] = run
) -> Generator[Outcome, None, None]:
    """The outcomes of all runs. With one job they run in this process. Closed early, it ends what is under way."""
    if jobs == 1:
        yield from map(play, runs)
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    resource_tracker.ensure_running()  # which lets signals through again once it runs
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # Ctrl-C comes when the pool is there to be ended
    try:
        with context.Pool(jobs, _be_worker) as pool:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            yield from pool.imap(play, runs, SIM_RUNS_A_TASK)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _be_worker() -> None:
    """Ctrl-C is the parent's to deal with, and its death this one's end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
