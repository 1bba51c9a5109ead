"""10 messages, view 0+4 4+4 8+1 9+1, budget 3 lines: due from the last message merges 8 and 9, as push does."""

import pytest

from eukhe.model.part import Part
from eukhe.model.view import View
from laws.gist_example import LINES_MAX, SIZES, VIEW, T, by_hand
from laws.push import Entries, lines, push
from laws.words import due


@pytest.mark.rule("21", "59")
def test_due_from_the_last_message_merges_8_and_9_as_push_does() -> None:
    view = View(dict(SIZES))
    for line in VIEW:
        view.put(*line)
    assert [Part(1, 4)] == view.fit(T, LINES_MAX)
    assert [Part(2, 0), Part(2, 1), Part(1, 4)] == view.parts() == by_hand(due)

    entries: Entries = []
    for i in range(T):
        push(entries, Part(0, i))
    assert lines(entries) == view.parts()
