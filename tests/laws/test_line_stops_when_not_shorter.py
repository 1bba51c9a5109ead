"""A reply over the limit that is not shorter than the best line ends the tries: the best line, cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import NODE_BYTES_MAX, TRIES_MAX
from eukhe.model.line import Asking, Done, replied
from eukhe.model.text import cut, size
from laws.replies import long_texts, texts


@pytest.mark.rule("37", "D9")
@given(texts(), long_texts(), long_texts(), st.integers(1, TRIES_MAX - 1))
def test_a_reply_that_is_not_shorter_ends_the_tries(source: str, one: str, other: str, calls: int) -> None:
    best, reply = sorted((one, other), key=size)
    assert Done(cut(best), calls + 1) == replied(Asking(source, best, calls), reply)
    assert Done(cut(best), calls + 1) == replied(Asking(source, best, calls), best)


@pytest.mark.rule("37")
@given(texts(), long_texts(), st.integers(1, TRIES_MAX - 2))
def test_a_shorter_one_goes_on(source: str, best: str, calls: int) -> None:
    shorter = best[:-2] + "."
    if size(shorter) > NODE_BYTES_MAX:
        assert Asking(source, shorter, calls + 1) == replied(Asking(source, best, calls), shorter)
