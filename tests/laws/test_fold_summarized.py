"""Whatever lines the tree log has, a merged line of the view read is built, its parent there."""

import pytest
from hypothesis import given

from eukhe.model.fold import NodeSize
from eukhe.model.part import Part
from laws.history import Owner, damaged
from laws.words import bytes_of, nodes, summarized


@pytest.mark.rule("18", "D1")
@given(damaged())
def test_every_merged_line_read_from_a_damaged_log_has_its_text(owner: Owner) -> None:
    folded = owner.folded(owner.checkpoints[0])
    texts: dict[Part, int] = {}
    for record in owner.tree:
        if isinstance(record, NodeSize) and record.part.end <= len(owner.messages):
            texts.setdefault(record.part, record.size)  # of two lines for a node the first counts
    for part in folded.free:
        texts[part] = sum(texts[half] for half in part.halves) + 1 if part.level else owner.messages[part.i]
    lines = folded.chat.view.parts()
    assert summarized(lines, texts)
    assert bytes_of(lines, texts) == folded.chat.view.size
    assert sorted(texts) == [part for part in nodes(folded.chat.t) if folded.chat.built_nodes.has(*part)]
    assert len(texts) == folded.chat.built_nodes.count
