"""One step of merging merges the most due of the pairs whose parent is built, of equals the oldest."""

import pytest
from hypothesis import given

from laws.history import AnyView, any_views
from laws.words import can_merge, merged, most_due


@pytest.mark.rule("19", "59")
@given(any_views())
def test_each_merge_is_the_most_due_and_of_equals_the_oldest(given: AnyView) -> None:
    lines = list(given.lines)
    for parent in given.view().fit(given.t, 0):
        assert most_due(lines, given.sizes, given.t) == parent
        lines = merged(lines, parent) or []
    assert can_merge(lines, given.sizes) == []
