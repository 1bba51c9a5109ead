"""What a model says in a turn, and whatever goes wrong with it: drawn from the dice, no two texts the same."""

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Final

import orjson

from eukhe.actors.ports import Broke, CallEvent, Delta, Outage, Replied, Responding, TurnRequest
from eukhe.limits import SIM_TURN_S
from eukhe.model.talk import Block, Reply, Stop, Text, Thought, Use
from eukhe.sim.faults import Faults
from eukhe.sim.money import USAGE
from eukhe.sim.workers import Fate, Heard, SimCalls

if TYPE_CHECKING:
    from eukhe.sim.machine import Machine
    from eukhe.sim.provider import Provider

THOUGHT: Final = "thought-of"
"""Each thought has it in it, and nothing else has."""
TASK: Final = "task-of"
"""Each subagent's task begins with it, and nothing else does."""
REQUESTS: Final = 4  # number: of a turn, after which its model wants no more tools
TOOLS: Final = ("bash", "bash", "bash", "write", "zoom", "date", "search", "at", "agent", "agent")
_BROKEN: Final = (
    (Broke("the worker died"),),
    (Responding(), Broke("the stream broke", USAGE)),
    (Responding(USAGE), Delta("text", "so far"), Broke("the stream broke")),
    (Broke("the request is too long", final=True),),
    (Outage("429: too many requests", 1.0),),
    (Outage("529: overloaded, for an hour", 3_600.0),),  # number: seconds
    (Outage("401: the key is wrong", key=True),),
)


class Voice:
    """The provider's models, as turns hear them. What each says has a number that is given once."""

    def __init__(self, faults: Faults, provider: "Provider") -> None:
        self._faults = faults
        self._provider = provider
        self._number = 0

    def fate(self, request: TurnRequest, random: Random) -> Fate:
        """What becomes of a call."""
        if (outage := self._provider.outage()) is not None:
            return Fate(((random.random(), outage),), fault="key-outage" if outage.key else "outage")
        fate = self._broken(request, random) or self._whole(request, random)
        if self._faults.strikes("twice"):
            fate = fate._replace(events=(*fate.events, *fate.events[-1:]))
        return fate._replace(unstoppable=True) if self._faults.strikes("after-stop") else fate

    def _broken(self, request: TurnRequest, random: Random) -> Fate | None:
        faults = self._faults
        if _is_agents(request) and faults.strikes("broken-agent"):
            return Fate(((random.random(), Outage("401: the key is wrong", key=True)),), fault="broken-agent")
        if faults.strikes("broken-turn"):
            return Fate(_spread(faults.dice("broken-turn").choice(_BROKEN), random), fault="broken-turn")
        if faults.strikes("hung-turn"):
            begun: tuple[CallEvent, ...] = (Responding(USAGE), Delta("text", self._words("half", random)))
            return Fate(_spread(begun[: faults.dice("hung-turn").randint(0, len(begun))], random), fault="hung-turn")
        return None

    def _whole(self, request: TurnRequest, random: Random) -> Fate:
        fault = "odd-turn" if self._faults.strikes("odd-turn") else ""
        reply = self._odd() if fault else self._reply(request, random)
        if reply is None:
            return Fate(_spread((Responding(USAGE), Replied("no reply", None, USAGE)), random), fault=fault)
        deltas = [Delta("text", piece) for block in reply.blocks if isinstance(block, Text) for piece in _halves(block)]
        return Fate(_spread((Responding(USAGE), *deltas, Replied(reply.text, reply, USAGE)), random), fault=fault)

    # --- replies ---

    def _reply(self, request: TurnRequest, random: Random) -> Reply:
        """Text, and until there were so many requests, now and then tools."""
        asked = sum(speech.role == "assistant" for speech in request.talk.speeches)
        wants = random.choice((0, 1, 1, 2, 3)) if asked < REQUESTS else 0  # number: mostly some
        blocks: list[Block] = [Thought("scripted", self._json(THOUGHT))] if random.random() < 1 / 2 else []
        if not wants or random.random() < 1 / 2:
            blocks.append(Text(self._words("said", random)))
        for _ in range(wants):
            blocks.append(self._use(random.choice(TOOLS), random))
            if random.random() < 1 / 8:  # number: seldom
                blocks.append(Text(self._words("besides", random)))
        return Reply(tuple(blocks), "tools" if wants else "end")

    def _use(self, name: str, random: Random) -> Use:
        given: dict[str, object] = {
            "bash": {"command": self._next("command")},
            "write": {"path": self._next("path"), "text": self._next("text")},
            "zoom": {"id": random.randrange(64), "n": random.choice((1, 2, 4))},  # number: messages that may be there
            "date": {"id": random.randrange(64)},  # number: likewise
            "search": {"words": random.choice(("parser", "nothing-like-it"))},
            "at": {"date": random.choice(("yesterday", "no date"))},
            "agent": {"name": random.choice(("Rita", "rita", "Otto", "")), "task": self._next(TASK)},
        }
        return Use(self._next("use"), name, orjson.dumps(given[name]).decode())

    def _odd(self) -> Reply | None:
        """One that does not help, or that wants what can't be."""
        dice = self._faults.dice("odd-turn")
        stop: Stop = dice.choice(("end", "length", "refusal", "tools"))
        return dice.choice(
            (
                None,
                Reply((), stop),
                Reply((Text(" \n"),), stop),
                Reply((Thought("scripted", self._json(THOUGHT)),), stop),
                Reply((Text(self._next("cut")),), "length"),
                Reply((Text(self._next("refused")), Use(self._next("use"), "bash", "{}")), "refusal"),
                Reply((Use(self._next("use"), "fly", "{}"),), "tools"),
                Reply((Use(self._next("use"), "bash", '{"command":'), Use(self._next("use"), "date", "7")), "tools"),
                Reply((Use(self._next("use"), "date", "{}"), Text("\0\x1b[31m" + self._next("odd"))), "tools"),
            )
        )

    def _words(self, what: str, random: Random) -> str:
        return f"{self._next(what)} {'word ' * random.choice((1, 10, 60))}".rstrip()  # number: short, and long ones

    def _json(self, what: str) -> str:
        return orjson.dumps(self._next(what)).decode()

    def _next(self, what: str) -> str:
        self._number += 1
        return f"{what} {self._number}"


class SimModels(SimCalls[TurnRequest]):
    """Implements `Models`."""

    def __init__(self, machine: "Machine", name: str) -> None:
        super().__init__(machine.scheduler, machine.voice.fate, machine.faults.meet, name=name)

    def start(self, call: int, request: TurnRequest, heard: Heard) -> None:
        self.begin(call, request, heard)


def task_of(request: TurnRequest) -> str | None:
    """A subagent's task; None where the request is a turn's."""
    texts = [block.text for block in request.talk.speeches[0].blocks if isinstance(block, Text)]
    return next((text for text in texts if text.startswith(f"{TASK} ")), None)


def _is_agents(request: TurnRequest) -> bool:
    return task_of(request) is not None


def _spread(events: Sequence[CallEvent], random: Random) -> tuple[tuple[float, CallEvent], ...]:
    """One after the other, within the time that a call takes."""
    when_s = sorted(random.random() * SIM_TURN_S for _ in events)
    return tuple(zip(when_s, events, strict=True))


def _halves(text: Text) -> tuple[str, str]:
    middle = len(text.text) // 2
    return text.text[:middle], text.text[middle:]
