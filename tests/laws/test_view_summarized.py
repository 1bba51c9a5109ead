"""After any history every merged line of the view is built: only a message's own line waits."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import summarized


@pytest.mark.rule("18", "63")
@given(histories())
def test_every_merged_line_of_the_view_is_built(history: History) -> None:
    for event, owner in history.moments():
        assert (event, True) == (event, summarized(owner.chat.view.parts(), owner.sizes))
