"""While a turn waits only unbuilt lines of the view start, and at all times these come first in the queue."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import is_prefix, unbuilt


@pytest.mark.rule("40", "D5")
@given(histories())
def test_what_a_waiting_turn_needs_leads_the_queue(history: History) -> None:
    for _, owner in history.moments():
        need = owner.chat.queue(need=True)
        assert set(need) <= set(unbuilt(owner.chat.view.parts(), owner.sizes))
        assert is_prefix(need, owner.chat.queue())
        assert sorted(need) == need
