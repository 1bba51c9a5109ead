"""An event runs at most one batch, and only a message or a take does; what it reports is all that changed."""

import pytest
from hypothesis import given

from eukhe.model.part import Part
from laws.history import History, histories
from laws.words import chain


@pytest.mark.rule("28", "61", "D8")
@given(histories())
def test_only_messages_and_takes_change_the_lines_of_the_view(history: History) -> None:
    for before, event, owner in history.steps():
        expected = [*before.view, Part(0, before.t)] if event.name == "message" else before.view
        if event.name not in ("message", "take"):
            assert owner.batch is None
        assert chain(expected, owner.batch or (), owner.sizes) == owner.chat.view.parts()
