"""A compactor's line: how a reply is read. What becomes of it is in the laws named line_…."""

import pytest

from eukhe.limits import MERGE_HALF_BYTES_MAX, NODE_BYTES_MAX
from eukhe.model.line import Asking, Done, from_input, replied


@pytest.mark.rule("35", "D9")
@pytest.mark.parametrize(
    ("reply", "line"),
    [
        ("  a line\n", "a line"),
        ("12+4| a line ", "a line"),
        ("\n 0+1|a", "a"),
        ("0+1|0+1|a", "0+1|a"),
        ("a 0+1|b", "a 0+1|b"),
        ("0+1 |a", "0+1 |a"),
        ("+1|a", "+1|a"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("a\x00\ud800b", "a\ufffd\ufffdb"),
        ("é" * (NODE_BYTES_MAX // 2), "é" * (NODE_BYTES_MAX // 2)),
    ],
)
def test_a_reply_is_trimmed_its_head_stripped_and_trimmed_again(reply: str, line: str) -> None:
    assert Done(line, 1) == replied(Asking("source"), reply)


@pytest.mark.rule("36")
def test_a_cut_never_splits_a_character() -> None:
    too_long = "a" * (NODE_BYTES_MAX - 1) + "éé"
    assert Done("a" * (NODE_BYTES_MAX - 1), 2) == replied(Asking("source", too_long, 1), too_long)


@pytest.mark.rule("D5")
def test_a_node_that_failed_too_often_is_its_message_cut_or_both_halves_cut() -> None:
    assert "é" * 256 == from_input(("é" * 999,))
    assert "user: hi" == from_input(("user: hi",))
    assert "é" * 127 + "\nb" == from_input(("é" * 999, "b"))
    assert 2 * MERGE_HALF_BYTES_MAX + 1 == len(from_input(("a" * 999, "b" * 999)).encode())
