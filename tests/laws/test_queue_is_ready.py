"""After any history the queue is the needed lines and then merges whose halves are built and that are not."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import is_ready


@pytest.mark.rule("40", "42")
@given(histories())
def test_after_the_needed_lines_come_ready_merges_in_order(history: History) -> None:
    for _, owner in history.moments():
        merges = owner.chat.queue()[len(owner.chat.queue(need=True)) :]
        assert all(is_ready(part, owner.sizes) for part in merges)
        assert sorted(merges) == merges
