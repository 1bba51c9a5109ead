"""The words of the laws, on plain lists of lines, oldest first. Nothing of the planner's own code but the nodes.

`built` and `sizes` map each built node to the bytes of its text.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from eukhe.limits import PLACEHOLDER_BYTES
from eukhe.model.part import Part

Lines = Sequence[Part]
Sizes = Mapping[Part, int]
Due = Callable[[Part, int], Fraction]


def tiles(lines: Lines, t: int) -> bool:
    """They cover the messages 0 to t - 1: each once, without a gap, oldest first."""
    ends = [0, *(line.end for line in lines)]
    return [line.start for line in lines] == ends[:-1] and ends[-1] == t


def bytes_of(lines: Lines, sizes: Sizes) -> int:
    return sum(sizes.get(line, PLACEHOLDER_BYTES) for line in lines)


def merged(lines: Lines, parent: Part) -> list[Part] | None:
    """The lines with both halves of `parent`, neighbours in order, replaced by it; None where they are not there."""
    if parent.level == 0:
        return None
    left, right = parent.halves
    for at in range(len(lines) - 1):
        if lines[at] == left and lines[at + 1] == right:
            return [*lines[:at], parent, *lines[at + 2 :]]
    return None


def chain(lines: Lines, merges: Sequence[Part], sizes: Sizes) -> list[Part] | None:
    """The lines after merging built parents one after another; None where one of them can't merge."""
    after: list[Part] | None = list(lines)
    for parent in merges:
        if after is None or parent not in sizes:
            return None
        after = merged(after, parent)
    return after


def can_merge(lines: Lines, sizes: Sizes) -> list[Part]:
    """The built parents of which both halves are neighbours here, oldest first."""
    pairs = ((line.parent, line, after) for line, after in pairwise(lines))
    return [parent for parent, *halves in pairs if parent in sizes and tuple(halves) == parent.halves]


def due(parent: Part, t: int) -> Fraction:
    """(t - last) / 2^l, `last` the pair's last message, l the level of its halves. Rule 19."""
    return Fraction(t - (parent.end - 1), 1 << (parent.level - 1))


def due_from_first(parent: Part, t: int) -> Fraction:
    """The known mistake: the age counted from the pair's first message. Rule 21."""
    return Fraction(t - parent.start, 1 << (parent.level - 1))


def most_due(lines: Lines, sizes: Sizes, t: int, order: Due = due) -> Part | None:
    """The most due of the parents that can merge, of equals the oldest."""
    # max keeps the first of equals, and they come oldest first.
    return max(can_merge(lines, sizes), key=lambda parent: order(parent, t), default=None)


def fitted(lines: Lines, sizes: Sizes, t: int, floor: int) -> tuple[list[Part], list[Part]]:
    """The sawtooth by hand: the lines merged to `floor` bytes, or as far as it goes, and the merges in order."""
    after, merges = list(lines), []
    while bytes_of(after, sizes) > floor and (parent := most_due(after, sizes, t)) is not None:
        after = merged(after, parent) or []
        merges.append(parent)
    return after, merges


def unbuilt(lines: Lines, sizes: Sizes) -> list[Part]:
    return [line for line in lines if line not in sizes]


def summarized(lines: Lines, sizes: Sizes) -> bool:
    """Every merged line is built; only a message's own line may not be."""
    return all(line in sizes for line in lines if line.level)


def is_prefix(lines: Lines, of: Lines) -> bool:
    return list(lines) == list(of[: len(lines)])


def is_ready(part: Part, sizes: Sizes) -> bool:
    """A merge that may start: both halves are built and it is not."""
    return part.level > 0 and part not in sizes and all(half in sizes for half in part.halves)


def edge(part: Part) -> int:
    """Where the view of a compaction ends: before its message, or after its merge's last one."""
    return part.end if part.level else part.start


def nodes(t: int) -> list[Part]:
    """Every node of which all messages are among the first t, level by level."""
    return [Part(level, i) for level in range(t.bit_length()) for i in range(t >> level)]
