"""One actor in its real host, on either runtime: a message in, what it did out.

A test module that asks for `both_runtimes` runs each of its tests twice, on a thread and in the simulator, where every
message is encoded and decoded on its way. Rigs made meanwhile are of the runtime whose turn it is; when the test is
over, it is asserted that they really were, and that something was done there.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import pytest

from eukhe.actors.behaviour import (
    AskModel,
    Behaviour,
    CancelTimer,
    Dial,
    Drop,
    Effect,
    Grant,
    Hang,
    KeepKeys,
    LeaveModel,
    Listen,
    Order,
    Persist,
    Replace,
    Send,
    SetTimer,
    StartActor,
    StartCall,
    StartTool,
    StopActor,
    StopCall,
    StopTool,
    Tell,
    Unlisten,
)
from eukhe.actors.host import Host
from eukhe.actors.messages import Msg
from eukhe.actors.ports import (
    CallEvent,
    Clock,
    Disk,
    Key,
    Outside,
    OwnerEvent,
    Request,
    SocketEvent,
    ToolEvent,
    TurnRequest,
)
from eukhe.actors.threads import ThreadHost
from eukhe.actors.wire import decode, encode
from eukhe.limits import EDGE_WAIT_S
from eukhe.sim.clock import SimClock
from eukhe.sim.disk import SimDisk
from eukhe.sim.runtime import SimHost, hosts_of
from eukhe.sim.scheduler import Scheduler

B = TypeVar("B", bound=Behaviour)
RUNTIMES = ("threads", "sim")


class Rig(Generic[B]):
    """`make`: the behaviour. Its disk is read and written; all else that it does is only taken down."""

    def __init__(
        self,
        make: Callable[[], B],
        *,
        name: str = "it",
        disk: Disk | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.runtime = _runtimes[-1]
        self.clock = clock or SimClock()
        self.did = Did(disk or SimDisk(), self.clock, self.runtime.way)
        self._make = make
        self._made: B | None = None
        self._threads: list[int] = []  # on which it took each of its messages
        self._scheduler = Scheduler(1, SimClock())
        host: type[Host] = ThreadHost if self.runtime.name == "threads" else hosts_of(self._scheduler)
        self._actor = host.start(name, lambda: _Seen(self), self.did)
        self.runtime.rigs.append(self)

    @property
    def behaviour(self) -> B:
        """The actor's own; made by its first message."""
        assert self._made is not None
        return self._made

    def receive(self, message: Msg, now: float | None = None) -> list[Effect]:
        """What it does about a message. `now`: the clock shows so many seconds then. Raises what the actor raised."""
        if now is not None:
            assert isinstance(self.clock, SimClock)
            self.clock.advance_to(now)
        before = len(self.did.effects)
        handled = self._actor.ask(self.runtime.way(message), block=False)
        handled.get(timeout=EDGE_WAIT_S)
        self._scheduler.run()  # in the simulator each effect is a step of its own
        return self.did.effects[before:]

    def tell(self, message: Msg) -> None:
        """Told as actors tell each other: what it raises is the supervisor's to hear."""
        self._actor.tell(self.runtime.way(message))
        self._scheduler.run()

    def taken(self, behaviour: B, message: Msg, now: float) -> Sequence[Effect]:
        self._threads.append(threading.get_ident())
        return behaviour.receive(message, now)

    def make(self) -> B:
        self._made = self._make()
        return self._made

    def close(self) -> int:
        """Stops it. How many messages it took, all of them where it should have."""
        self._actor.stop()
        here = threading.get_ident()
        if self.runtime.name == "threads":
            assert issubclass(self._actor.actor_class, ThreadHost)
            assert here not in self._threads
            assert len(set(self._threads)) <= 1
        else:
            assert issubclass(self._actor.actor_class, SimHost)
            assert set(self._threads) <= {here}
        return len(self._threads)


class _Seen:
    """A behaviour that says on which thread it takes its messages."""

    def __init__(self, rig: Rig[Any]) -> None:
        self._rig = rig
        self._behaviour = rig.make()

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        return self._rig.taken(self._behaviour, message, now)


