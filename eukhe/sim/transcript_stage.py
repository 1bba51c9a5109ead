"""The machine of a transcript: one owner, its clients, and a world that does nothing unless a command says so.

Time stands, calls run on, the disk keeps what it is given. After each command all that can go on without time goes on.
"""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, NamedTuple, TypeVar

from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import AskStatus, Msg, StartBuild, Status, ViewTaken
from eukhe.actors.opening import Opened, open_chat
from eukhe.actors.outbox import Outbox
from eukhe.actors.ports import CallEvent, Key, Request, Responding
from eukhe.actors.wire import decode, encode
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.part import Part
from eukhe.model.scan import Problem
from eukhe.sim.clock import SimClock
from eukhe.sim.disk import Crash, SimDisk
from eukhe.sim.index import IndexFile, SimIndex
from eukhe.sim.lock import SimLock
from eukhe.sim.provider import MODEL
from eukhe.sim.runtime import SimSystem
from eukhe.sim.scheduler import Scheduler, Timer
from eukhe.sim.transcript_words import OPERATIONS, Unsynced
from eukhe.sim.workers import Heard

T = TypeVar("T")
SCRIPT: Final = "script"
_JSON: Final = re.compile("no JSON: [^;]*")


class StandingScheduler(Scheduler):
    """Time stands but for what `pass_time` lets go by; a timer goes off when all that came before it is done."""

    def __init__(self, seed: int, clock: SimClock) -> None:
        super().__init__(seed, clock)
        self._until_s = 0.0

    def pass_time(self, by_s: float) -> None:
        self._until_s = self.clock.monotonic_s() + by_s
        self.run()
        self.clock.advance_to(self._until_s)

    def due_s(self, timer: Timer) -> float | None:
        """When a timer goes off."""
        number, _ = self._timers.get(timer, (None, None))
        return next((due_s for due_s, other, _ in self._due if other == number), None)

    def _timer(self, *, early: bool) -> Timer | None:
        timer = None if early else super()._timer(early=False)
        return timer if timer is not None and self._due[0][0] <= self._until_s else None


