"""The view. Pure: no clock, disk or threads.

A view is a list of nodes that covers the whole chat, oldest first: each message once, none left out. A message
appends its own line. A batch merges pairs of lines into their parent, the most due first, until few enough bytes are
left: fine for what is recent, coarse for what is old.

Adjacent lines (l, i) and (l, i+1), i even, are a pair. With T messages it is due (T - last) / 2^l, `last` its last
message: last and not first, else T = 10 merges 0-7 where push merges 8-9 (rule 21). Only pairs whose parent is built
can merge; each stays one until it is merged, so the view keeps them as they come up and a batch reads nothing anew.

Numbers only: nodes, and the bytes of their texts. Rules 14, 18, 19, 22, 28.
"""

from collections import OrderedDict
from heapq import heapify, heappop, heappush

from eukhe.limits import LEVELS_MAX, PLACEHOLDER_BYTES
from eukhe.model.part import Part

Sizes = dict[tuple[int, int], int]
"""Bytes of the built nodes that are lines of a view or stand above one, by (level, index)."""


class View:
    """One view. `sizes` is the chat's, shared: what stands in it is built.

    `lines`: first message of a line -> its level, oldest first (a merge keeps its left half's place).
    `unbuilt`: first messages of the lines that are not built, oldest first.
    `pairs`: parents, as (level, index), of the pairs that can merge.
    `size`: bytes of its lines' texts, an unbuilt one's those of the placeholder.
    """

    __slots__ = ("lines", "pairs", "size", "sizes", "unbuilt")

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.lines: dict[int, int] = {}
        self.unbuilt: OrderedDict[int, None] = OrderedDict()
        self.pairs: set[tuple[int, int]] = set()
        self.size = 0

    def copy(self) -> "View":
        view = View(self.sizes)
        view.lines = self.lines.copy()
        view.unbuilt = self.unbuilt.copy()
        view.pairs = self.pairs.copy()
        view.size = self.size
        return view

    def parts(self) -> list[Part]:
        """Its lines, oldest first."""
        return [Part(level, start >> level) for start, level in self.lines.items()]

    def has(self, level: int, i: int) -> bool:
        return self.lines.get(i << level) == level

    def needs(self, level: int, i: int) -> bool:
        """Whether a node is one of its lines or stands above some: only of these it will ever ask the size."""
        line = self.lines.get(i << level)
        return line is not None and line <= level

    def append(self, i: int) -> None:
        """Message `i` brings its line; nothing else changes. Rule 22."""
        self.put(0, i)

    def put(self, level: int, i: int) -> None:
        """A line at the end."""
        start = i << level
        self.lines[start] = level
        size = self.sizes.get((level, i))
        if size is None:
            self.unbuilt[start] = None
            size = PLACEHOLDER_BYTES
        self.size += size
        self._offer(level, i)

    def built(self, level: int, i: int) -> None:
        """A node was built and stands in `sizes`: its line has its text now, and a pair below it can merge."""
        start = i << level
        line = self.lines.get(start)
        if line == level:
            self.size += self.sizes[level, i] - PLACEHOLDER_BYTES
            del self.unbuilt[start]
            self._offer(level, i)
        elif level and line == level - 1 and self.lines.get(start + (1 << line)) == line:
            self.pairs.add((level, i))

    def fit(self, t: int, floor: int) -> list[Part]:
        """Merges the most due pair again and again, of equals the oldest, while it is larger than `floor` bytes.

        The parents in the order merged. Ends above the floor only where no pair can merge. Rules 19, 23, 24.
        """
        if self.size <= floor:
            return []
        merged = []
        due = [_due(t, level, i) for level, i in self.pairs]
        heapify(due)
        while due and self.size > floor:
            _, start, level = heappop(due)
            parent = Part(level, start >> level)
            above = self._merge(parent)
            if above is not None:
                heappush(due, _due(t, *above))
            merged.append(parent)
        return merged

    def replace(self, parent: Part) -> list[tuple[int, int]]:
        """Puts a built node in the place of all lines inside it: these; none where lines do not fill it.

        For reading a log's batches, from which lines may have been lost.
        """
        if parent not in self.sizes:
            return []
        inside = []
        at = parent.start
        while at < parent.end and (level := self.lines.get(at)) is not None:
            inside.append((level, at >> level))
            at += 1 << level
        if at != parent.end or inside == [parent]:
            return []
        for level, i in inside:
            self.size -= self.sizes.get((level, i), PLACEHOLDER_BYTES)
            self.unbuilt.pop(i << level, None)
            self.pairs.discard((level + 1, i >> 1))
            if i << level != parent.start:  # the first one's key stays: the parent comes where it stood
                del self.lines[i << level]
        self.lines[parent.start] = parent.level
        self.size += self.sizes[parent]
        self._offer(*parent)
        return inside

    def _merge(self, parent: Part) -> tuple[int, int] | None:
        """Merges a pair; the pair that comes up with it, by its parent, if one does."""
        level, i = parent
        left, right = 2 * i, 2 * i + 1
        below = level - 1
        sizes = self.sizes
        self.pairs.remove(parent)
        del self.lines[right << below]
        self.lines[i << level] = level
        self.size += (
            sizes[parent] - sizes.get((below, left), PLACEHOLDER_BYTES) - sizes.get((below, right), PLACEHOLDER_BYTES)
        )
        if self.unbuilt:
            self.unbuilt.pop(left << below, None)
            self.unbuilt.pop(right << below, None)
        return self._offer(level, i)

    def _offer(self, level: int, i: int) -> tuple[int, int] | None:
        """Notes the pair of a line and its neighbour where it can merge; its parent."""
        parent = (level + 1, i >> 1)
        if parent in self.sizes and self.lines.get((i ^ 1) << level) == level:
            self.pairs.add(parent)
            return parent
        return None


def _due(t: int, level: int, i: int) -> tuple[int, int, int]:
    """A key that sorts pairs, by their parents, most due first, of equals the oldest.

    (t - last) / 2^l, l the level of the halves, as whole 2^-64ths. Compared in whole numbers: no float.
    """
    return -((t + 1 - ((i + 1) << level)) << (LEVELS_MAX - level)), i << level, level
