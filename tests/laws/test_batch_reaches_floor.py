"""A message's batch merges to the floor, or as far as it goes, and then the view is shrinking."""

import pytest
from hypothesis import given

from eukhe.model.part import Part
from laws.history import History, histories
from laws.words import bytes_of, can_merge, chain


@pytest.mark.rule("23", "24", "60", "62")
@given(histories())
def test_a_batch_reaches_the_floor_or_the_view_is_shrinking(history: History) -> None:
    sizes: dict[Part, int] = {}
    for before, event, owner in history.steps():
        if event.name == "message" and owner.batch is not None:
            after = owner.chat.view.parts()
            assert after == chain([*before.view, Part(0, before.t)], owner.batch, sizes)
            assert owner.chat.shrinking == (bytes_of(after, sizes) > history.limits.floor)
            assert not owner.chat.shrinking or can_merge(after, sizes) == []
        sizes = dict(owner.sizes)
