"""Each event sends a waiting call, or is its own leaving, or it waits on, with no more calls before it than before."""

import pytest
from hypothesis import given

from laws.gates import Event, after, events, histories


@pytest.mark.rule("30")
@given(histories(), events())
def test_who_waits_is_sent_leaves_or_waits_on_no_further_back(history: list[Event], event: Event) -> None:
    onlooker = after(history)
    before = list(onlooker.prefix.waiters)
    sent = onlooker.would(event).calls
    for call in before:
        if call in sent or (event.leaves and event.call == call):
            assert call not in onlooker.prefix.waiters
        else:
            assert onlooker.prefix.waiters.index(call) <= before.index(call)
