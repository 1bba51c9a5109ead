"""What a tool prints, however much it is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import TOOL_LINE_CHARS_MAX
from eukhe.model.output import HeadTail, Lines
from eukhe.model.text import clip


@pytest.mark.rule("9")
@given(st.lists(st.text(max_size=40), max_size=30), st.integers(40, 300))
def test_head_and_tail_in_pieces_are_those_of_the_whole(pieces: list[str], chars_max: int) -> None:
    kept = HeadTail(chars_max)
    for piece in pieces:
        kept.take(piece)
    whole = "".join(pieces)
    assert clip(whole, chars_max) == kept.text()
    assert kept.at_line_start == (not whole or whole.endswith("\n"))


@pytest.mark.rule("9")
@pytest.mark.parametrize("count", [29_999, 30_000, 30_001, 30_023, 60_000, 999_999, 1_000_001])
def test_the_limit_of_a_result_is_met_to_the_character(count: int) -> None:
    kept = HeadTail()
    text = "".join(chr(97 + at % 26) for at in range(count))
    for at in range(0, count, 7_777):
        kept.take(text[at : at + 7_777])
    assert clip(text) == kept.text()
    assert min(count, 30_000) == len(kept.text())


def test_of_what_is_printed_without_end_a_bounded_part_is_held() -> None:
    kept = HeadTail(1_000)
    for _ in range(1_000):
        kept.take("x" * 700)
    held = len(kept._head) + sum(map(len, kept._tail))
    assert held <= 3 * 1_000


def written_over(text: str) -> str:
    """As `Lines` should have it, of lines that are short."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(re.sub(r"\r+\Z", "", line).rpartition("\r")[2] for line in lines)


@given(st.lists(st.text("ab\r\n", max_size=6), max_size=12))
def test_of_a_line_that_is_written_over_its_last_state_stays(pieces: list[str]) -> None:
    lines = Lines()
    assert written_over("".join(pieces)) == "".join(map(lines.take, pieces)) + lines.rest()


@given(st.lists(st.text("ab\n", max_size=6), max_size=12))
def test_without_a_carriage_return_all_stays(pieces: list[str]) -> None:
    lines = Lines()
    assert "".join(pieces) == "".join(map(lines.take, pieces)) + lines.rest()


def test_a_bar_of_progress_is_one_state() -> None:
    lines = Lines()
    shown = "".join(lines.take(f"\r{percent}%") for percent in range(101)) + lines.take("\r\ndone\n") + lines.rest()
    assert "100%\ndone\n" == shown


def test_a_line_without_end_is_not_held() -> None:
    lines = Lines()
    shown = sum(len(lines.take("x" * 1_000)) for _ in range(100))
    assert shown + len(lines.rest()) == 100_000
    assert shown >= 100_000 - TOOL_LINE_CHARS_MAX - 1_000
