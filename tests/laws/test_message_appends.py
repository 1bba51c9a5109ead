"""Where a message ran no batch, the new view is the old one and then the message's own line."""

import pytest
from hypothesis import given

from eukhe.model.part import Part
from laws.history import History, histories


@pytest.mark.rule("22", "28")
@given(histories())
def test_a_message_without_a_batch_appends_its_line_and_changes_nothing_else(history: History) -> None:
    for before, event, owner in history.steps():
        if event.name == "message" and owner.batch is None:
            assert [*before.view, Part(0, before.t)] == owner.chat.view.parts()
