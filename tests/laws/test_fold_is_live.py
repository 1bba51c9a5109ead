"""After any history, reading what was written, all of it or from a checkpoint on, gives the live chat's memory."""

import pytest
from hypothesis import given

from eukhe.model.fold import NodeSize, checkpoint, fold
from laws.history import History, histories, memory_of


@pytest.mark.rule("25", "61", "D1", "F1")
@given(histories())
def test_a_start_finds_the_chat_that_was_live(history: History) -> None:
    owner = history.end()
    for start in owner.checkpoints:
        folded = owner.folded(start)
        assert ((), ()) == (folded.free, folded.problems)
        assert memory_of(owner.chat) == memory_of(folded.chat)
        assert (set(), set(), {}) == (folded.chat.running, folded.chat.parked, folded.chat.failures)


@pytest.mark.rule("D1")
@given(histories())
def test_lines_that_were_on_their_way_to_the_log_come_with_the_checkpoint(history: History) -> None:
    owner = history.end()
    pending = [NodeSize(part, 1 + part.i) for part in owner.chat.queue()]
    whole = fold(None, owner.messages, [*owner.tree, *pending], owner.limits)
    folded = fold(checkpoint(owner.chat, pending), (), (), owner.limits)
    assert memory_of(whole.chat) == memory_of(folded.chat)
    assert whole.free == folded.free
