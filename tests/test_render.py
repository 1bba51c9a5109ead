"""The view as text: one line a node, blocks of four, and no text that can end the block."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import (
    BLOCK_LINES,
    DEADLINE_LINE_BYTES_MIN,
    DEADLINE_VIEW_BYTES_MAX,
    NODE_BYTES_MAX,
    PLACEHOLDER,
)
from eukhe.model.part import Part
from eukhe.model.render import blocks, deadline_texts, line, render

pieces = st.sampled_from(["\r", "\n", "<chat>", "</chat>", "a", "é", "|", "1+1", " ", "\u2028"])
ugly = st.lists(pieces, max_size=12).map("".join)
lines = st.lists(st.just("0+1|a") | st.just("1+1|b"), max_size=13)


@pytest.mark.rule("15", "16", "18")
def test_a_view_is_a_line_a_node_between_its_tags() -> None:
    texts = {Part(1, 0): "user: one\r\ntwo", Part(0, 2): None}
    assert f"<chat>\n0+2|user: one two\n2+1|{PLACEHOLDER}\n</chat>" == render(texts, texts.__getitem__)


@pytest.mark.rule("14")
def test_a_chat_without_messages_renders_as_an_empty_block() -> None:
    assert "<chat>\n</chat>" == render([], lambda _: None)


@pytest.mark.rule("15", "16")
@given(st.lists(st.none() | ugly, max_size=9))
def test_no_text_can_end_the_block_or_fake_a_line(texts: list[str | None]) -> None:
    rendered = render([Part(0, i) for i in range(len(texts))], lambda part: texts[part.i])
    first, *shown, last = rendered.split("\n")
    assert ("<chat>", "</chat>") == (first, last)
    assert [f"{i}+1" for i in range(len(texts))] == [text.split("|")[0] for text in shown]
    assert 1 == rendered.count("<chat>") == rendered.count("</chat>")
    assert "\r" not in rendered


@pytest.mark.rule("16")
def test_a_tag_inside_a_text_is_shown_with_other_brackets() -> None:
    assert "4+4|a ‹chat› b ‹/chat›" == line(Part(2, 1), "a <chat> b </chat>")


@pytest.mark.rule("29")
@given(lines)
def test_blocks_joined_are_the_whole_view(given: list[str]) -> None:
    assert "".join(["<chat>\n", *(f"{text}\n" for text in given), "</chat>"]) == "".join(blocks(given))


@pytest.mark.rule("29")
@given(lines)
def test_every_block_but_the_last_has_four_lines(given: list[str]) -> None:
    *whole, last = blocks(given)
    assert len(given) // BLOCK_LINES == len(whole)
    assert all(BLOCK_LINES == block.removeprefix("<chat>\n").count("\n") for block in whole)
    assert last.endswith("</chat>")


@pytest.mark.rule("28", "29")
@given(lines, lines)
def test_a_view_that_grows_changes_no_whole_block(given: list[str], more: list[str]) -> None:
    whole = blocks(given)[:-1]
    assert whole == blocks(given + more)[: len(whole)]


@pytest.mark.rule("D10")
def test_at_the_deadline_an_unbuilt_line_shows_its_message_cut_and_never_the_placeholder() -> None:
    texts = {Part(1, 0): "a line", Part(0, 2): None, Part(0, 3): None}
    sources = {Part(0, 2): "user: short", Part(0, 3): "echo: " + "é" * NODE_BYTES_MAX}
    shown = deadline_texts(texts, texts.__getitem__, sources.__getitem__)
    assert {
        Part(1, 0): "a line",
        Part(0, 2): "user: short",
        Part(0, 3): "echo: " + "é" * ((NODE_BYTES_MAX - len("echo: ")) // 2),
    } == shown
    assert list(texts) == list(shown)


@pytest.mark.rule("D14")
@pytest.mark.parametrize(
    ("count", "each"), [(500, NODE_BYTES_MAX), (1_000, DEADLINE_VIEW_BYTES_MAX // 1_000), (20_000, 32)]
)
def test_a_deadline_view_gives_its_unbuilt_lines_even_shares_of_what_is_left(count: int, each: int) -> None:
    parts = [Part(0, i) for i in range(count)]
    shown = deadline_texts(parts, lambda _: None, lambda part: "x" * 1_000)
    assert [each] * count == [len(text) for text in shown.values()]
    assert each >= DEADLINE_LINE_BYTES_MIN
