"""A message runs a batch while the view is still shrinking, and when the view with its line is above the ceiling."""

import pytest
from hypothesis import given

from eukhe.limits import PLACEHOLDER_BYTES
from eukhe.model.part import Part
from laws.history import History, histories
from laws.words import bytes_of


@pytest.mark.rule("23", "24", "F1")
@given(histories())
def test_a_message_runs_a_batch_where_one_is_due(history: History) -> None:
    sizes: dict[Part, int] = {}
    for before, event, owner in history.steps():
        with_line = bytes_of(before.view, sizes) + PLACEHOLDER_BYTES
        if event.name == "message" and (before.shrinking or with_line > history.limits.ceiling):
            assert owner.batch is not None
        sizes = dict(owner.sizes)
