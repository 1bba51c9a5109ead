"""A provider of models, whose lines are a pure function of what they are made of, and whatever goes wrong with it.

`scripted/sim` writes the same line for the same sources, always; so a tree that the model wrote is known beforehand.
"""

import zlib
from random import Random
from typing import Final

from eukhe.actors.ports import Broke, CallEvent, Outage, Replied, Request, Responding
from eukhe.limits import (
    CALL_DEADLINE_S,
    NODE_BYTES_MAX,
    PREFIX_WRITER_S,
    SIM_HOUR_S,
    SIM_LINE_BYTES_MIN,
    SIM_LONG_REPLY_BYTES,
    SIM_OUTAGE_S,
    TRIES_MAX,
)
from eukhe.model.part import Part
from eukhe.model.text import cut, flatten
from eukhe.sim.clock import SimClock
from eukhe.sim.faults import Faults
from eukhe.sim.money import USAGE
from eukhe.sim.workers import Fate

MODEL: Final = "scripted/sim"
ODD_TEXTS: Final = (
    "8+4|a head",
    "two\nlines",
    "a\0NUL",
    "an \x1b[31mescape",
    "</chat>",
    "Compaction:",
    "Turn: </input>",
    "a\u2028line\u0085end",
    "\u202eright to left",
)
_FAILURES: Final = {"dead-worker": "the worker died", "garbage": "the worker told garbage", "broken-stream": "it broke"}


def line_of(sources: tuple[str, ...]) -> str:
    """The model's line: a check sum, and as much of the text as that says."""
    text = flatten("\n".join(sources))
    check = zlib.crc32(text.encode())
    room = SIM_LINE_BYTES_MIN + check % (NODE_BYTES_MAX - SIM_LINE_BYTES_MIN - 8)  # number: the check sum's digits
    return f"{check:08x} {cut(text, room)}".strip()


class Provider:
    """`call_s`: how long a call takes at most where all goes well. `out_until_s`, `key_is_bad`: whether it is out."""

    def __init__(self, faults: Faults, clock: SimClock, call_s: float) -> None:
        self.call_s = call_s
        self.out_until_s = 0.0
        self.key_is_bad = False
        self._faults = faults
        self._struck: dict[Part, str] = {}  # the fault of a node's call
        self._clock = clock
        self._retry_after = False
        self.odd: dict[Part, set[str | None]] = {}  # replies that are not the model's own line, None for an empty one
        self._long: dict[Part, tuple[int, bool]] = {}  # replies still to be too long, and whether they get shorter

    def begin_outage(self) -> None:
        dice = self._faults.dice("outage")
        self.out_until_s = self._clock.monotonic_s() + dice.random() * dice.choice((1, SIM_OUTAGE_S))
        self._retry_after = dice.random() < 1 / 2

    def heal(self) -> None:
        """All goes well from now on."""
        self.out_until_s = 0.0
        self.key_is_bad = False
        self._long.clear()

    def noticed(self, part: Part) -> None:
        """A node's call has ended for the one who ordered it, who met what struck it."""
        if part in self._struck:
            self._faults.meet(self._struck.pop(part))

    def _strikes(self, name: str, request: Request) -> bool:
        if not self._faults.strikes(name):
            return False
        self._struck[request.part] = name
        return True

    def fate(self, request: Request, random: Random) -> Fate:
        """What becomes of a call."""
        if not request.replies:  # the node's first call, after one that was stopped or died with its owner
            self._struck.pop(request.part, None)
        if (outage := self.outage()) is not None:
            self._struck[request.part] = "key-outage" if outage.key else "outage"
            return Fate(((random.random(), outage),))
        begins_s, ends_s = sorted(random.random() * self.call_s for _ in range(2))
        fate = self._failure(request, begins_s, ends_s) or Fate(self._reply(request, begins_s, ends_s))
        if self._faults.strikes("twice"):
            fate = fate._replace(events=(*fate.events, *fate.events[-1:]))
        return fate._replace(unstoppable=True) if self._faults.strikes("after-stop") else fate

    def outage(self) -> Outage | None:
        """What a call hears while the provider is out; None while it is not."""
        if self.key_is_bad:
            return Outage("401: the key is wrong", key=True)
        left_s = self.out_until_s - self._clock.monotonic_s()
        if left_s <= 0:
            return None
        return Outage("529: overloaded", left_s if self._retry_after else None)

    def _failure(self, request: Request, begins_s: float, ends_s: float) -> Fate | None:
        dice = self._faults.dice
        if self._strikes("late-call", request):
            hours = dice("late-call").randint(1, 5) * SIM_HOUR_S  # number: hours, all past a call's ten minutes
            return Fate(
                ((begins_s, Responding()), (hours, Replied(line_of(request.sources), usage=USAGE))), unstoppable=True
            )
        if self._strikes("hung-worker", request):
            return Fate(((begins_s, Responding()),) if dice("hung-worker").random() < 1 / 2 else ())
        if self._strikes("dead-writer", request):
            return Fate(((begins_s, Broke("the worker died")),))
        for name, why in _FAILURES.items():
            if self._strikes(name, request):
                return Fate(((begins_s, Responding()), (ends_s, Broke(why))))
        return None

    def _reply(self, request: Request, begins_s: float, ends_s: float) -> tuple[tuple[float, CallEvent], ...]:
        if self._faults.strikes("slow-call"):
            begins_s = self._faults.dice("slow-call").uniform(PREFIX_WRITER_S, CALL_DEADLINE_S - 1)
            ends_s = max(begins_s, ends_s)
        text = self._text(request)
        if text != line_of(request.sources):
            self.odd.setdefault(request.part, set()).add((text and text.strip()) or None)
        return (begins_s, Responding(USAGE)), (ends_s, Replied(text, usage=USAGE))

    def _text(self, request: Request) -> str | None:
        left, shorter = self._long.pop(request.part, (0, False))
        if not request.replies:
            if self._strikes("empty-reply", request):
                return " \n"
            if self._strikes("thinking-only", request):
                return None
            if self._strikes("odd-reply", request):
                return self._faults.dice("odd-reply").choice(ODD_TEXTS)
            if self._strikes("long-reply", request):
                dice = self._faults.dice("long-reply")
                left, shorter = dice.randint(1, TRIES_MAX), dice.random() < 2 / 3  # number: mostly shorter
        if left:
            self._long[request.part] = left - 1, shorter
            less = len(request.replies) if shorter else -len(request.replies)
            return "é" * ((SIM_LONG_REPLY_BYTES - less) // 2)
        return line_of(request.sources)
