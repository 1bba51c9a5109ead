"""Calls in processes of their own, one at a time in each.

A process is minded by a thread of the owner: it starts the process, hands it a call, tells what is heard, and keeps it
for the next call, or for half a minute. So whoever starts or stops a call waits for nothing. Whatever a process does
that it should not breaks its call and ends the process; another is forked for the next.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue

from eukhe.actors.ports import Broke, CallEvent, Delta, Key, Request, Responding, TurnRequest
from eukhe.limits import WORKER_IDLE_S, WORKER_START_S, WORKER_STARTS_MAX
from eukhe.world.fork_server import Forked, ForkServer
from eukhe.world.providers.registry import provider_of
from eukhe.world.worker_process import WorkerProcess
from eukhe.world.worker_wire import Order, WorkerFailed

Heard = Callable[[CallEvent], None]


class ProcessWorkers:
    """Implements `Workers` and `Models`. The fork server begins with the first call.

    `idle_s`, `start_s`: see limits.py. `models`: those that will be called; others can be, and start more slowly.
    """

    def __init__(
        self, idle_s: float = WORKER_IDLE_S, start_s: float = WORKER_START_S, *, models: tuple[str, ...] = ()
    ) -> None:
        self._models = models
        self._idle_s = idle_s
        self._start_s = start_s
        self._lock = threading.Lock()
        self._server: ForkServer | None = None
        self._calls: dict[int, _Call] = {}
        self._minders: set[_Minder] = set()
        self._idle: list[_Minder] = []  # the one that became so last is taken first: those that are too many retire
        self._keys: dict[str, Key] = {}  # by provider
        self._closed = False

    def warm(self) -> None:
        """Begins the fork server now: what a provider's package takes to load, the first call need not wait for."""
        with suppress(WorkerFailed):  # which that call is told, too
            self._server_there()

    def keep(self, keys: tuple[Key, ...]) -> bool:
        with self._lock:
            new = [key for key in keys if _is_news(key, self._keys.get(key.provider))]
            self._keys.update((key.provider, key) for key in new)
        return bool(new)

    def start(self, call: int, request: Request | TurnRequest, heard: Heard) -> None:
        with self._lock:
            assert not self._closed, "the workers have gone"
            assert call not in self._calls, f"call {call} runs"
            minder = self._idle.pop() if self._idle else self._new_minder()
            if minder is not None:
                begun = self._calls[call] = _Call(
                    Order(call, request, self._keys.get(provider_of(request.model))), heard, minder
                )
                minder.calls.put(begun)
        if minder is None:
            heard(Broke("no thread could be started for a worker"))

    def stop(self, call: int) -> None:
        with self._lock:
            begun = self._calls.pop(call, None)
        if begun is not None:
            begun.stop()

    def close(self) -> None:
        """Stops all calls, and ends all processes and threads. A second time does nothing."""
        with self._lock:
            self._closed = True
            calls, minders = list(self._calls.values()), list(self._minders)
            self._calls.clear()
            server, self._server = self._server, None
        for call in calls:
            call.stop()
        for minder in minders:
            minder.calls.put(None)
        if server is not None:
            server.close()
        for minder in minders:
            minder.thread.join()

    def _new_minder(self) -> "_Minder | None":
        """One that has begun; None where the system has no room for another thread."""
        minder = _Minder(self, self._idle_s)
        try:
            minder.thread.start()
        except RuntimeError:
            return None
        self._minders.add(minder)
        return minder

    # --- for the minders ---

    def fork(self) -> Forked:
        """A new worker, of a new fork server where the one that was has died. WorkerFailed."""
        failed: WorkerFailed | None = None
        for _ in range(WORKER_STARTS_MAX):
            server = self._server_there()
            try:
                return server.fork(self._start_s)
            except WorkerFailed as error:
                failed = error
                self._drop(server)
        assert failed is not None
        raise failed

    def _server_there(self) -> ForkServer:
        with self._lock:
            if self._closed:
                raise WorkerFailed("the workers have gone")
            if self._server is None:
                try:
                    self._server = ForkServer(self._models)
                except OSError as error:
                    raise WorkerFailed(f"no fork server could be started: {error}") from error
            return self._server

    def _drop(self, server: ForkServer) -> None:
        """Ends a server that gave no worker, unless somebody did already."""
        with self._lock:
            if self._server is not server:
                return
            self._server = None
        server.close()

    def ended(self, call: "_Call", *, minder_is_free: bool) -> None:
        """A call has ended by itself: its slot is free, and so is its minder."""
        with self._lock:
            self._calls.pop(call.order.call, None)
            if minder_is_free and not self._closed:
                self._idle.append(call.minder)

    def retires(self, minder: "_Minder") -> bool:
        """Whether a minder that nobody needed for a while may go: not when it was just taken."""
        with self._lock:
            if minder not in self._idle:
                return False
            self._idle.remove(minder)
            return True

    def gone(self, minder: "_Minder") -> None:
        with self._lock:
            self._minders.discard(minder)


