"""A client on either runtime, with an owner, a model and tools that do what a test says, and the edge's ear.

with client(runtime, model=[says("done")]) as it:
    it.say("do it")
    it.over().reply
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from eukhe.actors.behaviour import EDGE
from eukhe.actors.courier import NAME as COURIER
from eukhe.actors.courier import Courier
from eukhe.actors.messages import (
    AgentLogged,
    AgentNamed,
    AgentSaid,
    Append,
    AppendDone,
    AskStatus,
    AskTexts,
    Attend,
    BeginAgent,
    CallOver,
    CallResponded,
    CallSent,
    Counted,
    EnterPrefix,
    Entry,
    Logging,
    Look,
    Msg,
    Ping,
    Pong,
    PrefixOpen,
    ReadView,
    Say,
    Seen,
    Status,
    StopTurn,
    TextsInForce,
    TurnOver,
    ViewTaken,
    ViewTexts,
    Wait,
)
from eukhe.actors.ports import (
    Broke,
    CallEvent,
    Delta,
    NoDisk,
    NoWorkers,
    Outage,
    Outside,
    OwnerEvent,
    OwnerFound,
    OwnerLost,
    OwnerSaid,
    Replied,
    Responding,
    ToolEnded,
    ToolEvent,
    TurnRequest,
)
from eukhe.actors.threads import Threads
from eukhe.actors.turn import NAME as TURN
from eukhe.actors.turn import Turn
from eukhe.actors.turn_desk import Desk, Mind
from eukhe.actors.wire import decode, encode
from eukhe.model.part import Part
from eukhe.model.permission import Policy
from eukhe.model.prompt import texts
from eukhe.model.secrets import Secrets
from eukhe.model.talk import Reply, Text, Usage, Use
from eukhe.model.tool_input import Edit, Write
from eukhe.sim.clock import SimClock
from eukhe.sim.runtime import SimSystem
from eukhe.sim.scheduler import Scheduler
from tests.actor_kit import Runtime
from tests.leaks import comes_true

WAIT_S = 30.0
USAGE = Usage(input=10, output=5, cache_read=100, cache_write=20)
Answer = Sequence[CallEvent]
T = TypeVar("T")
PNG = b"\x89PNG\r\n\x1a\n..."


def says(text: str, *uses: Use, thinks: str = "") -> Answer:
    """A whole reply: text, then the tools that it wants."""
    reply = Reply((*([Text(text)] if text else []), *uses), "tools" if uses else "end")
    return (Responding(USAGE), *([Delta("text", text)] if text else []), Replied(text or None, reply, USAGE))


def use(name: str, given: str = "{}", id_: str = "u1") -> Use:
    return Use(id_, name, given)


class Owner:
    """Implements `OwnerLink`: an owner that answers at once, unless a kind of order is in `silent`.

    `log`: what was appended, each key once; `agents`: by name; `orders`: all that came, each with its actor.
    """

    def __init__(self) -> None:
        self.log: list[Entry] = []
        self.keys: dict[str, int] = {}
        self.agents: dict[str, list[Entry]] = {}
        self.orders: list[tuple[str, Msg]] = []
        self.silent: set[type[Msg]] = set()
        self.answers: dict[type[Msg], Callable[[Any], Msg | None]] = {}
        self.view = ViewTaken(0, 2, (Part(0, 0), Part(0, 1)), (), None)
        self.pid = 0
        self.accepted = False
        self.heard: Callable[[OwnerEvent], None] = lambda event: None

    def open(self, heard: Callable[[OwnerEvent], None]) -> None:
        self.heard = heard
        if self.pid:
            self.accepted = True
        else:
            self.pid = 1
            heard(OwnerFound(1))

    def send(self, to: str, data: bytes) -> None:
        order = decode(data)
        if not self.accepted:
            return
        self.orders.append((to, order))
        if type(order) in self.silent:
            return
        answer = self.answers.get(type(order), self.answer)(order)
        if answer is not None:
            self.heard(OwnerSaid(encode(answer)))

    def close(self) -> None:
        self.accepted = False

    def dies(self, *, next_one: bool = True) -> None:
        """It is gone, and another is there, or none."""
        self.accepted = False
        self.pid = self.pid + 1 if next_one else 0
        self.heard(OwnerFound(self.pid) if next_one else OwnerLost("no owner can be had"))

    def given(self, kind: type[Msg]) -> list[Any]:
        return [order for _, order in self.orders if isinstance(order, kind)]

    def answer(self, order: Msg) -> Msg | None:
        match order:
            case Wait(_, ticket):
                return ViewTaken(ticket, *(getattr(self.view, name) for name in self.view.__struct_fields__[1:]))
            case ReadView(lines, _, _, ticket):
                return ViewTexts(ticket, tuple(f"line {part.name}" for part in lines))
            case AskTexts(_, ticket):
                return TextsInForce(ticket, texts())
            case Append(entries, _, ticket):
                return AppendDone(ticket, tuple(map(self.logged, entries)))
            case EnterPrefix(_, _, ticket):
                return PrefixOpen(ticket)
            case CallSent(ticket=ticket) | CallResponded(ticket=ticket) | CallOver(ticket=ticket):
                return Counted(ticket)
            case Look(what, _, ticket):
                return Seen(ticket, f"seen {what}")
            case AskStatus(_, ticket):
                return Status(ticket, 2, 2, 2, 100, 1, 1, 0, 1, 0, False, None, None)
            case BeginAgent(wanted, _, _, ticket):
                name = wanted if wanted not in self.agents else f"{wanted}-{len(self.agents) + 1}"
                self.agents[name] = []
                return AgentNamed(ticket, name)
            case AgentSaid(name, entries, _, ticket):
                self.agents[name] += [entry for entry in entries if entry not in self.agents[name]]
                return AgentLogged(ticket)
            case Attend():
                return None
        return None

    def logged(self, entry: Entry) -> Logging:
        assert entry.key is not None
        if entry.key in self.keys:
            return Logging(self.keys[entry.key], 1, 0)
        at = self.keys[entry.key] = self.view.t + len(self.log)
        self.log.append(entry)
        return Logging(at, 1, 1)

    @property
    def said(self) -> list[tuple[str, str]]:
        """What was appended, by kind and text."""
        return [(entry.kind, entry.text) for entry in self.log]


class Model:
    """Implements `Models`: each call is answered by the next of `answers`; a call beyond them stays without one."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers = list(answers)
        self.requests: list[TurnRequest] = []
        self.running: dict[int, Callable[[CallEvent], None]] = {}
        self.stopped: list[int] = []
        self.by_task: dict[str, list[Answer]] = {}  # for calls whose talk has this text

    def start(self, call: int, request: TurnRequest, heard: Callable[[CallEvent], None]) -> None:
        self.requests.append(request)
        self.running[call] = heard
        for event in self._next(request):
            heard(event)
            if isinstance(event, Replied | Broke | Outage):
                self.running.pop(call, None)

    def _next(self, request: TurnRequest) -> Answer:
        for task, answers in self.by_task.items():
            if any(task in block.text for block in request.talk.speeches[0].blocks if isinstance(block, Text)):
                return answers.pop(0) if answers else ()
        return self.answers.pop(0) if self.answers else ()

    def stop(self, call: int) -> None:
        self.running.pop(call, None)
        self.stopped.append(call)


