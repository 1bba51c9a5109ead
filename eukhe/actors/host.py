"""The host: a pykka actor that runs a behaviour and performs its effects.

What pykka adds is the mailbox and the loop; on which threads, or none, a runtime says. The host is the same on each.
"""

import traceback
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final, Protocol

import pykka

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
    OutsideEffect,
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
from eukhe.actors.messages import (
    AgentSaid,
    Append,
    CallHeard,
    Crashed,
    Failed,
    Feed,
    FeedCheckpoint,
    Msg,
    OwnerHeard,
    ReadView,
    Resume,
    SaveCheckpoint,
    SaveView,
    Seen,
    SocketHeard,
    Source,
    ToolHeard,
    ViewTaken,
    ViewTexts,
)
from eukhe.actors.ports import (
    CallEvent,
    Clock,
    Disk,
    Outside,
    OwnerEvent,
    SocketEvent,
    Sockets,
    ToolEvent,
    Workers,
)
from eukhe.actors.supervisor import NAME as SUPERVISOR
from eukhe.actors.wire import encode
from eukhe.errors import IndexFailed, StoreError
from eukhe.limits import CRASH_MESSAGE_CHARS_MAX, CRASH_MESSAGES


class System(Protocol):
    """Where an actor lives: the ports, and the other actors by their names."""

    disk: Disk
    clock: Clock
    workers: Workers
    sockets: Sockets
    outside: Outside | None

    def tell(self, to: str, message: Msg) -> None: ...

    def start(self, name: str) -> None: ...

    def stop(self, name: str) -> None: ...

    def set_timer(self, owner: str, name: str, after_s: float, message: Msg) -> None: ...

    def cancel_timer(self, owner: str, name: str) -> None: ...


class Host(pykka.Actor):
    """An actor named `name`. Its behaviour is made when it starts, on its own thread where it has one."""

    def __init__(self, name: str, make: Callable[[], Behaviour], system: System) -> None:
        super().__init__()
        self.name = name
        self.make = make
        self.system = system
        self.behaviour: Behaviour | None = None
        self.recent: deque[Msg | str] = deque(maxlen=CRASH_MESSAGES)

    def on_receive(self, message: Any) -> None:
        try:
            for effect in self.decide(message):
                self.perform(effect)
        except (StoreError, IndexFailed) as error:  # the world's: no bug of the behaviour's
            for effect in self.decide(Failed(str(error))):
                self.perform(effect)

    def decide(self, message: Msg) -> Sequence[Effect]:
        """The effects of a message, to be performed in their order; a failed one ends them, and `Failed` comes next."""
        if self.recent and (kind := type(self.recent[-1])) in _LARGE:
            self.recent[-1] = f"{kind.__name__}(…)"
        self.recent.append(message)
        if self.behaviour is None:
            self.behaviour = self.make()
        return self.behaviour.receive(message, self.system.clock.monotonic_s())

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        del exception_type, traceback
        assert exception_value is not None
        self.system.tell(SUPERVISOR, Crashed(self.name, _told(exception_value, self.recent)))

    def perform(self, effect: Effect) -> None:
        system = self.system
        match effect:
            case Tell(to, message):
                system.tell(to, message)
            case Persist(path, data):
                system.disk.append(path, data)
            case Replace(path, data, sync):
                system.disk.replace(path, data, sync)
            case SetTimer(name, after_s, message):
                system.set_timer(self.name, name, after_s, message)
            case CancelTimer(name):
                system.cancel_timer(self.name, name)
            case StartCall(call, request):
                system.workers.start(call, request, self._heard_of_call(call))
            case StopCall(call):
                system.workers.stop(call)
            case Listen():
                system.sockets.listen(self._heard_of_sockets)
            case Send(client, message):
                system.sockets.send(client, encode(message))
            case Grant(client, bytes_):
                system.sockets.grant(client, bytes_)
            case Drop(client):
                system.sockets.drop(client)
            case Unlisten():
                system.sockets.close()
            case KeepKeys(keys):
                if system.workers.keep(keys):
                    system.tell("planner", Resume(changed=True))
            case AskModel() | LeaveModel() | StartTool() | StopTool() | Dial() | Order() | Hang():
                assert system.outside is not None, f"an owner's actor wants {effect}"
                self.perform_outside(effect, system.outside)
            case StartActor(name):
                system.start(name)
            case StopActor(name):
                system.stop(name)

    def perform_outside(self, effect: OutsideEffect, outside: Outside) -> None:
        match effect:
            case AskModel(call, request):
                outside.models.start(call, request, self._heard_of_call(call))
            case LeaveModel(call):
                outside.models.stop(call)
            case StartTool(call, name, input_):
                outside.tools.start(call, name, input_, self._heard_of_tool(call))
            case StopTool(call):
                outside.tools.stop(call)
            case Dial():
                outside.owner.open(self._heard_of_owner)
            case Order(to, message):
                outside.owner.send(to, encode(message))
            case Hang():
                outside.owner.close()

    def _heard_of_call(self, call: int) -> Callable[[CallEvent], None]:
        return lambda event: self.system.tell(self.name, CallHeard(call, event))

    def _heard_of_tool(self, call: int) -> Callable[[ToolEvent], None]:
        return lambda event: self.system.tell(self.name, ToolHeard(call, event))

    def _heard_of_owner(self, event: OwnerEvent) -> None:
        self.system.tell(self.name, OwnerHeard(event))

    def _heard_of_sockets(self, event: SocketEvent) -> None:
        self.system.tell(self.name, SocketHeard(event))


_LARGE: Final = frozenset(
    (
        AgentSaid,
        Append,
        Feed,
        FeedCheckpoint,
        OwnerHeard,
        ReadView,
        SaveCheckpoint,
        SaveView,
        Seen,
        SocketHeard,
        Source,
        ToolHeard,
        ViewTaken,
        ViewTexts,
    )
)
"""Messages that may be large. Of those before the last no more is kept than that they came."""


def _told(error: BaseException, recent: Sequence[Msg | str]) -> str:
    """A crash as owner.log has it: the traceback, then the last messages, oldest first."""
    trace = "".join(traceback.format_exception(error))
    messages = "\n".join(f"  {message}"[:CRASH_MESSAGE_CHARS_MAX] for message in recent)
    return f"{type(error).__name__}: {error}\n{trace}last messages:\n{messages}"
