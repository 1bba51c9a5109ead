"""No node is written twice, across restarts too."""

import pytest
from hypothesis import given

from eukhe.model.fold import NodeSize
from laws.history import History, histories


@pytest.mark.rule("13")
@given(histories())
def test_no_node_is_written_twice(history: History) -> None:
    written = [record.part for record in history.end().tree if isinstance(record, NodeSize)]
    assert sorted(set(written)) == sorted(written)
