"""Which nodes are built. Pure: no clock, disk or threads.

A level holds its built nodes as runs of neighbours. Lines are written about in order, so there is one long run and a
few beyond: memory grows with the outstanding work, not with the chat. A line lost from the log only splits a run.
"""

from bisect import bisect_right
from collections.abc import Iterator

from eukhe.model.part import Part


class Built:
    """A set of nodes that only grows.

    `levels[l]` are the bounds of level l's runs, ascending: first, end, first, end, …; an index is in a run where
    an odd number of bounds stands at or before it.
    """

    __slots__ = ("count", "levels")

    def __init__(self, levels: list[list[int]] | None = None) -> None:
        self.levels: list[list[int]] = levels or []
        self.count = sum(sum(bounds[1::2]) - sum(bounds[::2]) for bounds in self.levels)

    def has(self, level: int, i: int) -> bool:
        return level < len(self.levels) and bisect_right(self.levels[level], i) & 1 == 1

    def add(self, level: int, i: int) -> bool:
        """Whether it is new."""
        while level >= len(self.levels):
            self.levels.append([])
        bounds = self.levels[level]
        at = bisect_right(bounds, i)
        if at & 1:
            return False
        joins_left = at > 0 and bounds[at - 1] == i
        joins_right = at < len(bounds) and bounds[at] == i + 1
        if joins_left and joins_right:
            del bounds[at - 1 : at + 1]
        elif joins_left:
            bounds[at - 1] = i + 1
        elif joins_right:
            bounds[at] = i
        else:
            bounds[at:at] = (i, i + 1)
        self.count += 1
        return True

    def ready(self) -> Iterator[Part]:
        """The merges whose halves are both built and that are not; found from the runs, without a scan of the tree."""
        for level, bounds in enumerate(self.levels):
            parents = self.levels[level + 1] if level + 1 < len(self.levels) else []
            for first, end in zip(bounds[::2], bounds[1::2], strict=True):
                for i in _outside(parents, (first + 1) >> 1, end >> 1):
                    yield Part(level + 1, i)


def _outside(bounds: list[int], first: int, end: int) -> Iterator[int]:
    """The numbers from `first` to `end` - 1 that are in no run."""
    at = bisect_right(bounds, first)
    while first < end:
        if at & 1:
            first = bounds[at]
        else:
            stop = min(end, bounds[at]) if at < len(bounds) else end
            yield from range(first, stop)
            first = stop
        at += 1
