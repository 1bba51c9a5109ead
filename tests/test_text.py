"""The laws of texts, for any text."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import NODE_BYTES_MAX, PIECE_CHARS_MAX, PIECE_SEARCH_CHARS, TOOL_RESULT_CHARS_MAX
from eukhe.model import image, key, text
from eukhe.model.text import clean, clip, cut, flatten, label, shown, size, split

ANY = st.text(st.characters(exclude_categories=()))  # lone surrogates too
STORABLE = st.text()
LONG = st.builds(
    lambda parts: "".join(part * times for part, times in parts),
    st.lists(st.tuples(st.text(max_size=3), st.integers(0, 20_000)), max_size=5),
)


@pytest.mark.parametrize("module", [text, key, image])
def test_the_examples_in_the_docstrings_run(module: object) -> None:
    done = doctest.testmod(module)  # type: ignore[arg-type]
    assert (0, True) == (done.failed, done.attempted > 0)


@given(ANY)
def test_a_clean_text_can_be_stored_and_differs_only_where_it_had_to(given_text: str) -> None:
    cleaned = clean(given_text)
    cleaned.encode()
    expected = ["\ufffd" if c == "\0" or 0xD800 <= ord(c) <= 0xDFFF else c for c in given_text]
    assert expected == list(cleaned)
    assert cleaned == clean(cleaned)


@given(STORABLE)
def test_size_is_the_bytes_in_utf_8(given_text: str) -> None:
    assert len(given_text.encode()) == size(given_text)
    assert len(f"user: {given_text}".encode()) == size(label("user", given_text))


@pytest.mark.rule("36")
@given(STORABLE, st.integers(0, 40))
def test_a_cut_is_the_longest_beginning_that_fits_and_splits_no_character(given_text: str, bytes_max: int) -> None:
    short = cut(given_text, bytes_max)
    assert given_text.startswith(short)
    assert size(short) <= bytes_max
    assert short == given_text or size(given_text[: len(short) + 1]) > bytes_max


@pytest.mark.rule("36")
def test_a_cut_is_at_512_bytes() -> None:
    assert "x" * NODE_BYTES_MAX == cut("x" * NODE_BYTES_MAX) == cut("x" * (NODE_BYTES_MAX + 1))
    assert "é" * (NODE_BYTES_MAX // 2) == cut("é" * NODE_BYTES_MAX)
    assert "x" + "é" * (NODE_BYTES_MAX // 2 - 1) == cut("x" + "é" * NODE_BYTES_MAX)


@pytest.mark.rule("10")
@given(LONG)
def test_the_pieces_joined_are_the_text_and_none_is_too_long_or_empty(long: str) -> None:
    pieces = split(long)
    assert long == "".join(pieces)
    assert all(len(piece) <= PIECE_CHARS_MAX for piece in pieces)
    assert all(pieces) or [""] == pieces


@pytest.mark.rule("10")
@pytest.mark.parametrize(
    ("length", "newline", "first"),
    [
        (PIECE_CHARS_MAX, None, PIECE_CHARS_MAX),
        (PIECE_CHARS_MAX + 1, None, PIECE_CHARS_MAX),
        (PIECE_CHARS_MAX + 1, PIECE_CHARS_MAX - 1, PIECE_CHARS_MAX),
        (PIECE_CHARS_MAX + 1, PIECE_CHARS_MAX, PIECE_CHARS_MAX),
        (PIECE_CHARS_MAX + 1, PIECE_CHARS_MAX - PIECE_SEARCH_CHARS, PIECE_CHARS_MAX - PIECE_SEARCH_CHARS + 1),
        (PIECE_CHARS_MAX + 1, PIECE_CHARS_MAX - PIECE_SEARCH_CHARS - 1, PIECE_CHARS_MAX),
        (PIECE_CHARS_MAX, PIECE_CHARS_MAX - 100, PIECE_CHARS_MAX),
    ],
)
def test_a_piece_ends_after_the_last_newline_of_its_last_2000_characters(
    length: int, newline: int | None, first: int
) -> None:
    long = "".join("\n" if at == newline else "x" for at in range(length))
    assert first == len(split(long)[0])


@pytest.mark.rule("9")
@given(st.integers(0, 3 * TOOL_RESULT_CHARS_MAX), st.integers(60, 200))
def test_a_clipped_text_is_head_and_tail_around_how_many_characters_were_cut(length: int, chars_max: int) -> None:
    long = "".join(chr(ord("a") + at % 26) for at in range(length))
    clipped = clip(long, chars_max)
    if length <= chars_max:
        assert long == clipped
        return
    assert chars_max - 1 <= len(clipped) <= chars_max
    head, mark, tail = clipped.split("\n")
    assert long.startswith(head)
    assert long.endswith(tail)
    assert f"[{length - len(head) - len(tail)} characters cut]" == mark
    assert 0 <= len(head) - len(tail) <= 1


@pytest.mark.rule("9")
def test_a_tool_result_is_clipped_at_30000_characters() -> None:
    assert "x" * TOOL_RESULT_CHARS_MAX == clip("x" * TOOL_RESULT_CHARS_MAX)
    assert TOOL_RESULT_CHARS_MAX == len(clip("x" * (TOOL_RESULT_CHARS_MAX + 1)))


@pytest.mark.rule("16")
@given(STORABLE)
def test_a_shown_line_is_one_line_and_holds_no_chat_tag(given_text: str) -> None:
    line = shown(given_text.replace("a", "<chat>").replace("b", "</chat>"))
    assert not set("\r\n") & set(line)
    assert "<chat>" not in line
    assert "</chat>" not in line


@pytest.mark.rule("16")
def test_each_newline_of_any_kind_is_one_space() -> None:
    assert "a b c d  e" == flatten("a\r\nb\rc\nd\n\re")
    assert "a\u2028b\u0085c" == flatten("a\u2028b\u0085c"), "only what ends a line of a view"
