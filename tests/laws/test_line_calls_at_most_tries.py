"""A line takes at most 5 calls, whatever their outcomes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import TRIES_MAX
from eukhe.model.line import Asking, Done
from eukhe.model.text import cut, size
from laws.replies import Outcome, long_texts, outcomes, run, texts


@pytest.mark.rule("37")
@given(texts(), outcomes())
def test_a_line_takes_at_most_five_calls(source: str, outcomes: list[Outcome]) -> None:
    state = run(source, outcomes)
    assert state.calls <= TRIES_MAX
    assert not isinstance(state, Asking) or state.calls < TRIES_MAX


@pytest.mark.rule("37")
@given(texts(), st.lists(long_texts(), min_size=TRIES_MAX, unique_by=size))
def test_replies_that_get_shorter_and_stay_too_long_take_all_five(source: str, replies: list[str]) -> None:
    longest_first = sorted(replies, key=size, reverse=True)
    assert Done(cut(longest_first[TRIES_MAX - 1]), TRIES_MAX) == run(source, longest_first)
