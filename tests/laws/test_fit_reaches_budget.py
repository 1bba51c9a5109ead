"""A batch ends at or under its budget, unless no two neighbours are the halves of a built node."""

import pytest
from hypothesis import given

from laws.history import AnyView, any_views
from laws.words import bytes_of, can_merge


@pytest.mark.rule("23", "24")
@given(any_views())
def test_a_batch_ends_under_its_budget_or_where_no_pair_can_merge(given: AnyView) -> None:
    view = given.view()
    view.fit(given.t, given.floor)
    assert bytes_of(view.parts(), given.sizes) == view.size
    assert view.size <= given.floor or can_merge(view.parts(), given.sizes) == []
