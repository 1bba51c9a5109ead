"""A tree log's lines and batches, proved one by one. Pure: no clock, disk or threads.

Texts are kept as digests, and only of nodes whose parent has not come.
"""

from bisect import bisect_left
from hashlib import blake2b
from typing import NamedTuple

from eukhe.limits import INDEX_DIGEST_BYTES, NODE_BYTES_MAX
from eukhe.model.built import Built
from eukhe.model.part import Part
from eukhe.model.record import NodeRecord

_LF = b"\n"


class Text(NamedTuple):
    """A text, known by its bytes and digest."""

    size: int
    digest: bytes


def text_of(data: bytes) -> Text:
    """What is kept of a text."""
    return Text(len(data), blake2b(data, digest_size=INDEX_DIGEST_BYTES).digest())


class Nodes:
    """The nodes that were read so far. `free`: messages that must be their own nodes, until these come.

    A message of an old kind has two texts that count as it.
    """

    def __init__(self) -> None:
        self.built = Built()
        self.free: dict[int, tuple[Text, ...]] = {}
        self._halves: dict[Part, Text] = {}

    def add(self, record: NodeRecord) -> str:
        """Takes the next node in, `unbuilt_halves` being told; what is wrong with it, empty where nothing is."""
        part, data = record.part, record.text.encode()
        wrong = self._wrong_leaf(part.i, data) if part.level == 0 else self._wrong_merge(part, data)
        self.built.add(*part)
        if len(data) + len(_LF) < NODE_BYTES_MAX:  # else no merge with it is free
            self._halves[part] = text_of(data)
        return wrong

    def unbuilt_halves(self, part: Part) -> list[Part]:
        """The halves of a node that have no line yet."""
        return [half for half in part.halves if not self.built.has(*half)] if part.level else []

    def _wrong_leaf(self, i: int, data: bytes) -> str:
        own = self.free.pop(i, ())
        if own and text_of(data) not in own:
            return f"message {i} fits in {NODE_BYTES_MAX} bytes, and its line is not the message"
        return ""

    def _wrong_merge(self, part: Part, data: bytes) -> str:
        left, right = (self._halves.pop(half, None) for half in part.halves)
        if left is None or right is None or left.size + len(_LF) + right.size > NODE_BYTES_MAX:
            return ""
        cut = left.size + len(_LF)
        if (text_of(data[: left.size]), data[left.size : cut], text_of(data[cut:])) != (left, _LF, right):
            return f"the halves of node {part.name} fit in {NODE_BYTES_MAX} bytes, and its line is not the two"
        return ""


class Replay:
    """The view, from nothing but messages and batch lines. Lines by their first messages."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._levels: list[int] = []
        self._t = 0

    def append_until(self, t: int) -> None:
        """A line for each message up to `t`."""
        if t > self._t:
            self._starts += range(self._t, t)
            self._levels += [0] * (t - self._t)
            self._t = t

    def merge(self, parent: Part) -> bool:
        """Puts a node in the place of the lines that fill it; False, and nothing changes, where none do."""
        first = bisect_left(self._starts, parent.start)
        end = bisect_left(self._starts, parent.end)
        ends = self._starts[end] if end < len(self._starts) else self._t
        if end - first < 2 or self._starts[first] != parent.start or ends != parent.end:
            return False
        self._starts[first:end] = [parent.start]
        self._levels[first:end] = [parent.level]
        return True

    def parts(self) -> list[Part]:
        return [Part(level, start >> level) for start, level in zip(self._starts, self._levels, strict=True)]
