"""Where the cache marks of a view's last request stood, and whether its beginning is the same since. Rules 29, 32.

A view grows at its end until a merge changes it further up. What was sent before that is still in the provider's cache,
up to the mark of then; what comes after it begins a prefix of its own, a new *batch*.
"""

import zlib
from collections.abc import Iterable
from typing import NamedTuple

from eukhe.limits import BLOCK_LINES
from eukhe.model.part import Part


class Mark(NamedTuple):
    """`batch`: a number that changes when the beginning does. `lines`: of the view, before the mark sent last.

    `lines` is 0 where the view is not the same up to there, or not that long.
    """

    batch: int
    lines: int


class Marks:
    """Of one view."""

    def __init__(self) -> None:
        self._batch: int | None = None
        self._marked = 0

    def next(self, view: Iterable[Part], lines: tuple[Part, ...], built: int) -> Mark:
        """A request sends these first lines of a view, `built` of them with a text that stays: what was marked before.

        A shorter request than those before, as a merge's may be, takes nothing back.
        """
        batch = batch_of(view)
        if batch != self._batch:
            self._batch, self._marked = batch, 0
        mark = Mark(batch, self._marked if self._marked <= built else 0)
        self._marked = max(self._marked, built - built % BLOCK_LINES)
        return mark


def batch_of(view: Iterable[Part]) -> int:
    """The number of a view's beginning: of its merged lines, which no message changes. Every owner counts the same."""
    return zlib.crc32(" ".join(part.name for part in view if part.level).encode())
