"""Zooming by the words of a question, as a reader does who knows nothing else. Pure: no clock, disk or threads.

A line promises as much as the question's words in it are rare in the view, more where they are many of the question's,
a little for its neighbour's words (a result stands beside its call), and a little for every level, since a line of
more messages hides more. The most promising line is zoomed into, then the most promising of what is seen then. A line
that hides nothing is not zoomed into.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from eukhe.limits import (
    NODE_BYTES_MAX,
    SEEK_FULL_BYTES,
    SEEK_HASH_CHARS_MIN,
    SEEK_LEVEL_PROMISE,
    SEEK_NEIGHBOUR_SHARE,
    SEEK_SEEN_HALF,
    SEEK_STEM_CHARS_MIN,
)
from eukhe.model.part import Part
from eukhe.model.text import size

# Hashes and the like whole; else capitals, the words of an identifier, numbers.
_WORD = re.compile(rf"\b(?=[a-z]*\d)[\da-z]{{{SEEK_HASH_CHARS_MIN},}}\b|[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_ENDINGS = ("ing", "ed", "es", "s", "e")
_ASKING = frozenset(
    """
    a about according after again all an and any are as at be been before being but by can could did do does for from
    had has have how i if in is it its make me my no not of old on or our s should since so still t than that the their
    them there they this to two up us was we were what when where which while who why will with would you your say says
    """.split()  # noqa: SIM905
)


class Seeker:
    """One search. `line_of`: a node's line."""

    def __init__(self, view: Sequence[Part], line_of: Callable[[Part], str], question: str) -> None:
        self._line_of = line_of
        self._asked = frozenset(words(question))
        with_word = Counter(word for part in view for word in self._found(part))
        self._rarity = {word: math.log((len(view) + 1) / (with_word[word] + SEEK_SEEN_HALF)) for word in self._asked}
        self._lines: list[tuple[float, int, int]] = []  # promise, level, first message
        self._see(view)

    def next(self) -> Part | None:
        """The line to zoom into next, which is taken as done; None where no line is left."""
        if not self._lines:
            return None
        best = max(self._lines)
        self._lines.remove(best)
        _, level, start = best
        part = Part(level, start >> level)
        if level:
            self._see(part.halves)
        return part

    def _see(self, parts: Sequence[Part]) -> None:
        own = [0.0, *map(self._promise, parts), 0.0]
        for at, part in enumerate(parts):
            if _hides(self._line_of(part)):
                beside = SEEK_NEIGHBOUR_SHARE * max(own[at], own[at + 2])
                self._lines.append((own[at + 1] + beside + SEEK_LEVEL_PROMISE * part.level, part.level, part.start))

    def _promise(self, part: Part) -> float:
        found = self._found(part)
        return sum(self._rarity[word] for word in sorted(found)) * math.sqrt(len(found) / max(1, len(self._asked)))

    def _found(self, part: Part) -> frozenset[str]:
        return self._asked & set(words(self._line_of(part)))


def words(text: str) -> list[str]:
    """The words of a text, identifiers taken apart, endings taken off, the empty ones of a question left out.

    >>> words("Which ShadowBranches, settings?")
    ['shadow', 'branch', 'setting']
    """
    found = []
    for word in _WORD.findall(text):
        lower = word.lower()
        if lower in _ASKING:
            continue
        for ending in _ENDINGS:
            if lower.endswith(ending) and len(lower) - len(ending) >= SEEK_STEM_CHARS_MIN:
                lower = lower[: -len(ending)]
                break
        found.append(lower)
    return found


def _hides(line: str) -> bool:
    """Whether more stands behind a line than it says: it is full, or says that something is left out."""
    return size(line) > NODE_BYTES_MAX - SEEK_FULL_BYTES or "…" in line
