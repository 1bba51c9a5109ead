"""An error, an abort or a timeout fails the node, and what was best is forgotten."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import TRIES_MAX
from eukhe.model.line import Asking, Failed, broke
from laws.replies import bests, texts


@pytest.mark.rule("38", "D9")
@given(texts(), bests(), st.integers(0, TRIES_MAX - 1))
def test_a_call_that_broke_fails_the_node(source: str, best: str | None, calls: int) -> None:
    assert Failed(calls + 1) == broke(Asking(source, best, calls))
