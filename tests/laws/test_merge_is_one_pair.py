"""One step of merging replaces two neighbours, the halves of a built node, by that node, or changes nothing."""

import pytest
from hypothesis import given

from laws.history import AnyView, any_views
from laws.words import merged


@pytest.mark.rule("11", "19", "28")
@given(any_views())
def test_each_merge_replaces_two_neighbours_by_their_built_parent(given: AnyView) -> None:
    view = given.view()
    lines = list(given.lines)
    for parent in view.fit(given.t, given.floor):
        assert parent in given.sizes
        after = merged(lines, parent)
        assert after is not None
        assert len(lines) - 1 == len(after)
        lines = after
    assert lines == view.parts()
