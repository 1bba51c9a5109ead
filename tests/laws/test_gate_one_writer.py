"""After any history at most one call was sent as the writer whose response has not begun and that has not ended."""

import pytest
from hypothesis import given

from laws.gates import Event, Onlooker, histories


@pytest.mark.rule("30")
@given(histories())
def test_there_are_never_two_writers(history: list[Event]) -> None:
    onlooker = Onlooker()
    for event in history:
        onlooker.apply(event)
        assert len(onlooker.flying) <= 1
        assert onlooker.flying == ([] if onlooker.prefix.writer is None else [onlooker.prefix.writer])