class Tools:
    """Implements `Tools`: each run of a tool is answered by the next of its events; one beyond them goes on."""

    def __init__(self, **answers: Sequence[Sequence[ToolEvent]]) -> None:
        self.answers = {name: list(given) for name, given in answers.items()}
        self.runs: list[tuple[str, str]] = []
        self.running: dict[int, Callable[[ToolEvent], None]] = {}
        self.stopped: list[int] = []
        self.before: Callable[[], None] = lambda: None  # what a test looks at when one begins

    def start(self, call: int, name: str, input_: str, heard: Callable[[ToolEvent], None]) -> None:
        self.before()
        self.runs.append((name, input_))
        self.running[call] = heard
        answers = self.answers.get(name, [])
        for event in answers.pop(0) if answers else ():
            heard(event)
            if isinstance(event, ToolEnded):
                self.running.pop(call, None)

    def stop(self, call: int) -> None:
        self.running.pop(call, None)
        self.stopped.append(call)


class Here:
    """Implements `Place`: a folder in which no path leads elsewhere."""

    def resolve(self, path: str) -> str:
        return path if path.startswith("/") else f"/here/{path}".removesuffix("/.")

    def change(self, given: Write | Edit) -> str:
        return f"changes {given.path}"


SECRET = "correct-horse-7-battery"
SECRETS = {"STAPLE_TOKEN": SECRET}
"""What the client's environment has."""