class LoadedDice(Random):
    """Dice that fall as a command says: what was not synced is kept, dropped, or torn in its middle."""

    def __init__(self, fall: Unsynced) -> None:
        super().__init__(0)
        self._fall = fall

    def randint(self, a: int, b: int) -> int:
        return {"keep": b, "drop": a, "tear": (a + b) // 2}[self._fall]

    def choice(self, seq: Sequence[T]) -> T:  # type: ignore[override]  # of a disk's outcomes alone
        torn = -1 if len(seq) > 2 else 0  # a name is never torn
        return seq[{"keep": 0, "drop": 1, "tear": torn}[self._fall]]


class StagedDisk(SimDisk):
    """A disk one of whose next operations, named beforehand, fails, or is the owner's last."""

    def __init__(self) -> None:
        super().__init__()
        self._armed: tuple[str, int, bool] | None = None

    def arm(self, operation: str, *, crashes: bool) -> None:
        """`operation`: one of `OPERATIONS`."""
        self._armed = (*OPERATIONS[operation], crashes)

    def append(self, path: str, data: bytes) -> None:
        self._aim(path)
        super().append(path, data)

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        self._aim(path)
        super().replace(path, data, sync)

    def _aim(self, path: str) -> None:
        if self._armed is None or not path.startswith(self._armed[0]):
            return
        _, number, crashes = self._armed
        self._armed = None
        if crashes:
            self.crash_at = self.operations + number
        else:
            self.fail_at = self.operations + number


class Call(NamedTuple):
    """A model call. `order` is the number by which the planner ordered its line."""

    order: int
    request: Request
    heard: Heard


class HeldCalls:
    """Implements `Workers`: calls that are heard of when a command says so.

    `running`, `past`: by the worker's number. `begun`: calls since it was last emptied. `orders`: by node, the
    planner's last order to build it.
    """

    def __init__(self) -> None:
        self.running: dict[int, Call] = {}
        self.past: list[Call] = []
        self.begun: list[Call] = []
        self.orders: dict[Part, StartBuild] = {}
        self._responded: set[int] = set()

    def start(self, call: int, request: Request, heard: Heard) -> None:
        self.running[call] = Call(self.orders[request.part].call, request, heard)
        self.begun.append(self.running[call])

    def stop(self, call: int) -> None:
        if call in self.running:
            self.past.append(self.running.pop(call))

    def keep(self, keys: tuple[Key, ...]) -> bool:
        """A held call wants none."""
        del keys
        return False

    def of(self, part: Part) -> int | None:
        """The running call for a node."""
        return next((call for call, held in self.running.items() if held.request.part == part), None)

    def in_order(self) -> list[int]:
        """The running calls, as they were ordered."""
        return sorted(self.running, key=lambda call: self.running[call].order)

    def responds(self, call: int) -> None:
        """Its response begins, which is heard once."""
        if call not in self._responded:
            self._responded.add(call)
            self.running[call].heard(Responding())

    def ends(self, call: int, event: CallEvent) -> None:
        held = self.running.pop(call)
        self.past.append(held)
        held.heard(event)


class StagedSystem(SimSystem):
    """The owner, and what it tells the clients it is asked by."""

    clients: "dict[str, Client]"

    def tell(self, to: str, message: Msg) -> None:
        if to in self.clients:
            self.clients[to].hear(decode(encode(message)))
        else:
            super().tell(to, message)


class Client:
    """Who asks the owner. `heard`: answers since it was last emptied. `wait`, `view`: its last wait's ticket, and view.

    `process`: the how many-th of its name it is, which no key may forget.
    """

    def __init__(self, name: str, process: int = 1) -> None:
        self.name = name
        self.process = process
        self.outbox = Outbox(name if process == 1 else f"{name}-{process}")
        self.wait: int | None = None
        self.view: ViewTaken | None = None
        self.heard: list[Msg] = []

    def hear(self, answer: Msg) -> None:
        """An answer that is awaited no more, since it was given before or given up, is not heard."""
        if self.outbox.answered(answer):
            self.heard.append(answer)
        if isinstance(answer, ViewTaken):
            self.view = answer


class Script(Client):
    """Who asks where a command names no client. It has no keys, sends nothing again, and hears all."""

    def hear(self, answer: Msg) -> None:
        self.heard.append(answer)


class Stage:
    """`disk`, `index`, `clock`, `lock` outlive owners. `opened`: what the owner began with, its chat goes on living.

    `sent`: messages sent so far. `told`, `said`: messages between actors, and what else there is to say, since they
    were last emptied. `paused`: the outage that was shown last. `line_bytes`: of a reply that is not given.
    """

    def __init__(self, seed: int, limits: ChatLimits, line_bytes: int | None = None) -> None:
        self.limits = limits
        self.line_bytes = line_bytes
        self.clock = SimClock()
        self.scheduler = StandingScheduler(seed, self.clock)
        self.disk = StagedDisk()
        self.index = IndexFile()
        self.lock = SimLock()
        self.calls = HeldCalls()
        self.clients: dict[str, Client] = {SCRIPT: Script(SCRIPT)}
        self.system: StagedSystem | None = None
        self.opened: Opened | None = None
        self.sent = 0
        self.told: list[Msg] = []
        self.said: list[str] = []
        self.paused: str | None = None
        self._at_crash: Callable[[], None] = self.kill

    @property
    def chat(self) -> Chat:
        """The owner's."""
        assert self.opened is not None
        return self.opened.chat

    def client(self, name: str) -> Client:
        return self.clients.setdefault(name, Client(name))

    def forget_clients(self) -> None:
        """They end; others of their names may come."""
        for name, client in self.clients.items():
            if name != SCRIPT:
                self.clients[name] = Client(name, client.process + 1)

    def start(self, pid: int = 1) -> bool:
        """An owner opens the chat, and begins. False where another one holds the lock."""
        if not self.lock.take(pid):
            return False
        index = SimIndex(self.index)
        try:
            opened = self.opened = open_chat(self.disk, index, self.limits, owner=True)
        except Crash:
            self._crashed()
            return True
        self.said.append(f"an owner of {opened.chat.t} messages")
        self.said += map(told_problem, opened.problems)
        if opened.damage is not None:
            self.said.append(f"only read: {opened.damage}")
        makers = owner_makers(opened, self.disk, self.clock, index, SimIndex(self.index), MODEL)
        self.system = StagedSystem(makers, self.disk, self.clock, self.calls, self.scheduler, watch=self._watch)
        self.system.clients = self.clients
        self.moves(self.system.begin)
        return True

    def tell(self, to: str, order: Msg) -> None:
        """Something is asked of the owner."""
        assert self.system is not None
        self.system.tell(to, order)

    def status(self) -> Status:
        """The planner's."""
        assert self.system is not None
        status = self.system.ask("planner", AskStatus)
        assert isinstance(status, Status)
        return status

    def quiet(self) -> None:
        """All goes on that can, at this moment."""
        self.moves(self.scheduler.run)

    def moves(self, doing: Callable[[], None]) -> None:
        """Does something in which the owner may be killed."""
        try:
            doing()
        except Crash:
            self._crashed()

    def dies_at(self, operation: str, end: Callable[[str], None]) -> None:
        """`end` comes in the midst of an operation of the disk, when there is one."""
        self.disk.arm(operation, crashes=True)
        self._at_crash = lambda: end(f" at its {operation}")

    def kill(self, unsynced: Unsynced = "drop", where: str = "") -> None:
        """The owner's process is killed. Of a write under way its beginning stays, or all, or nothing."""
        self._gone(f"the owner is killed{where}")
        self.disk.kill(LoadedDice(unsynced))

    def lose_power(self, unsynced: Unsynced, where: str = "") -> None:
        self._gone(f"the power goes{where}")
        self.disk.lose_power(LoadedDice(unsynced))
        self.index.lose_power(LoadedDice(unsynced))

    def end(self) -> None:
        """The owner finishes, and leaves."""
        assert self.system is not None
        self.moves(self.system.end)
        if self.system is not None:
            self._gone("the owner ends")
            self.disk.ends()

    def _gone(self, how: str) -> None:
        self.said.append(how)
        if self.system is not None:
            self.system.crash()
            self.system = None
        if self.lock.holder is not None:
            self.lock.release(self.lock.holder)
        self.opened = self.paused = None
        self.calls = HeldCalls()

    def _crashed(self) -> None:
        end, self._at_crash = self._at_crash, self.kill
        end()

    def _watch(self, to: str, message: Msg) -> None:
        del to
        self.told.append(message)
        if isinstance(message, StartBuild):
            self.calls.orders[message.part] = message


def told_problem(problem: Problem) -> str:
    """Without a JSON reader's own words, which are no one else's."""
    return f"{problem.file}:{problem.line}: {_JSON.sub('no JSON', problem.what)}"
