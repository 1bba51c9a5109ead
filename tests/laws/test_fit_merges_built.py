"""A batch is a chain of merges into built parents, the ones it reports, and nothing else."""

import pytest
from hypothesis import given

from laws.history import AnyView, any_views
from laws.words import chain


@pytest.mark.rule("19", "24")
@given(any_views())
def test_a_batch_is_a_chain_of_merges_into_built_parents(given: AnyView) -> None:
    view = given.view()
    merges = view.fit(given.t, given.floor)
    assert view.parts() == chain(given.lines, merges, given.sizes)
