"""The chat's memory: views, queue, failures. Pure: no clock, disk or threads.

Numbers only: nodes and the bytes of their texts. What happened comes in as a method, what follows goes out as its
result; the planner actor turns that into orders. No float, no clock, no scan of the tree: an unbuilt line is found in
the view's own list, a ready merge when its second half is built (rule 42).

Two views. The chat's own is what turns see. The compaction view is the same merged further; a call for a line sees
its beginning (rules 32 to 34).
"""

from collections.abc import Container
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from eukhe import limits
from eukhe.model.built import Built
from eukhe.model.part import Part
from eukhe.model.view import Sizes, View

Merges = tuple[Part, ...]
"""The parents that one batch merged in the view, in order."""


class ChatLimits(NamedTuple):
    """The limits of one chat: bytes, job slots, failures at which a node is built from its input."""

    ceiling: int = limits.VIEW_CEILING_BYTES
    floor: int = limits.VIEW_FLOOR_BYTES
    compaction_ceiling: int = limits.COMPACTION_CEILING_BYTES
    compaction_floor: int = limits.COMPACTION_FLOOR_BYTES
    jobs: int = limits.JOBS_MAX
    node: int = limits.NODE_BYTES_MAX
    failures: int = limits.FAILURES_MAX


class Step(NamedTuple):
    """What a message brings: its batch (None where none ran), then the free nodes, upwards."""

    batch: Merges | None
    free: tuple[Part, ...]


