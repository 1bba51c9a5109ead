"""While nothing runs and nothing is parked, a waiting turn's queue is empty only where every line is built."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import unbuilt


@pytest.mark.rule("47", "D5")
@given(histories())
def test_a_waiting_turn_always_has_something_to_start(history: History) -> None:
    for _, owner in history.moments():
        chat = owner.chat
        if not chat.running and not chat.parked and history.limits.jobs:
            assert chat.settled == (chat.queue(need=True) == [])
            assert chat.settled == (unbuilt(chat.view.parts(), owner.sizes) == [])
