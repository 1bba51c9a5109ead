"""What a compaction sees is all of the compaction view, or the next line is unbuilt or ends after the node."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import edge, nodes


@pytest.mark.rule("34", "41", "63")
@given(histories())
def test_a_compaction_sees_all_that_it_may(history: History) -> None:
    owner = history.end()
    lines = owner.chat.compaction_view.parts()
    for part in nodes(owner.chat.t + 2):
        seen = owner.chat.context(part)
        for after in lines[len(seen) : len(seen) + 1]:
            assert after not in owner.sizes or after.end > edge(part)
