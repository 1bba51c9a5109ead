"""After any history the compaction view covers the messages 0 to T - 1: each once, without a gap, oldest first."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import tiles


@pytest.mark.rule("33")
@given(histories())
def test_the_compaction_view_covers_the_whole_chat_after_each_event(history: History) -> None:
    for event, owner in history.moments():
        assert (event, True) == (event, tiles(owner.chat.compaction_view.parts(), owner.chat.t))
