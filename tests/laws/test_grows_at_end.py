"""While no batch runs, a view whose lines are all built begins every later view, with the same texts."""

import pytest
from hypothesis import given

from eukhe.model.part import Part
from laws.history import History, histories
from laws.words import is_prefix


@pytest.mark.rule("25", "28")
@given(histories())
def test_a_settled_view_is_a_prefix_of_all_later_ones_until_a_batch(history: History) -> None:
    settled: list[Part] = []
    sizes: list[int] = []
    for _, owner in history.moments():
        lines = owner.chat.view.parts()
        if owner.batch is None:
            assert is_prefix(settled, lines)
            assert sizes == [owner.chat.sizes[line] for line in settled]
        if owner.chat.settled:
            settled = lines
            sizes = [owner.chat.sizes[line] for line in lines]
        elif owner.batch is not None:
            settled, sizes = [], []
