"""A reply of 1 to 512 bytes is the line, as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import NODE_BYTES_MAX, TRIES_MAX
from eukhe.model.line import Asking, Done, replied
from laws.replies import bests, texts


@pytest.mark.rule("37")
@given(texts(), bests(), st.integers(0, TRIES_MAX - 1), texts(1, NODE_BYTES_MAX))
def test_a_reply_that_fits_is_the_line(source: str, best: str | None, calls: int, reply: str) -> None:
    assert Done(reply, calls + 1) == replied(Asking(source, best, calls), reply)
    assert Done(reply, calls + 1) == replied(Asking(source, best, calls), f"\n 128+64|  {reply} ")
