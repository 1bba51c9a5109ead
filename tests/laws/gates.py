"""Histories of a prefix gate, and what an onlooker knows who sees the events and which calls are sent.

As ../../bend/spec/gate.bend has it, with seconds in place of its event `Cooled`: the clock makes a warm prefix cold.
"""

from typing import NamedTuple

from hypothesis import strategies as st

from eukhe.limits import PREFIX_WARM_S, PREFIX_WRITER_S
from eukhe.model.gate import Call, Gone, Prefix

ASKERS = 5


class Event(NamedTuple):
    """`ask`, `started`, `ended` or `stopped` of a call, so many seconds after the event before it."""

    name: str
    call: Call
    after_s: float

    @property
    def leaves(self) -> bool:
        return self.name in ("ended", "stopped")


class Onlooker:
    """What the events and the calls sent tell.

    `flying`: writers sent whose response has not begun and that have not ended. `waiting`: who asked and was neither
    sent nor has left, in the order of asking.
    """

    def __init__(self) -> None:
        self.prefix = Prefix()
        self.now_s = 0.0
        self.flying: list[Call] = []
        self.waiting: list[Call] = []

    def apply(self, event: Event) -> Gone:
        """The calls sent at an event."""
        gone = self.would(event)
        call = event.call
        if event.name == "ask":
            if call not in (*self.flying, *self.waiting):
                self.waiting.append(call)
        elif call in self.flying:
            self.flying.remove(call)
        elif event.leaves and call in self.waiting:
            self.waiting.remove(call)
        for sent in gone.calls:
            if sent in self.waiting:
                self.waiting.remove(sent)
        if gone.writes:
            self.flying.append(gone.calls[0])
        return gone

    def would(self, event: Event) -> Gone:
        """What the gate itself says of an event."""
        self.now_s += event.after_s
        match event.name:
            case "ask":
                return self.prefix.enter(event.call, self.now_s)
            case "started":
                return self.prefix.read(event.call, self.now_s)
        return self.prefix.leave(event.call, self.now_s)


def calls() -> st.SearchStrategy[Call]:
    return st.tuples(st.sampled_from(["door", "compactor-1"]), st.integers(0, ASKERS // 2))


def events() -> st.SearchStrategy[Event]:
    """Also such that no call would send: of calls that are not here, twice, in any order."""
    seconds = st.sampled_from([0, 0, 1, PREFIX_WRITER_S, PREFIX_WARM_S - 1, PREFIX_WARM_S])
    names = st.sampled_from(["ask", "ask", "ask", "started", "ended", "stopped"])
    return st.builds(Event, names, calls(), seconds)


def histories() -> st.SearchStrategy[list[Event]]:
    return st.lists(events(), max_size=40)


def after(history: list[Event]) -> Onlooker:
    onlooker = Onlooker()
    for event in history:
        onlooker.apply(event)
    return onlooker
