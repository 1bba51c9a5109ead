"""Where each outcome is of an unbuilt line there are at most `cap` a line, and then the turn's wait is over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.history import CODE_MAX, Event, History, histories
from laws.words import unbuilt


@pytest.mark.rule("47", "D5")
@given(histories(), st.lists(st.integers(0, CODE_MAX), min_size=1))
def test_a_wait_ends_after_at_most_cap_outcomes_a_line(history: History, codes: list[int]) -> None:
    owner = history.end()
    chat, cap = owner.chat, history.limits.failures
    chat.wait()
    lines = unbuilt(chat.view.parts(), owner.sizes)
    left = sum(cap - chat.failures.get(line, 0) for line in lines)
    outcomes = 0
    while not chat.settled:
        code = codes[outcomes % len(codes)]
        waiting = unbuilt(chat.view.parts(), owner.sizes)
        owner.apply(Event("built" if code % 4 == 0 else "failed", waiting[code % len(waiting)], 7))
        outcomes += 1
        assert outcomes <= left <= len(lines) * cap
    assert unbuilt(chat.view.parts(), owner.sizes) == []


@pytest.mark.rule("D5")
@given(histories())
def test_calls_that_only_fail_settle_a_wait_too(history: History) -> None:
    owner = history.end()
    chat = owner.chat
    chat.wait()
    chat.running.clear()
    rounds = 0
    while not chat.settled and history.limits.jobs:
        chat.tick()
        for part in chat.queue(need=True):
            chat.start(part)
            owner.failed(part, 7)
        rounds += 1
        assert rounds <= len(chat.view.lines) * history.limits.failures
    assert chat.settled or not history.limits.jobs