class Did:
    """The system of one actor: all it asks for is in `effects`, in order. `way`: what becomes of a message sent."""

    def __init__(self, disk: Disk, clock: Clock, way: Callable[[Msg], Msg]) -> None:
        self.effects: list[Effect] = []
        self.clock = clock
        self.disk = _Disk(disk, self.effects)
        self.workers = _Workers(self.effects)
        self.sockets = _Sockets(self.effects)
        self.outside = Outside(_Models(self.effects), _Tools(self.effects), _Owner(self.effects))
        self._way = way

    def tell(self, to: str, message: Msg) -> None:
        self.effects.append(Tell(to, self._way(message)))

    def start(self, name: str) -> None:
        self.effects.append(StartActor(name))

    def stop(self, name: str) -> None:
        self.effects.append(StopActor(name))

    def set_timer(self, owner: str, name: str, after_s: float, message: Msg) -> None:
        self.effects.append(SetTimer(name, after_s, message))

    def cancel_timer(self, owner: str, name: str) -> None:
        self.effects.append(CancelTimer(name))


class _Disk:
    """A disk whose writes are taken down, and done."""

    def __init__(self, disk: Disk, effects: list[Effect]) -> None:
        self._disk = disk
        self._effects = effects
        self.names, self.length, self.read = disk.names, disk.length, disk.read

    def append(self, path: str, data: bytes) -> None:
        self._effects.append(Persist(path, data))
        self._disk.append(path, data)

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        self._effects.append(Replace(path, data, sync))
        self._disk.replace(path, data, sync)


class _Workers:
    def __init__(self, effects: list[Effect]) -> None:
        self._effects = effects

    def start(self, call: int, request: Request, heard: Callable[[CallEvent], None]) -> None:
        self._effects.append(StartCall(call, request))

    def stop(self, call: int) -> None:
        self._effects.append(StopCall(call))

    def keep(self, keys: tuple[Key, ...]) -> bool:
        self._effects.append(KeepKeys(keys))
        return False


class _Models:
    def __init__(self, effects: list[Effect]) -> None:
        self._effects = effects

    def start(self, call: int, request: TurnRequest, heard: Callable[[CallEvent], None]) -> None:
        self._effects.append(AskModel(call, request))

    def stop(self, call: int) -> None:
        self._effects.append(LeaveModel(call))


class _Tools:
    def __init__(self, effects: list[Effect]) -> None:
        self._effects = effects

    def start(self, call: int, name: str, input_: str, heard: Callable[[ToolEvent], None]) -> None:
        self._effects.append(StartTool(call, name, input_))

    def stop(self, call: int) -> None:
        self._effects.append(StopTool(call))


class _Owner:
    def __init__(self, effects: list[Effect]) -> None:
        self._effects = effects

    def open(self, heard: Callable[[OwnerEvent], None]) -> None:
        self._effects.append(Dial())

    def send(self, to: str, data: bytes) -> None:
        self._effects.append(Order(to, decode(data)))

    def close(self) -> None:
        self._effects.append(Hang())


class _Sockets:
    def __init__(self, effects: list[Effect]) -> None:
        self._effects = effects

    def listen(self, heard: Callable[[SocketEvent], None]) -> None:
        self._effects.append(Listen())

    def send(self, client: int, data: bytes) -> None:
        self._effects.append(Send(client, decode(data)))

    def grant(self, client: int, bytes_: int) -> None:
        self._effects.append(Grant(client, bytes_))

    def drop(self, client: int) -> None:
        self._effects.append(Drop(client))

    def close(self) -> None:
        self._effects.append(Unlisten())


class Runtime:
    """`name`: one of `RUNTIMES`. `rigs`: those that are up; `handled`: how many messages were taken."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rigs: list[Rig[Any]] = []
        self.handled = 0

    def way(self, message: Msg) -> Msg:
        """A message as it arrives."""
        return decode(encode(message)) if self.name == "sim" else message

    def close(self, left: int = 0) -> None:
        """Closes all rigs but the first `left`."""
        while len(self.rigs) > left:
            self.handled += self.rigs.pop().close()


_runtimes: list[Runtime] = []


@pytest.fixture(params=RUNTIMES)
def both_runtimes(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    """The test's runtime, once each."""
    with on(request.param) as runtime:
        yield runtime


@contextmanager
def on(name: str) -> Iterator[Runtime]:
    """Rigs made within are of this runtime."""
    runtime = Runtime(name)
    _runtimes.append(runtime)
    try:
        yield runtime
    finally:
        _runtimes.pop()
        runtime.close()
    assert runtime.handled, f"nothing was done on {name}"


@contextmanager
def example() -> Iterator[None]:
    """Rigs made within are closed at its end, as after each example of a Hypothesis test."""
    runtime = _runtimes[-1]
    left = len(runtime.rigs)
    try:
        yield
    finally:
        runtime.close(left)


def told(effects: Iterable[Effect], to: str) -> list[Msg]:
    """What an actor was told, in order."""
    return [effect.message for effect in effects if isinstance(effect, Tell) and effect.to == to]
