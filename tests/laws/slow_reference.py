"""The planner once more, slowly: plain lists, everything counted anew, due as fractions.

Written from the design's words, sections 2 to 4, and not from the planner's code; whole states are compared.
"""

from eukhe.model.chat import ChatLimits
from eukhe.model.part import Part
from laws.words import bytes_of, edge, fitted, is_ready, nodes, unbuilt


class SlowChat:
    """`sizes`: every node ever built, with its bytes. `batch`: the last event's merges, None where none ran."""

    def __init__(self, limits: ChatLimits) -> None:
        self.limits = limits
        self.t = 0
        self.view: list[Part] = []
        self.compaction_view: list[Part] = []
        self.sizes: dict[Part, int] = {}
        self.running: list[Part] = []
        self.parked: list[Part] = []
        self.failures: dict[Part, int] = {}
        self.shrinking = False
        self.batch: list[Part] | None = None

    def message(self, size: int) -> None:
        own = Part(0, self.t)
        self.t += 1
        self.parked = []
        self.view.append(own)
        self.compaction_view.append(own)
        self.batch = self._batch_if_due()
        if not self.batch and bytes_of(self.compaction_view, self.sizes) > self.limits.compaction_ceiling:
            self._fit_compaction_view()
        if size <= self.limits.node:
            self._build(own, size)

    def take(self) -> None:
        self.batch = self._batch_if_due()

    def start(self, part: Part) -> None:
        self.batch = None
        if part not in self.running:
            self.running.append(part)

    def built(self, part: Part, size: int) -> None:
        self.batch = None
        self._end_call(part)
        if part not in self.sizes:
            self._build(part, size)

    def failed(self, part: Part, size: int) -> None:
        self.batch = None
        if part in self.sizes:
            self._end_call(part)
            return
        failures = self.failures.get(part, 0) + 1
        self._end_call(part)
        if failures >= self.limits.failures:
            self._build(part, size)
        else:
            self.failures[part] = failures
            self.parked.append(part)

    def wait(self) -> None:
        self.batch = None
        self.running = [part for part in self.running if part in unbuilt(self.view, self.sizes)]

    def tick(self) -> None:
        self.batch = None
        self.parked = []

    def restart(self, _: int) -> None:
        self.batch = None
        self.running, self.parked, self.failures = [], [], {}
        self.compaction_view = list(self.view)
        self._fit_compaction_view()

    def checkpoint(self) -> None:
        self.batch = None

    def ready(self) -> list[Part]:
        """By a scan of the whole tree."""
        return sorted(part for part in nodes(self.t) if is_ready(part, self.sizes))

    def queue(self, *, need: bool) -> list[Part]:
        slots = max(0, self.limits.jobs - len(self.running))
        lines = [line for line in unbuilt(self.view, self.sizes)[: self.limits.jobs] if self._may_start(line)]
        merges = [] if need else [part for part in self.ready() if self._may_start(part)]
        return (lines + merges)[:slots]

    def context(self, part: Part) -> list[Part]:
        seen = []
        for line in self.compaction_view:
            if line not in self.sizes or line.end > edge(part):
                break
            seen.append(line)
        return seen

    def _batch_if_due(self) -> list[Part] | None:
        if not self.shrinking and bytes_of(self.view, self.sizes) <= self.limits.ceiling:
            return None
        self.view, merges = fitted(self.view, self.sizes, self.t, self.limits.floor)
        self.shrinking = bytes_of(self.view, self.sizes) > self.limits.floor
        if merges:
            self.compaction_view = list(self.view)
            self._fit_compaction_view()
        return merges

    def _fit_compaction_view(self) -> None:
        floor = self.limits.compaction_floor
        self.compaction_view, _ = fitted(self.compaction_view, self.sizes, self.t, floor)

    def _build(self, part: Part, size: int) -> None:
        """And the free merges above, upwards."""
        self.sizes[part] = size
        self._end_call(part)
        self.failures.pop(part, None)
        if is_ready(part.parent, self.sizes):
            joined = sum(self.sizes[half] for half in part.parent.halves) + 1
            if joined <= self.limits.node:
                self._build(part.parent, joined)

    def _end_call(self, part: Part) -> None:
        self.running = [other for other in self.running if other != part]
        self.parked = [other for other in self.parked if other != part]

    def _may_start(self, part: Part) -> bool:
        return part not in self.running and part not in self.parked
