"""An empty reply counts as a call and is the last: the best line, else the source, cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import TRIES_MAX
from eukhe.model.line import Asking, Done, replied
from eukhe.model.text import cut
from laws.replies import bests, empty_replies, texts


@pytest.mark.rule("37", "D9")
@given(texts(), bests(), st.integers(0, TRIES_MAX - 1), empty_replies())
def test_an_empty_reply_is_the_last(source: str, best: str | None, calls: int, reply: str | None) -> None:
    assert Done(cut(best or source), calls + 1) == replied(Asking(source, best, calls), reply)
