"""A turn that takes its view changes nothing while the view is not shrinking and at or under the ceiling."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import bytes_of


@pytest.mark.rule("28", "D12")
@given(histories())
def test_a_take_changes_nothing_where_no_batch_is_due(history: History) -> None:
    for before, event, owner in history.steps():
        due = before.shrinking or bytes_of(before.view, owner.sizes) > history.limits.ceiling
        if event.name == "take" and not due:
            assert owner.batch is None
            assert before == owner.state