class Chat:
    """The state of one chat.

    `t`: messages. `running`, `parked`: nodes whose call runs, or failed and waits. `failures`: failed calls by node.
    `shrinking`: the last batch ended above the floor. `ready`: merges whose halves are built and that are not.
    """

    def __init__(self, limits: ChatLimits | None = None) -> None:
        self.limits = limits or ChatLimits()
        self.t = 0
        self.built_nodes = Built()
        self.sizes: Sizes = {}
        self.view = View(self.sizes)
        self.compaction_view = View(self.sizes)
        self.shrinking = False
        self.running: set[tuple[int, int]] = set()
        self.parked: set[tuple[int, int]] = set()
        self.failures: dict[tuple[int, int], int] = {}
        self.ready: set[tuple[int, int]] = set()
        # A heap of `ready`: without some that are parked or `_beyond`, and with some that are no longer ready.
        self._ready_order: list[tuple[int, int]] = []
        self._beyond: list[tuple[int, int]] = []  # ready merges that were left out, their messages past `_beyond_end`
        self._beyond_end = 0

    # --- messages and turns ---

    def message(self) -> Merges | None:
        """A message was logged: its line, the batch where one is due, the compaction view's own. Rules 22 to 24, 33."""
        i = self.t
        self.t += 1
        self._unpark()  # rule 38
        self.view.append(i)
        self.compaction_view.append(i)
        batch = self._batch()
        if not batch and self.compaction_view.size > self.limits.compaction_ceiling:
            self.compaction_view.fit(self.t, self.limits.compaction_floor)
        return batch

    def take(self) -> Merges | None:
        """A turn takes its view, or `memory build` ends: the batch where one is due. D12."""
        return self._batch()

    def wait(self, done: Container[tuple[int, int]] = ()) -> list[Part]:
        """A turn begins to wait: the running calls that it does not need stop, which is no failure. D5.

        `done`: nodes whose call has ended and whose line is on its way to the disk.
        """
        stopped = sorted(part for part in self.running if part not in done and not self._is_unbuilt_line(*part))
        self.running.difference_update(stopped)
        return [Part(*part) for part in stopped]

    def tick(self) -> None:
        """The tick of a waiting turn: parked nodes may start again. D5."""
        self._unpark()

    @property
    def settled(self) -> bool:
        """Every line of the view is built."""
        return not self.view.unbuilt

    def _batch(self) -> Merges | None:
        if not self.shrinking and self.view.size <= self.limits.ceiling:
            return None
        merges = self.view.fit(self.t, self.limits.floor)
        self.shrinking = self.view.size > self.limits.floor
        if merges:
            self.restart_compaction_view()
            for parent in merges:
                for half in parent.halves:
                    self.sizes.pop(half, None)  # below both views now: never asked for again
        return tuple(merges)

    def restart_compaction_view(self) -> None:
        """The compaction view anew: the view, merged on to its floor. Rule 33, D7."""
        self.compaction_view = self.view.copy()
        self.compaction_view.fit(self.t, self.limits.compaction_floor)

    # --- calls ---

    def start(self, part: Part) -> None:
        self.running.add(part)

    def built(self, part: Part, size: int) -> bool:
        """A node's line, of `size` bytes. False, and nothing changes, where it was built before: the first one wins."""
        self.running.discard(part)
        self.parked.discard(part)
        self.failures.pop(part, None)
        level, i = part
        if not self.built_nodes.add(level, i):
            return False
        self._no_longer_ready(part)
        if self.view.needs(level, i) or part.start >= self.t:
            self.sizes[part] = size
            self.view.built(level, i)
            self.compaction_view.built(level, i)
        if self.built_nodes.has(level, i ^ 1) and not self.built_nodes.has(level + 1, i >> 1):
            self.ready.add((level + 1, i >> 1))
            heappush(self._ready_order, (level + 1, i >> 1))
        return True

    def failed(self, part: Part, size: int) -> bool:
        """A call failed: parked, or at the last failure built from its input of `size` bytes, which is True."""
        self.running.discard(part)
        if self.built_nodes.has(*part):
            return False
        failures = self.failures.get(part, 0) + 1
        if failures >= self.limits.failures:
            return self.built(part, size)
        self.failures[part] = failures
        self.parked.add(part)
        return False

    def stopped(self, part: Part) -> None:
        """A call ended without an outcome, as in an outage of the provider's: it may start again. D13."""
        self.running.discard(part)

    def queue(self, *, need: bool = False, end: int | None = None) -> list[Part]:
        """What may start now, in order: unbuilt lines oldest first, then ready merges by level and index.

        As many as there are free slots. `need`: a turn waits, so unbuilt lines of the view alone. `end`: only what lies
        within the messages before it. Rules 39, 40, D5.
        """
        slots = self.limits.jobs - len(self.running)
        if slots <= 0:
            return []
        lines = self.view.lines
        candidates = []
        for start in islice(self.view.unbuilt, self.limits.jobs):
            part = Part(lines[start], start >> lines[start])
            if end is not None and part.end > end:
                break
            if part not in self.running and part not in self.parked:
                candidates.append(part)
        del candidates[slots:]
        return candidates if need else candidates + self._ready(slots - len(candidates), end)

    def _ready(self, count: int, end: int | None) -> list[Part]:
        if self._beyond and (end is None or end > self._beyond_end):
            for part in self._beyond:
                heappush(self._ready_order, part)
            self._beyond.clear()
        passed: list[tuple[int, int]] = []
        found: list[Part] = []
        while self._ready_order and len(found) < count:
            part = heappop(self._ready_order)
            if part not in self.ready or (passed and passed[-1] == part):
                continue
            if part in self.parked:
                continue  # back when it may start again
            if end is not None and Part(*part).end > end:
                self._beyond.append(part)  # once, and not again each time: there may be many
                self._beyond_end = end
                continue
            passed.append(part)
            if part not in self.running:
                found.append(Part(*part))
        for part in passed:
            heappush(self._ready_order, part)
        return found

    def _unpark(self) -> None:
        for part in self.parked:
            if part in self.ready:
                heappush(self._ready_order, part)
        self.parked.clear()

    def _no_longer_ready(self, part: Part) -> None:
        if part not in self.ready:
            return
        self.ready.remove(part)
        if len(self._ready_order) > 2 * len(self.ready):  # free merges come and go while nobody asks for the queue
            self._ready_order = sorted(self.ready)

    def _is_unbuilt_line(self, level: int, i: int) -> bool:
        return self.view.has(level, i) and i << level in self.view.unbuilt

    def find_ready(self) -> None:
        """The ready merges of a chat that was read from its logs."""
        for part in self.built_nodes.ready():
            self.ready.add(part)
            heappush(self._ready_order, part)

    # --- free nodes ---

    def logged(self, size: int) -> Step:
        """A message of `size` bytes was logged: `message`, then its free node and the free merges above. Rule 12."""
        batch = self.message()
        part = Part(0, self.t - 1)
        if size > self.limits.node:
            return Step(batch, ())
        self.built(part, size)
        return Step(batch, (part, *self.free_above(part)))

    def free_above(self, part: Part) -> list[Part]:
        """Builds the free merges above a node just built, upwards. Where a size is not known a call decides."""
        free = []
        while (parent := part.parent) in self.ready:
            left, right = (self.sizes.get(half) for half in parent.halves)
            if left is None or right is None or left + 1 + right > self.limits.node:
                break
            self.built(parent, left + 1 + right)
            free.append(parent)
            part = parent
        return free

    # --- compactions ---

    def context(self, part: Part) -> list[Part]:
        """The lines of the compaction view that a call for a node sees, oldest first. Rules 34, 41, F2.

        For a message those before it, for a merge those up to its last message; up to the first unbuilt one.
        """
        end = part.end if part.level else part.start
        seen = []
        view = self.compaction_view
        for start, level in view.lines.items():
            if start + (1 << level) > end or start in view.unbuilt:
                break
            seen.append(Part(level, start >> level))
        return seen
