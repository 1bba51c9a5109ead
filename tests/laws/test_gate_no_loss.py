"""No waiter is lost.

The gate keeps just those who asked and were neither sent nor have left; while somebody waits a writer is under way;
and if the writers end one after another, each waiter is sent, in order.
"""

import pytest
from hypothesis import given

from eukhe.model.gate import Gone
from laws.gates import Event, Onlooker, after, histories


@pytest.mark.rule("30")
@given(histories())
def test_the_gate_keeps_just_those_who_wait(history: list[Event]) -> None:
    onlooker = Onlooker()
    for event in history:
        onlooker.apply(event)
        assert onlooker.waiting == onlooker.prefix.waiters
        assert onlooker.flying or not onlooker.waiting


@pytest.mark.rule("30")
@given(histories())
def test_each_waiter_writes_in_turn_where_every_writer_ends(history: list[Event]) -> None:
    onlooker = after(history)
    for waiter in tuple(onlooker.waiting):
        (writer,) = onlooker.flying
        assert Gone((waiter,), writes=True) == onlooker.apply(Event("ended", writer, 0))
    assert [] == onlooker.waiting
