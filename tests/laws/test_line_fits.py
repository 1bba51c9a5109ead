"""A finished line has 1 to 512 bytes."""

import pytest
from hypothesis import given

from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.line import Done, from_input
from eukhe.model.text import size
from laws.replies import Outcome, outcomes, run, texts


@pytest.mark.rule("36", "37", "65", "D9")
@given(texts(), outcomes())
def test_a_finished_line_has_1_to_512_bytes(source: str, outcomes: list[Outcome]) -> None:
    state = run(source, outcomes)
    if isinstance(state, Done):
        assert 1 <= size(state.line) <= NODE_BYTES_MAX


@pytest.mark.rule("D5")
@given(texts(), texts())
def test_so_has_the_line_of_a_node_that_failed_too_often(left: str, right: str) -> None:
    assert 1 <= size(from_input((left,))) <= NODE_BYTES_MAX
    assert 1 <= size(from_input((left, right))) <= NODE_BYTES_MAX
