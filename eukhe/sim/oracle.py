"""The chat's rules once more, as plainly as they can be said, to hold the planner against.

Lists and sums where the chat has what is fast; no other code of the rules is used. Rules 11 to 13, 18 to 24, 33, 34,
38 to 41, D5.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import pairwise, takewhile
from math import inf

from eukhe.limits import PLACEHOLDER_BYTES
from eukhe.model.chat import ChatLimits
from eukhe.model.part import Part

Batch = tuple[tuple[Part, ...], bool, int]
"""The parents merged, whether the view is still above its floor, the messages then."""


class Oracle:
    """`built`: every built node's bytes. `lines`, `compaction`: the two views. `failures`: failed calls by node."""

    def __init__(self, limits: ChatLimits) -> None:
        self.limits = limits
        self.t = 0
        self.built: dict[Part, int] = {}
        self.lines: list[Part] = []
        self.compaction: list[Part] = []
        self.shrinking = False
        self.failures: Counter[Part] = Counter()
        self.parked: set[Part] = set()  # failed, and not to start before the next message or tick

    @classmethod
    def read(
        cls, limits: ChatLimits, sizes: Iterable[int], nodes: Iterable[tuple[Part, int]], batches: Iterable[Batch]
    ) -> "Oracle":
        """What a start must make of the logs. `sizes`: of the messages."""
        oracle = cls(limits)
        small = []
        for size in sizes:
            part = Part(0, oracle.t)
            oracle.t += 1
            oracle.lines.append(part)
            if size <= limits.node:
                small.append((part, size))
        oracle.built.update(nodes)
        for parents, open_, _ in batches:
            oracle.shrinking = open_
            for parent in parents:
                oracle._replace(parent)
        for part, size in small:
            oracle.build(part, size)
        for part in sorted(oracle.built):
            oracle.build_free_above(part)
        oracle._restart_compaction()
        return oracle

    # --- what happens ---

    def message(self, size: int) -> Batch | None:
        """A message was logged: its line, the batch where one is due, then what is free."""
        part = Part(0, self.t)
        self.t += 1
        self.parked.clear()
        self.lines.append(part)
        self.compaction.append(part)
        batch = self.batch()
        if (batch is None or not batch[0]) and self.bytes_of(self.compaction) > self.limits.compaction_ceiling:
            self._fit(self.compaction, self.limits.compaction_floor)
        if size <= self.limits.node:
            self.build(part, size)
        return batch

    def build(self, part: Part, size: int) -> None:
        """A node is built, and what is free above it."""
        self.failures.pop(part, None)
        self.parked.discard(part)
        self.built.setdefault(part, size)
        self.build_free_above(part)

    def build_free_above(self, part: Part) -> None:
        while (parent := part.parent) not in self.built:
            left, right = (self.built.get(half) for half in parent.halves)
            if left is None or right is None or left + 1 + right > self.limits.node:
                return
            self.failures.pop(parent, None)
            self.parked.discard(parent)
            self.built[parent] = left + 1 + right
            part = parent

    def failed(self, part: Part, size: int) -> bool:
        """A call failed; at the last failure its node is built from its input, which is True."""
        if part in self.built:
            return False
        self.failures[part] += 1
        if self.failures[part] < self.limits.failures:
            self.parked.add(part)
            return False
        self.build(part, size)
        return True

    def batch(self) -> Batch | None:
        """The batch, where one is due."""
        if not self.shrinking and self.bytes_of(self.lines) <= self.limits.ceiling:
            return None
        merges = self._fit(self.lines, self.limits.floor)
        self.shrinking = self.bytes_of(self.lines) > self.limits.floor
        if merges:
            self._restart_compaction()
        return tuple(merges), self.shrinking, self.t

    # --- what is so ---

    @property
    def unbuilt(self) -> set[Part]:
        """The view's lines that are not built."""
        return {part for part in self.lines if part not in self.built}

    def queue(self, running: Collection[Part], *, needed_only: bool, end: float = inf) -> list[Part]:
        """What starts next: of the first unbuilt lines, as many as there are jobs; then merges of what is built.

        `end`: only what lies within the messages before it.
        """
        lines = [line for line in self.lines if line not in self.built][: self.limits.jobs]
        ready = {part.parent for part in self.built if self.built.keys() >= {*part.parent.halves}} - self.built.keys()
        candidates = lines if needed_only else [*lines, *sorted(ready)]
        within = [part for part in candidates if part.end <= end]
        free = [part for part in within if part not in running and part not in self.parked]
        return free[: max(0, self.limits.jobs - len(running))]

    def context(self, end: int) -> list[Part]:
        """What a call sees of the messages before `end`: the compaction view, up to its first unbuilt line."""
        return list(takewhile(lambda line: line.end <= end and line in self.built, self.compaction))

    def bytes_of(self, lines: list[Part]) -> int:
        return sum([self.built.get(part, PLACEHOLDER_BYTES) for part in lines])

    def _restart_compaction(self) -> None:
        self.compaction = self.lines.copy()
        self._fit(self.compaction, self.limits.compaction_floor)

    def _fit(self, lines: list[Part], floor: int) -> list[Part]:
        """Merges the most due pair whose parent is built, of equals the oldest, until it fits."""
        merged = []
        size = self.bytes_of(lines)
        while size > floor:
            pairs = [
                (-(self.t - left.parent.end + 1) / (1 << left.level), at)
                for at, (left, right) in enumerate(pairwise(lines))
                if left.level == right.level and left.parent == right.parent and left.parent in self.built
            ]
            if not pairs:
                break
            _, at = min(pairs)
            parent = lines[at].parent
            size += self.built[parent] - self.bytes_of(lines[at : at + 2])
            lines[at : at + 2] = [parent]
            merged.append(parent)
        return merged

    def _replace(self, parent: Part) -> None:
        """A batch's merge, done over."""
        inside = [at for at, line in enumerate(self.lines) if parent.start <= line.start and line.end <= parent.end]
        if parent in self.built and inside:
            self.lines[inside[0] : inside[-1] + 1] = [parent]
