"""In a history in which each start is one of the queue at that moment, no more calls run than there are job slots."""

import pytest
from hypothesis import given

from laws.history import History, histories


@pytest.mark.rule("39")
@given(histories(adverse=False))
def test_no_more_calls_run_than_there_are_slots(history: History) -> None:
    for _, owner in history.moments():
        assert len(owner.chat.running) <= history.limits.jobs
