"""Eukhe itself, all its actors, on a virtual clock: a client's turns and the owner's compactors against one cache.

The simulator's runtime runs them as production does. What stands outside is played: the model says what the script has
next, tools print what it has, lines are as long as a model's, and every call meets the provider's prompt cache.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import cycle, islice

import orjson

from eukhe.actors.behaviour import EDGE, Behaviour
from eukhe.actors.courier import NAME as COURIER
from eukhe.actors.courier import Courier
from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import Begun, Msg, OwnerFailed, Say, TurnOver
from eukhe.actors.opening import open_chat
from eukhe.actors.ports import (
    CallEvent,
    Key,
    Outside,
    OwnerEvent,
    OwnerFound,
    OwnerSaid,
    Replied,
    Request,
    Responding,
    ToolEnded,
    ToolEvent,
    TurnRequest,
)
from eukhe.actors.turn import NAME as TURN
from eukhe.actors.turn import Turn as TurnActor
from eukhe.actors.turn_desk import Desk, Mind
from eukhe.actors.wire import decode, encode
from eukhe.errors import Bug
from eukhe.limits import MILLISECONDS, SETTLE_TIMEOUT_MS
from eukhe.model.chat import ChatLimits
from eukhe.model.permission import Policy
from eukhe.model.secrets import Secrets
from eukhe.model.talk import Reply, Talk, Text, Usage, Use
from eukhe.model.text import cut, flatten
from eukhe.model.tool_input import Edit, Write
from eukhe.sim.clock import SimClock
from eukhe.sim.disk import SimDisk
from eukhe.sim.index import IndexFile, SimIndex
from eukhe.sim.prompt_cache import PromptCache, tokens_of
from eukhe.sim.runtime import SimSystem
from eukhe.sim.scheduler import Scheduler
from measure.cache_rivals import Sent
from measure.cache_row import prefix_tokens, row_of
from measure.made import line_sizes
from measure.made_turns import Turn

BEGINS_S, LINE_S = 1.0, 4.0  # until a call's response begins, and until a line is there


class Played:
    """A chat in which these turns are taken, one after the other, each as the script says.

    `turns`, `lines`: every request of a turn and every call for a line; `messages`: logged.
    """

    def __init__(self, script: Iterable[Turn], turn_model: str, line_model: str) -> None:
        self.provider = Provider()
        self.messages = 0
        self._script = iter(script)
        self._over = False
        self._link = _Link()
        disk, committed = SimDisk(), IndexFile()
        index, clock, scheduler = SimIndex(committed), self.provider.clock, self.provider.scheduler
        opened = open_chat(disk, index, ChatLimits(), owner=True)
        owner = owner_makers(opened, disk, clock, index, SimIndex(committed), line_model, paid=True, session="o")
        settle_s = SETTLE_TIMEOUT_MS / MILLISECONDS
        mind = Mind(turn_model, "medium")
        desk = Desk(
            "c",
            mind,
            Policy(("bash",), _Place(), attended=False),
            Secrets({}),
            settle_s,
            lambda model, usage: None,
            lambda: f"It is {clock.local().isoformat(timespec='seconds')}, and the folder is /project.",
        )
        makers = {**owner, COURIER: lambda: Courier("c"), TURN: lambda: TurnActor(desk)}
        outside = Outside(_Models(self.provider), _Tools(self.provider), self._link)
        self._system = _OneProcess(makers, disk, clock, _Workers(self.provider), scheduler, outside, self._told)
        self._link.tell = self._system.tell

    def run(self) -> "Played":
        """All the turns, and every line that is wanted after the last."""
        self._system.begin()
        self._next()
        scheduler = self.provider.scheduler
        scheduler.until(lambda: self._over)
        scheduler.run()
        return self

    def _told(self, message: Msg) -> None:
        """What the edge hears: of its turn, and what is answered to the courier."""
        if isinstance(message, TurnOver):
            assert not message.why, message.why
            self.messages += len(message.ids)
            self._next()
        elif isinstance(message, OwnerFailed):
            raise Bug(message.why)
        elif hasattr(message, "ticket"):
            self._link.heard(OwnerSaid(encode(message)))

    def _next(self) -> None:
        turn = next(self._script, None)
        if turn is None:
            self._over = True
            return
        provider = self.provider
        provider.take(turn)
        say = Say(turn.user, ())
        provider.scheduler.set_timer(("user",), turn.after_s, partial(self._system.tell, TURN, say))


class Provider:
    """Both models' provider, with its cache, and the part that the turn's model and its tools play."""

    def __init__(self) -> None:
        self.turns: list[Sent] = []
        self.lines: list[Sent] = []
        self.clock = SimClock()
        self.scheduler = Scheduler(1, self.clock)
        self._cache = PromptCache()
        self._turn: Turn | None = None
        self._number = self._step = 0
        self._sizes = cycle(islice(line_sizes(), 4_096))

    def take(self, turn: Turn) -> None:
        """The next turn begins."""
        self._turn, self._number, self._step = turn, self._number + 1, 0

    def answer(self, name: tuple[object, ...], request: TurnRequest, heard: Callable[[CallEvent], None]) -> None:
        """A request of the turn: what the script says next."""
        assert self._turn is not None
        if self._step == len(self._turn.steps):
            said, takes_s = Reply((Text(self._turn.reply),), "end"), self._turn.model_s
        else:
            step = self._turn.steps[self._step]
            use = Use(f"use-{self._step}", "bash", encode_input(step.input))
            said, takes_s = Reply((*([Text(step.say)] if step.say else []), use), "tools"), step.model_s
        output = "".join(block.text if isinstance(block, Text) else block.input for block in said.blocks[:2])  # type: ignore[union-attr]
        usage = self._call(name, request.model, request.talk, output, takes_s, self.turns)
        usage(heard, lambda cost: Replied(said.text or None, said, cost))

    def write(self, name: tuple[object, ...], request: Request, heard: Callable[[CallEvent], None]) -> None:
        """A call for a line."""
        assert request.talk is not None
        text = cut(flatten("\n".join(request.sources)), next(self._sizes))
        call = self._call(name, request.model, request.talk, text, LINE_S, self.lines)
        call(heard, lambda cost: Replied(text, None, cost))

    def run_tool(self, name: tuple[object, ...], heard: Callable[[ToolEvent], None]) -> None:
        assert self._turn is not None
        step = self._turn.steps[self._step]
        self._step += 1
        self.scheduler.set_timer(name, step.tool_s, partial(heard, ToolEnded(step.result)))

    def _call(
        self, name: tuple[object, ...], model: str, talk: Talk, output: str, takes_s: float, sent: list[Sent]
    ) -> "_Begin":
        """A call that has come in: what it reads is what is cached now, what it writes is so once it responds."""
        row = row_of(talk)
        cached = self._cache.call(model.partition("/")[2], row, self.clock.monotonic_s())
        cost = cached.usage + Usage(output=tokens_of(output.encode()))
        sent.append(Sent(self._number, cost, prefix_tokens(talk, row)))

        def begin(heard: Callable[[CallEvent], None], replied: Callable[[Usage], CallEvent]) -> None:
            def responds() -> None:
                self._cache.begin(cached)
                heard(Responding(cached.usage))
                self.scheduler.set_timer(name, takes_s, partial(heard, replied(cost)))

            self.scheduler.set_timer(name, BEGINS_S, responds)

        return begin


_Begin = Callable[[Callable[[CallEvent], None], Callable[[Usage], CallEvent]], None]


def encode_input(command: str) -> str:
    return orjson.dumps({"command": command}).decode()


class _Models:
    """Implements `Models`."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def start(self, call: int, request: TurnRequest, heard: Callable[[CallEvent], None]) -> None:
        self._provider.answer(("turn call", call), request, heard)

    def stop(self, call: int) -> None:
        raise AssertionError("nobody stops a turn here")


