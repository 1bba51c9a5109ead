"""The place of a text that a search has found, as one short line. Pure: no clock, disk or threads. D15."""

import re
import unicodedata
from typing import Final

from eukhe.limits import SEARCH_WORDS_MAX, SNIPPET_BEFORE_CHARS, SNIPPET_CHARS_MAX
from eukhe.model.text import shown

_WORD: Final = r"[^\W_]"
_CUT: Final = "…"


def snippet(text: str, words: str = "") -> str:
    """One line of a text, around the first of the words that it holds; its beginning where it holds none.

    >>> snippet("one two three", "TWO")
    'one two three'
    """
    start = max(0, _first(text, words) - SNIPPET_BEFORE_CHARS)
    end = start + SNIPPET_CHARS_MAX
    piece = shown(text[start:end])
    return f"{_CUT if start else ''}{piece}{_CUT if end < len(text) else ''}"


def _first(text: str, words: str) -> int:
    """Where the first of the words stands. As in the index, a word is letters and digits, its case and marks apart."""
    found = re.findall(f"{_WORD}+", _folded(words))[:SEARCH_WORDS_MAX]
    if not found:
        return 0
    any_word = "|".join(map(re.escape, sorted(set(found), key=len, reverse=True)))
    at = re.search(f"(?<!{_WORD})(?:{any_word})(?!{_WORD})", _folded(text))
    return at.start() if at else 0


def _folded(text: str) -> str:
    """In small letters without their marks, a character for each of the text's, so that places stay."""
    if text.isascii():
        return text.lower()
    return text.translate({ord(letter): _plain(letter) for letter in set(text)})


def _plain(letter: str) -> str:
    folded = unicodedata.normalize("NFD", letter)[0].casefold()
    return folded if len(folded) == 1 else letter
