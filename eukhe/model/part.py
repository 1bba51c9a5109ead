"""A node's place in the tree. Pure: no clock, disk or threads.

Node (level l, index i) covers the messages i·2^l to (i+1)·2^l - 1. Its parent drops the index's lowest bit. It is
named id+n: id its first message, n how many it covers. Rule 11.
"""

from typing import NamedTuple


class Part(NamedTuple):
    """A node by level and index. Ordered by level, then index, as the queue of ready merges is."""

    level: int
    i: int

    @property
    def start(self) -> int:
        """Its first message."""
        return self.i << self.level

    @property
    def end(self) -> int:
        """The message after its last."""
        return (self.i + 1) << self.level

    @property
    def messages(self) -> int:
        """How many messages it covers."""
        return 1 << self.level

    @property
    def parent(self) -> "Part":
        return Part(self.level + 1, self.i >> 1)

    @property
    def halves(self) -> tuple["Part", "Part"]:
        """The two nodes it merges. Only for a level above 0."""
        assert self.level > 0, "a message has no halves"
        return Part(self.level - 1, 2 * self.i), Part(self.level - 1, 2 * self.i + 1)

    @property
    def name(self) -> str:
        """`id+n`, as the view and zoom have it."""
        return f"{self.start}+{self.messages}"


def part_of(first: int, count: int) -> Part | None:
    """The node named first+count, None where there is none: count a power of two, first a multiple of it."""
    if count < 1 or count & (count - 1) or first < 0 or first % count:
        return None
    level = count.bit_length() - 1
    return Part(level, first >> level)
