"""A batch merges, one after another, the most due pair each time, and only while it is above its budget."""

import pytest
from hypothesis import given

from laws.history import AnyView, any_views
from laws.words import fitted


@pytest.mark.rule("19", "23")
@given(any_views())
def test_a_batch_merges_the_most_due_pairs_and_stops_at_its_budget(given: AnyView) -> None:
    view = given.view()
    merges = view.fit(given.t, given.floor)
    assert fitted(given.lines, given.sizes, given.t, given.floor) == (view.parts(), merges)
