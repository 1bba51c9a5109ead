"""As many failed calls of one node as the cap says build it, whatever came before them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.history import History, histories
from laws.words import nodes


@pytest.mark.rule("38", "D5")
@given(histories(), st.integers(0, 999))
def test_the_last_failure_builds_the_node_from_its_input(history: History, number: int) -> None:
    owner = history.end()
    unbuilt = [part for part in nodes(owner.chat.t) if part not in owner.sizes]
    for part in unbuilt[number % len(unbuilt) :][:1] if unbuilt else []:
        before = owner.chat.failures.get(part, 0)
        built = [owner.chat.failed(part, 9) for _ in range(before, history.limits.failures)]
        assert [False] * (len(built) - 1) + [True] == built
        assert owner.chat.built_nodes.has(*part)
        assert part not in owner.chat.parked
        assert part not in owner.chat.failures
