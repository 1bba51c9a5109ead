"""What the fake API does with a request: an answer, an error, or nothing at all, and every way in which it goes wrong.

    answer("hello")                                        a reply of one text
    answer(Think("hm"), "I look.", Call("bash", {…}))      thinks, says, wants a tool
    answer("long", stop="length")                          why it ended; "none": the provider says nothing
    answer("hello", cut("content_block_delta"))            a twist: the connection drops before the first delta
    answer("hello", hold("message_stop", gate := Gate()))  waits there until the test says `gate.open()`
    Fail(429, retry_after=3)    Reset()

A response is a row of steps, the events of its stream among them. A twist makes another row of it. Places in it are
counted from 0, or named by an event: its first of that name.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

HOLD_MAX_S = 60.0  # after which a gate that nobody opened lets pass, so that no test hangs


class Gate:
    """A place at which a response waits. `reached` is set when one is there."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._opened = threading.Event()

    def open(self) -> None:
        """Lets pass, now and from now on."""
        self._opened.set()

    def wait(self) -> None:
        """Waits until it is open."""
        self.reached.set()
        self._opened.wait(HOLD_MAX_S)

    def opened_within(self, seconds: float) -> bool:
        """Whether it is open, at the latest after so many seconds."""
        self.reached.set()
        return self._opened.wait(seconds)


class Think(NamedTuple):
    """A thought of the model's."""

    text: str


class Call(NamedTuple):
    """A tool that the model wants. `input`: an object, or its JSON as a text, which may be broken."""

    name: str
    input: Mapping[str, Any] | str


Said = str | Think | Call
Stop = Literal["natural", "end", "tools", "length", "refusal", "none"]
Ending = Literal["end", "drop", "reset"]
"""The body ends as a whole one does; the connection is closed in its midst; or reset."""

Odd = Literal["ping", "error", "unknown", "garbage"]


class Event(NamedTuple):
    """A piece of a response. `tokens`: of the output that it brings."""

    name: str
    data: bytes
    tokens: int = 0


class Put(NamedTuple):
    """Something that does not belong there, in the form's own way."""

    what: Odd


class Hold(NamedTuple):
    gate: Gate


class Pings(NamedTuple):
    """Pings without end: until the client leaves, or the gate opens."""

    gate: Gate


class End(NamedTuple):
    how: Ending


Step = Event | Put | Hold | Pings | End
Twist = Callable[[list[Step]], list[Step]]
Place = int | str


@dataclass(frozen=True)
class Answer:
    """A response with status 200. `wait`: before it begins."""

    said: tuple[Said, ...] = ()
    stop: Stop = "natural"
    twists: tuple[Twist, ...] = ()
    wait: Gate | None = None
    piece_chars: int = 24  # of a delta


@dataclass(frozen=True)
class Fail:
    """An error instead of a response. What is left empty is as the form has it. `raw`: a body that is none of it.

    `retry_after`: seconds, or a text, as a date is.
    """

    status: int
    message: str = ""
    kind: str = ""
    retry_after: float | str | None = None
    raw: bytes | None = None
    wait: Gate | None = None


@dataclass(frozen=True)
class Reset:
    """The connection ends before there is a response; `how` as of a stream's."""

    how: Ending = "reset"
    wait: Gate | None = None


Act = Answer | Fail | Reset


def answer(*parts: Said | Twist, stop: Stop = "natural", wait: Gate | None = None, piece_chars: int = 24) -> Answer:
    """An answer: what it says, and its twists, in order."""
    said = tuple(part for part in parts if isinstance(part, str | Think | Call))
    twists = tuple(part for part in parts if not isinstance(part, str | Think | Call))
    return Answer(said, stop, twists, wait, piece_chars)


TOO_LONG = "too long"


def too_long() -> Fail:
    """400: the prompt has more tokens than the model's context."""
    return Fail(400, kind=TOO_LONG)


# --- twists ---


def cut(at: Place, how: Ending = "drop") -> Twist:
    """The stream ends before a step."""
    return lambda steps: [*steps[: _index(steps, at)], End(how)]


def cut_byte(count: int, how: Ending = "drop") -> Twist:
    """The stream ends after so many bytes."""
    return lambda steps: [*_split(steps, count)[0], End(how)]


def without(name: str) -> Twist:
    """All events of a name are left out."""
    return lambda steps: [step for step in steps if not (isinstance(step, Event) and step.name == name)]


def put(at: Place, what: Odd) -> Twist:
    """Something stands before a step that does not belong there."""
    return _before(at, Put(what))


def hold(at: Place, gate: Gate) -> Twist:
    """Waits before a step."""
    return _before(at, Hold(gate))


def hold_byte(count: int, gate: Gate) -> Twist:
    """Waits after so many bytes."""

    def twist(steps: list[Step]) -> list[Step]:
        before, after = _split(steps, count)
        return [*before, Hold(gate), *after]

    return twist


def pings(at: Place, gate: Gate | None = None) -> Twist:
    """Before a step pings come, for ever or until the gate opens."""
    return _before(at, Pings(gate or Gate()))


def _before(at: Place, step: Step) -> Twist:
    def twist(steps: list[Step]) -> list[Step]:
        index = _index(steps, at)
        return [*steps[:index], step, *steps[index:]]

    return twist


def _index(steps: list[Step], at: Place) -> int:
    if isinstance(at, int):
        return at
    for index, step in enumerate(steps):
        if isinstance(step, Event) and step.name == at:
            return index
    raise ValueError(
        f"the response has no event {at}; it has {[step.name for step in steps if isinstance(step, Event)]}"
    )


def _split(steps: list[Step], count: int) -> tuple[list[Step], list[Step]]:
    """The row up to a byte, and the rest; an event in between is taken apart."""
    for index, step in enumerate(steps):
        if not isinstance(step, Event):
            continue
        if count < len(step.data):
            head, tail = step._replace(data=step.data[:count], tokens=0), step._replace(data=step.data[count:])
            return [*steps[:index], head], [tail, *steps[index + 1 :]]
        count -= len(step.data)
    return steps, []
