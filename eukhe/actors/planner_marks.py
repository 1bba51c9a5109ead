"""Where the cache marks of a view's last request stood, and whether its beginning is the same since. Rules 29, 32.

A view grows at its end until a merge changes it further up. What was sent before that is still in the provider's cache,
up to the mark of then; what comes after it begins a prefix of its own, a new *batch*.
"""

from typing import NamedTuple

from eukhe.limits import BLOCK_LINES
from eukhe.model.part import Part


class Mark(NamedTuple):
    """`batch`: a number that changes when the beginning does. `lines`: of the view, before the mark sent last.

    These are 0 where the view is not the same up to there, or not that long.
    """

    batch: int
    lines: int


class Marks:
    """Of one view. `t`: the messages at the start, so that no owner counts batches as one before it did."""

    def __init__(self, t: int) -> None:
        self._batch = t
        self._seen: tuple[Part, ...] = ()  # the most that was sent of this batch
        self._marked = 0

    def next(self, t: int, lines: tuple[Part, ...], built: int) -> Mark:
        """A request sends these lines, the first `built` of them with a text that stays: what of it was marked before.

        `t`: the messages that there are.
        """
        same = min(len(lines), len(self._seen))
        if lines[:same] != self._seen[:same]:
            self._batch = max(self._batch + 1, t)
            self._seen = ()
            self._marked = 0
        mark = Mark(self._batch, self._marked if self._marked <= built else 0)
        if len(lines) >= len(self._seen):  # a shorter one, as a merge's may be, takes nothing back
            self._seen = lines
        self._marked = max(self._marked, built - built % BLOCK_LINES)
        return mark
