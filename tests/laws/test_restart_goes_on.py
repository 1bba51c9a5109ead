"""A chat started from its logs and the one that ran on stay the same through all that comes, while no call fails."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.history import History, codes, histories, memory_of, read


@pytest.mark.rule("25", "61", "D1", "F1")
@given(histories(), codes(50), st.integers(0, 99))
def test_a_restart_changes_nothing_of_what_comes(history: History, later: list[int], which: int) -> None:
    live, restarted = history.end(), history.end()
    restarted.restart(which % len(restarted.checkpoints))
    for code in later:
        for event in read(code, live, adverse=True):
            if event.name == "failed":  # failures are forgotten at a restart
                continue
            live.apply(event)
            restarted.apply(event)
            assert live.batch == restarted.batch
            assert (event, memory_of(live.chat)) == (event, memory_of(restarted.chat))
    assert live.tree == restarted.tree