class Client:
    """What a test does as the user, and sees as the edge. `events`: what the edge was told so far."""

    def __init__(
        self,
        runtime: Runtime,
        model: Sequence[Answer],
        tools: Tools,
        policy: Policy,
        owner: Owner,
        mind: Mind,
    ) -> None:
        self.runtime, self.owner, self.tools, self.policy = runtime, owner, tools, policy
        self.model = Model(model)
        self.events: list[Msg] = []
        self.clock = SimClock()
        self.scheduler = Scheduler(1, self.clock)
        outside = Outside(self.model, tools, owner)
        self.state = "it is noon"
        secrets = Secrets(SECRETS)
        desk = Desk("s", mind, policy, secrets, 20.0, lambda name, usage: usage.output / 1000, lambda: self.state)
        makers = {COURIER: lambda: Courier("s"), TURN: lambda: Turn(desk)}
        self.system: Threads | SimSystem
        if runtime.name == "threads":
            self.system = Threads(makers, NoDisk(), self.clock, NoWorkers(), outside=outside)
        else:
            self.system = SimSystem(makers, NoDisk(), self.clock, NoWorkers(), self.scheduler, outside=outside)

    def begin(self) -> None:
        self.system.begin()

    def end(self) -> None:
        self.system.end()
        self.runtime.handled += 1

    def say(self, text: str, images: tuple[bytes, ...] = ()) -> None:
        self.tell(Say(text, images))

    def stop(self) -> None:
        self.tell(StopTurn())

    def tell(self, message: Msg) -> None:
        self.system.tell(TURN, message)

    def until(self, kind: type[Msg], wanted: Callable[[Any], bool] = lambda event: True) -> Any:
        """The next event of a kind, that is as wanted; all before it are in `events`."""
        while True:
            event = self._next()
            self.events.append(event)
            if isinstance(event, kind) and wanted(event):
                return event

    def over_was_heard(self) -> bool:
        """In the simulator: whether the turn has ended, though nobody has asked."""
        assert isinstance(self.system, SimSystem)
        return any(isinstance(event, TurnOver) for event in self.system.heard)

    def over(self) -> TurnOver:
        over = self.until(TurnOver)
        assert isinstance(over, TurnOver)
        return over

    def _next(self) -> Msg:
        if isinstance(self.system, Threads):
            return self.system.edge.hear(WAIT_S)
        system = self.system
        self.scheduler.until(lambda: bool(system.heard))
        return system.heard.pop(0)

    def told(self, kind: type[Msg]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@contextmanager
def client(
    runtime: Runtime,
    model: Sequence[Answer] = (),
    tools: Tools | None = None,
    rules: Sequence[str] = (),
    owner: Owner | None = None,
    attended: bool = True,
    mind: Mind = Mind("anthropic/some", "medium"),  # noqa: B008, it is frozen
) -> Iterator[Client]:
    it = Client(runtime, model, tools or Tools(), Policy(rules, Here(), attended=attended), owner or Owner(), mind)
    it.begin()
    yield it
    it.end()


# --- what a test does while a turn goes on ---


def when(it: Client, there: Callable[[], T | None]) -> T:
    """What is there, once it is."""
    if it.runtime.name == "sim":
        it.scheduler.until(lambda: bool(there()))
    else:
        assert comes_true(lambda: bool(there()), WAIT_S)
    found = there()
    assert found
    return found


def heard_all(it: Client) -> None:
    """Both actors have taken what they were told until now: the courier first, who tells the turn."""
    for number, name in enumerate((COURIER, TURN), start=1):
        it.system.tell(name, Ping(EDGE, -number))
        it.until(Pong)


def given(it: Client, kind: type[Msg], count: int = 1) -> list[Any]:
    """The orders of a kind that came to the owner, once there are so many."""
    return when(it, lambda: orders if len(orders := it.owner.given(kind)) >= count else None)


def answer(it: Client, message: Msg) -> None:
    """The owner answers."""
    it.owner.heard(OwnerSaid(encode(message)))


def asked(it: Client) -> int:
    """The number of the call that runs, once one does."""
    return when(it, lambda: next(iter(it.model.running), None))


def tell(it: Client, call: int, *events: CallEvent) -> None:
    """What comes of a call."""
    heard = it.model.running[call]
    if isinstance(events[-1], Replied | Broke | Outage):
        del it.model.running[call]
    for event in events:
        heard(event)
