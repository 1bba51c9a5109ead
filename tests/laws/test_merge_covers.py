"""One step of merging keeps what the view covers."""

import pytest
from hypothesis import given

from laws.history import AnyView, any_views
from laws.words import bytes_of, tiles


@pytest.mark.rule("14")
@given(any_views())
def test_merging_keeps_what_the_view_covers(given: AnyView) -> None:
    end = sum(line.messages for line in given.lines)
    assert tiles(given.lines, end)
    for floor in range(bytes_of(given.lines, given.sizes), -1, -11):  # each a batch that stops elsewhere
        view = given.view()
        view.fit(given.t, floor)
        assert tiles(view.parts(), end)
