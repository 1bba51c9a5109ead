"""A compactor's line: from a model's replies to one line of 1 to 512 bytes. Pure: no clock, disk or threads.

The model is asked; a line that is too long is asked for again in the same conversation while it gets shorter, five
calls at most. Models can't count bytes, so whatever is best in the end is cut. Rules 36, 37, D9.
"""

import re
from typing import NamedTuple

from eukhe.limits import MERGE_HALF_BYTES_MAX, NODE_BYTES_MAX, TRIES_MAX
from eukhe.model.text import clean, cut, size

_HEAD = re.compile(r"[0-9]+\+[0-9]+\|")


class Asking(NamedTuple):
    """A call is to be made, or under way: what is compressed, the best line so far, the calls that have ended."""

    source: str
    best: str | None = None
    calls: int = 0


class Done(NamedTuple):
    """The line, and the calls it took."""

    line: str
    calls: int


class Failed(NamedTuple):
    """The node failed; whatever was best is forgotten."""

    calls: int


def replied(state: Asking, reply: str | None) -> Asking | Done:
    """A call ended with a reply, its text blocks joined; None for one that only thought."""
    line = trimmed(reply or "")
    calls = state.calls + 1
    if not line:
        return Done(cut(state.best if state.best is not None else state.source), calls)
    if size(line) <= NODE_BYTES_MAX:
        return Done(line, calls)
    if state.best is not None and size(line) >= size(state.best):
        return Done(cut(state.best), calls)
    if calls == TRIES_MAX:
        return Done(cut(line), calls)
    return Asking(state.source, line, calls)


def broke(state: Asking) -> Failed:
    """A call ended with an error, was aborted, or took too long."""
    return Failed(state.calls + 1)


def from_input(sources: tuple[str, ...]) -> str:
    """The line of a node that failed too often: its message cut, or both halves cut to even shares. D5."""
    if len(sources) == 1:
        return cut(sources[0])
    return "\n".join(cut(half, MERGE_HALF_BYTES_MAX) for half in sources)


def trimmed(reply: str) -> str:
    """A reply without blanks around it and without the head that some models repeat."""
    line = clean(reply).strip()
    head = _HEAD.match(line)
    return line[head.end() :].strip() if head else line
