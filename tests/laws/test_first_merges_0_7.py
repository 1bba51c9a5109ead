"""The same view and budget, due from the first message: it merges 0 to 7."""

import pytest

from eukhe.model.part import Part
from laws.gist_example import by_hand
from laws.words import due_from_first


@pytest.mark.rule("21", "59")
def test_due_from_the_first_message_merges_0_to_7() -> None:
    assert [Part(3, 0), Part(0, 8), Part(0, 9)] == by_hand(due_from_first)
