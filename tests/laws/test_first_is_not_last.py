"""Due from the first message and due from the last are two orders."""

import pytest

from laws.gist_example import SIZES, VIEW, T
from laws.words import due, due_from_first, most_due


@pytest.mark.rule("21", "59")
def test_the_two_orders_merge_different_pairs() -> None:
    assert most_due(VIEW, SIZES, T, due) != most_due(VIEW, SIZES, T, due_from_first)
