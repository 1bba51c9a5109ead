"""What a compaction sees is a prefix of the compaction view."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import is_prefix, nodes


@pytest.mark.rule("34")
@given(histories())
def test_what_a_compaction_sees_begins_the_compaction_view(history: History) -> None:
    owner = history.end()
    for part in nodes(owner.chat.t + 2):
        assert is_prefix(owner.chat.context(part), owner.chat.compaction_view.parts())
