"""After any history every merged line of the compaction view is built."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import summarized


@pytest.mark.rule("18", "33")
@given(histories())
def test_every_merged_line_of_the_compaction_view_is_built(history: History) -> None:
    for event, owner in history.moments():
        assert (event, True) == (event, summarized(owner.chat.compaction_view.parts(), owner.sizes))
