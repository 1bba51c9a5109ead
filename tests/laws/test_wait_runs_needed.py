"""Throughout a wait all that runs is an unbuilt line of the view, whatever others log, build or fail."""

import pytest
from hypothesis import given

from laws.history import Event, History, codes, histories, read
from laws.words import unbuilt


@pytest.mark.rule("D5")
@given(histories(adverse=False), codes(50))
def test_all_that_runs_during_a_wait_is_an_unbuilt_line(history: History, later: list[int]) -> None:
    owner = history.end()
    owner.apply(Event("wait"))
    for code in later:
        for event in read(code, owner, adverse=False, waiting=True):
            owner.apply(event)
            assert owner.chat.running <= set(unbuilt(owner.chat.view.parts(), owner.sizes))
