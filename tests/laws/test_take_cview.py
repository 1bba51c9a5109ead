"""After a take the compaction view starts anew from the view where the batch merged anything, else it is as it was."""

import pytest
from hypothesis import given

from laws.history import History, histories
from laws.words import fitted


@pytest.mark.rule("33", "D12")
@given(histories())
def test_a_take_renews_the_compaction_view_only_where_its_batch_merged(history: History) -> None:
    for before, event, owner in history.steps():
        if event.name == "take":
            lines = before.compaction_view
            if owner.batch:
                lines, _ = fitted(owner.chat.view.parts(), owner.sizes, before.t, history.limits.compaction_floor)
            assert lines == owner.chat.compaction_view.parts()
