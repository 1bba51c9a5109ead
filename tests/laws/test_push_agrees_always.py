"""With push's list length as its budget, due order makes exactly push's merges at every step of any number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.part import Part
from laws.push import Entries, Race, entries_of, push

STEPS = 40


@pytest.mark.rule("20")
@given(st.lists(st.integers(1, 2), max_size=40))
def test_due_order_makes_pushs_merges_from_any_of_its_lists_on(digits: list[int]) -> None:
    entries, t = entries_of(digits)
    race = Race(entries, STEPS)
    assert t == race.t
    for _ in range(STEPS):
        race.step()
        assert race.agrees


def test_the_lists_named_by_their_digits_are_those_that_pushing_makes() -> None:
    entries: Entries = []
    for i in range(3_000):
        digits = [1 + line.level - j for j, line in enumerate(entries)]
        assert (entries, i) == entries_of(digits)
        push(entries, Part(0, i))