class _Call:
    """A call that is under way until its end is told or it is stopped, whichever comes first."""

    def __init__(self, order: Order, heard: Heard, minder: "_Minder") -> None:
        self.order = order
        self.minder = minder
        self.over = False
        self._heard = heard
        self._lock = threading.RLock()  # what is told may stop the call

    def tell(self, event: CallEvent) -> None:
        with self._lock:
            if not self.over:
                self._heard(event)

    def end(self, event: CallEvent, ended: Callable[[], None]) -> bool:
        """Tells its end, once `ended` has made room for what comes next. False where it was stopped before."""
        with self._lock:
            if self.over:
                return False
            self.over = True
            ended()
            self._heard(event)
            return True

    def stop(self) -> None:
        with self._lock:
            if not self.over:
                self.over = True
                self.minder.kill()


class _Minder:
    """A thread that minds a worker process."""

    def __init__(self, workers: ProcessWorkers, idle_s: float) -> None:
        self.calls: SimpleQueue[_Call | None] = SimpleQueue()  # None: there will be no more
        self.thread = threading.Thread(target=self._run, name="worker", daemon=True)
        self._workers = workers
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._process: WorkerProcess | None = None
        self._killed = False

    def kill(self) -> None:
        """Ends the process, also one that is about to start. The minder takes no more calls."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def _run(self) -> None:
        try:
            while (call := self._next()) is not None:
                if not self._serve(call):
                    break
        finally:
            if self._process is not None:
                self._process.close()
            self._workers.gone(self)

    def _next(self) -> "_Call | None":
        try:
            return self.calls.get(timeout=self._idle_s)
        except Empty:
            return None if self._workers.retires(self) else self.calls.get()

    def _serve(self, call: "_Call") -> bool:
        """Makes a call. Whether the process can make another."""
        try:
            process = self._ready()
            process.order(call.order)
            while isinstance(event := process.hear(call.order), Responding | Delta):
                call.tell(event)
        except WorkerFailed as failed:
            return self._broke(call, str(failed))
        except Exception as error:  # noqa: BLE001, whatever it is: a slot that nobody frees would be lost
            return self._broke(call, f"{type(error).__name__}: {error}")
        return call.end(event, lambda: self._workers.ended(call, minder_is_free=True))

    def _broke(self, call: "_Call", why: str) -> bool:
        """The process is not to be used again."""
        call.end(Broke(why), lambda: self._workers.ended(call, minder_is_free=False))
        return False

    def _ready(self) -> WorkerProcess:
        """The process, or a new one where there is none, or it has ended while it was idle. WorkerFailed."""
        if self._process is not None and self._process.is_ready():
            return self._process
        process = WorkerProcess(self._workers.fork())
        with self._lock:
            if self._process is not None:
                self._process.close()
            self._process = process
            if self._killed:
                process.kill()
        return process


def _is_news(key: Key, known: Key | None) -> bool:
    """A client that knows the address alone, as one that a timer runs, takes nobody's key away."""
    if known is None or key.value or key.base_url != known.base_url:
        return key != known
    return False
