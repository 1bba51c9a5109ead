"""A message's merging batch starts the compaction view anew; else it grows by the line and keeps its own limits."""

import pytest
from hypothesis import given

from eukhe.model.part import Part
from laws.history import History, histories
from laws.words import bytes_of, fitted


@pytest.mark.rule("33")
@given(histories())
def test_a_message_renews_the_compaction_view_or_appends_to_it(history: History) -> None:
    sizes: dict[Part, int] = {}
    limits = history.limits
    for before, event, owner in history.steps():
        if event.name == "message":
            lines = owner.chat.view.parts() if owner.batch else [*before.compaction_view, Part(0, before.t)]
            if owner.batch or bytes_of(lines, sizes) > limits.compaction_ceiling:
                lines, _ = fitted(lines, sizes, owner.chat.t, limits.compaction_floor)
            assert lines == owner.chat.compaction_view.parts()
        sizes = dict(owner.sizes)
