"""When a wait begins, what runs on is an unbuilt line of the view: all else has stopped."""

import pytest
from hypothesis import given

from laws.history import History, histories


@pytest.mark.rule("D5")
@given(histories())
def test_a_wait_stops_all_that_its_turn_does_not_need_and_nothing_else(history: History) -> None:
    chat = history.end().chat
    running, failures, parked = set(chat.running), dict(chat.failures), set(chat.parked)
    needed = {line for line in chat.view.parts() if not chat.built_nodes.has(*line)}
    stopped = chat.wait()
    assert running & needed == chat.running
    assert sorted(running - needed) == stopped
    assert (failures, parked) == (chat.failures, chat.parked)  # being stopped is no failure
