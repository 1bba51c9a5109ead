"""The queue never names more nodes than there are free job slots."""

import pytest
from hypothesis import given

from laws.history import History, histories


@pytest.mark.rule("39")
@given(histories())
def test_the_queue_fits_the_free_slots(history: History) -> None:
    for _, owner in history.moments():
        queue = owner.chat.queue()
        assert len(queue) <= max(0, history.limits.jobs - len(owner.chat.running))
        assert len(set(queue)) == len(queue)
