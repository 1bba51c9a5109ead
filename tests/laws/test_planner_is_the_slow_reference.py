"""After each event of any history the planner's whole state is that of the slow reference."""

from typing import Any

import pytest
from hypothesis import given

from laws.history import History, Owner, histories
from laws.slow_reference import SlowChat
from laws.words import bytes_of, nodes, unbuilt


@pytest.mark.rule("12", "19", "22", "23", "24", "28", "33", "34", "38", "39", "40", "41", "42", "D5", "D7", "D12")
@given(histories())
def test_the_planner_and_the_slow_reference_have_the_same_state_after_each_event(history: History) -> None:
    slow = SlowChat(history.limits)
    for event, owner in history.moments():
        getattr(slow, event.name)(*[value for value in event[1:] if value is not None])
        assert (event, slow_state(slow)) == (event, state(owner))
    for part in nodes(slow.t + 2):
        assert (part, slow.context(part)) == (part, owner.chat.context(part))


def state(owner: Owner) -> dict[str, Any]:
    chat = owner.chat
    return {
        "t": chat.t,
        "batch": None if owner.batch is None else list(owner.batch),
        "view": chat.view.parts(),
        "bytes": chat.view.size,
        "unbuilt": list(chat.view.unbuilt),
        "compaction view": chat.compaction_view.parts(),
        "compaction bytes": chat.compaction_view.size,
        "shrinking": chat.shrinking,
        "settled": chat.settled,
        "running": sorted(chat.running),
        "parked": sorted(chat.parked),
        "failures": chat.failures,
        "ready": sorted(chat.ready),
        "queue": chat.queue(),
        "need": chat.queue(need=True),
        "built": [part for part in nodes(chat.t) if chat.built_nodes.has(*part)],
        "count": chat.built_nodes.count,
        "logged": owner.sizes,
    }


def slow_state(slow: SlowChat) -> dict[str, Any]:
    return {
        "t": slow.t,
        "batch": slow.batch,
        "view": slow.view,
        "bytes": bytes_of(slow.view, slow.sizes),
        "unbuilt": [line.start for line in unbuilt(slow.view, slow.sizes)],
        "compaction view": slow.compaction_view,
        "compaction bytes": bytes_of(slow.compaction_view, slow.sizes),
        "shrinking": slow.shrinking,
        "settled": not unbuilt(slow.view, slow.sizes),
        "running": sorted(slow.running),
        "parked": sorted(slow.parked),
        "failures": slow.failures,
        "ready": slow.ready(),
        "queue": slow.queue(need=False),
        "need": slow.queue(need=True),
        "built": [part for part in nodes(slow.t) if part in slow.sizes],
        "count": len(slow.sizes),
        "logged": slow.sizes,
    }
