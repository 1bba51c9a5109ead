"""Nobody overtakes: who just asked is sent at once only where nobody waits; else the longest waiting go first."""

import pytest
from hypothesis import given

from laws.gates import Event, after, events, histories


@pytest.mark.rule("30")
@given(histories(), events())
def test_first_come_first_sent(history: list[Event], event: Event) -> None:
    onlooker = after(history)
    waiting = tuple(onlooker.waiting)
    sent = onlooker.would(event).calls
    if event.name == "ask":
        assert sent == () or (waiting == () and sent == (event.call,))
    else:
        assert sent == waiting[: len(sent)]