class _Workers:
    """Implements `Workers`."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def start(self, call: int, request: Request, heard: Callable[[CallEvent], None]) -> None:
        self._provider.write(("line call", call), request, heard)

    def stop(self, call: int) -> None:
        self._provider.scheduler.cancel_timer(("line call", call))

    def keep(self, keys: tuple[Key, ...]) -> bool:
        raise AssertionError("nobody brings a key here")


class _Tools:
    """Implements `Tools`."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def start(self, call: int, name: str, input_: str, heard: Callable[[ToolEvent], None]) -> None:
        self._provider.run_tool(("tool", call), heard)

    def stop(self, call: int) -> None:
        raise AssertionError("nobody stops a tool here")


class _Link:
    """Implements `OwnerLink`: the owner's actors are in the same system."""

    def __init__(self) -> None:
        self.tell: Callable[[str, Msg], None] = lambda to, message: None
        self.heard: Callable[[OwnerEvent], None] = lambda event: None
        self._found = False

    def open(self, heard: Callable[[OwnerEvent], None]) -> None:
        self.heard = heard
        if not self._found:
            self._found = True
            heard(OwnerFound(1))

    def send(self, to: str, data: bytes) -> None:
        self.tell(to, decode(data))

    def close(self) -> None:
        """Nothing more is said."""


class _Place:
    """Implements the policy's place: only commands run here."""

    def resolve(self, path: str) -> str:
        raise AssertionError(f"no tool touches {path}")

    def change(self, given: Write | Edit) -> str:
        raise AssertionError(f"no tool makes the change {given}")


class _OneProcess(SimSystem):
    """A client's actors and an owner's in one system. `told`: hears what the edge hears, which is not kept."""

    def __init__(
        self,
        makers: Mapping[str, Callable[[], Behaviour]],
        disk: SimDisk,
        clock: SimClock,
        workers: _Workers,
        scheduler: Scheduler,
        outside: Outside,
        told: Callable[[Msg], None],
    ) -> None:
        self._told = told
        super().__init__(makers, disk, clock, workers, scheduler, outside=outside)

    def tell(self, to: str, message: Msg) -> None:
        if to == EDGE and not isinstance(message, Begun):
            self._told(message)
        else:
            super().tell(to, message)
