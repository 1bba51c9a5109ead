"""A compaction for a node sees lines that are built and end at or before its message, or its merge's last message."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import edge, nodes


@pytest.mark.rule("34", "41", "F2")
@given(histories())
def test_a_compaction_sees_built_lines_that_end_at_its_node(history: History) -> None:
    owner = history.end()
    for part in nodes(owner.chat.t + 2):
        for line in owner.chat.context(part):
            assert line in owner.sizes
            assert line.end <= edge(part)
