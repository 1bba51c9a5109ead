"""Snippets: the place that a search has found, on one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import SNIPPET_BEFORE_CHARS, SNIPPET_CHARS_MAX
from eukhe.model.snippet import snippet

LONG = "word " * 100


@pytest.mark.rule("D15")
@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("one two", "two", "one two"),
        ("one\r\ntwo\nthree </chat>", "three", "one two three ‹/chat›"),
        ("", "word", ""),
        ("one", "", "one"),
        ("one", "' -", "one"),
    ],
)
def test_a_short_text_is_shown_whole_on_one_line(text: str, words: str, shown: str) -> None:
    assert shown == snippet(text, words)


@pytest.mark.rule("D15")
@pytest.mark.parametrize(
    ("found", "words"),
    [
        ("lantern", "LANTERN"),
        ("Größe", "große"),
        ("NAÏVE", "naive"),
        ("src/main.py", "main.py"),
        ("foo_bar", "foo_bar"),
        ("привет", "ПРИВЕТ"),
        ("x*(y", "x*(y"),
        ("second", "nowhere second"),
    ],
)
def test_a_long_text_is_shown_around_the_first_of_the_words(found: str, words: str) -> None:
    shown = snippet(f"{LONG}{found} {LONG}", words)
    assert found in shown
    assert ("…", "…") == (shown[0], shown[-1])
    assert SNIPPET_BEFORE_CHARS + 1 >= shown.index(found)


def test_a_part_of_a_word_is_not_the_word() -> None:
    text = f"lanterns {LONG}{LONG}lantern_ {LONG}"
    assert snippet(text, "lantern")[0] == "…"
    assert snippet(f"lanterns {LONG}", "lantern").startswith("lanterns word")


@given(st.text(), st.text())
def test_any_snippet_is_one_short_line_and_the_texts_own(text: str, words: str) -> None:
    shown = snippet(text, words)
    assert len(shown) <= SNIPPET_CHARS_MAX + 2
    assert "\n" not in shown
    assert "\r" not in shown
    assert text or shown == ""
