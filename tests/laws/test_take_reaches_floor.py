"""A take's batch merges the view to the floor, or as far as it goes, and then the view is shrinking."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import bytes_of, can_merge, chain


@pytest.mark.rule("D12")
@given(histories())
def test_a_takes_batch_reaches_the_floor_or_the_view_is_shrinking(history: History) -> None:
    for before, event, owner in history.steps():
        if event.name == "take" and owner.batch is not None:
            after = owner.chat.view.parts()
            assert after == chain(before.view, owner.batch, owner.sizes)
            assert owner.chat.shrinking == (bytes_of(after, owner.sizes) > history.limits.floor)
            assert not owner.chat.shrinking or can_merge(after, owner.sizes) == []
