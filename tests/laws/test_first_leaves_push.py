"""Due from the first message leaves push within 11 steps, t = 0 to 10, and meets it at 481 of 20,001 steps."""

import pytest

from eukhe.model.part import Part
from laws.push import Entries, lines, push

STEPS = 20_001


@pytest.mark.rule("21", "59")
def test_due_from_the_first_message_leaves_push_and_rarely_meets_it_again() -> None:
    entries: Entries = []
    view: list[Part] = []
    meets = []
    for t in range(1, STEPS + 1):
        push(entries, Part(0, t - 1))
        view.append(Part(0, t - 1))
        while len(view) > len(entries):
            merge_most_due_from_first(view, t)
        if view == lines(entries):
            meets.append(t)
    assert not {*range(1, 11)} <= set(meets)
    assert 481 == len(meets)


def merge_most_due_from_first(view: list[Part], t: int) -> None:
    """In place, every node being built; in whole numbers, for the sake of 20,001 steps."""
    best: tuple[int, int] | None = None
    for at in range(len(view) - 1):
        level, i = view[at]
        if i & 1 or view[at + 1].level != level:
            continue
        due = (t - (i << level)) << (STEPS.bit_length() - level)
        if best is None or due > best[0]:
            best = due, at
    assert best is not None
    at = best[1]
    view[at : at + 2] = [view[at].parent]
