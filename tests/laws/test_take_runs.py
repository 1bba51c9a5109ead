"""A turn that takes its view runs a batch on the condition on which a message does."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import bytes_of


@pytest.mark.rule("D12")
@given(histories())
def test_a_take_runs_a_batch_where_one_is_due(history: History) -> None:
    for before, event, owner in history.steps():
        if event.name == "take":
            due = before.shrinking or bytes_of(before.view, owner.sizes) > history.limits.ceiling
            assert due == (owner.batch is not None)
