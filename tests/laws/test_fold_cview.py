"""At a start the compaction view is the view merged on, by built parents only, to its floor or as far as it goes."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import fitted


@pytest.mark.rule("33", "D7")
@given(histories())
def test_the_compaction_view_of_a_start_is_the_view_merged_on(history: History) -> None:
    owner = history.end()
    expected, _ = fitted(owner.chat.view.parts(), owner.sizes, owner.chat.t, history.limits.compaction_floor)
    for start in owner.checkpoints:
        assert expected == owner.folded(start).chat.compaction_view.parts()
