"""A message runs no batch while the view is not shrinking and, with its line, is at or under the ceiling."""

import pytest
from hypothesis import given

from eukhe.limits import PLACEHOLDER_BYTES
from eukhe.model.part import Part
from laws.history import History, histories
from laws.words import bytes_of


@pytest.mark.rule("22", "23")
@given(histories())
def test_a_message_runs_no_batch_while_the_view_has_room(history: History) -> None:
    sizes: dict[Part, int] = {}
    for before, event, owner in history.steps():
        with_line = bytes_of(before.view, sizes) + PLACEHOLDER_BYTES
        if event.name == "message" and not before.shrinking and with_line <= history.limits.ceiling:
            assert owner.batch is None
        sizes = dict(owner.sizes)
