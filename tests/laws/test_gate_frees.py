"""When the writer's response begins all waiters go; when it ends before that, in any way, the first waiter writes."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eukhe.model.gate import Gone
from laws.gates import Event, after, histories


@pytest.mark.rule("30")
@given(histories())
def test_all_waiters_go_once_the_writers_response_begins(history: list[Event]) -> None:
    onlooker = after(history)
    assume(onlooker.flying)
    (writer,), waiting = onlooker.flying, tuple(onlooker.waiting)
    assert Gone(waiting) == onlooker.apply(Event("started", writer, 0))
    assert [] == onlooker.waiting == onlooker.flying


@pytest.mark.rule("30")
@given(histories(), st.sampled_from(["ended", "stopped"]))
def test_the_first_waiter_writes_when_the_writer_ends_in_any_other_way(history: list[Event], how: str) -> None:
    onlooker = after(history)
    assume(onlooker.flying)
    (writer,), waiting = onlooker.flying, tuple(onlooker.waiting)
    expected = Gone(waiting[:1], writes=True) if waiting else Gone()
    assert expected == onlooker.apply(Event(how, writer, 0))
