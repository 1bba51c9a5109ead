"""Whatever lines the tree log has, lost, broken or foreign ones among them, the view read covers all messages."""

import pytest
from hypothesis import given

from laws.history import Owner, damaged
from laws.words import tiles


@pytest.mark.rule("14", "D1")
@given(damaged())
def test_the_views_read_from_a_damaged_log_cover_all_messages(owner: Owner) -> None:
    chat = owner.folded(owner.checkpoints[0]).chat
    assert len(owner.messages) == chat.t
    assert tiles(chat.view.parts(), chat.t)
    assert tiles(chat.compaction_view.parts(), chat.t)
