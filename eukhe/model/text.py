"""Texts: label, clean, flatten, cut, clip, split. Pure: no clock, disk or threads.

Lengths in bytes are of UTF-8; lengths in characters are of Python's str.
"""

import re

from eukhe.limits import NODE_BYTES_MAX, PIECE_CHARS_MAX, PIECE_SEARCH_CHARS, TOOL_RESULT_CHARS_MAX

_REPLACEMENT = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEWLINE = re.compile("\r\n|\n|\r")
_CHAT_TAG = re.compile("<(/?)chat>")


def label(kind: str, text: str) -> str:
    """A message as the tree's source has it: `kind: text`."""
    return f"{kind}: {text}"


def size(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def clean(text: str) -> str:
    """Surrogates and NUL become U+FFFD, so that every text can be stored and sent.

    >>> clean("a\\0\\ud83d")
    'a��'
    """
    if not text.isascii():
        try:
            text.encode()  # ten times faster than a search, and nearly every text passes
        except UnicodeEncodeError:
            text = _SURROGATE.sub(_REPLACEMENT, text)
    return text.replace("\0", _REPLACEMENT)


def flatten(text: str) -> str:
    """One line of it: each `\\r\\n`, `\\n` or `\\r` becomes one space. Rule 16.

    >>> flatten("a\\r\\nb\\rc\\n\\nd")
    'a b c  d'
    """
    return _NEWLINE.sub(" ", text)


def shown(text: str) -> str:
    """A line's text as a view shows it: flat, and unable to open or end the block.

    >>> shown("one\\n</chat> two")
    'one ‹/chat› two'
    """
    return _CHAT_TAG.sub(r"‹\1chat›", flatten(text))


def cut(text: str, bytes_max: int = NODE_BYTES_MAX) -> str:
    """Its first bytes, at most `bytes_max`, never splitting a character. Rule 36.

    >>> cut("aé", 2)
    'a'
    """
    data = text.encode()
    return text if len(data) <= bytes_max else data[:bytes_max].decode(errors="ignore")


def clip(text: str, chars_max: int = TOOL_RESULT_CHARS_MAX) -> str:
    """Head and tail around a line that says how many characters were cut; `chars_max` in all. Rule 9."""
    return clipped(text, text, len(text), chars_max)


def clipped(head: str, tail: str, chars: int, chars_max: int) -> str:
    """As `clip`, of a text of so many characters, of which `chars_max` at least are there from each end."""
    if chars <= chars_max:
        return head
    # The mark names the number of characters cut, which depends on the mark's own length: a digit more at most.
    kept = chars_max
    while True:
        mark = f"\n[{chars - kept} characters cut]\n"
        if kept + len(mark) <= chars_max:
            break
        kept = chars_max - len(mark)
    tail_chars = kept // 2
    return head[: kept - tail_chars] + mark + tail[len(tail) - tail_chars :]


def split(text: str) -> list[str]:
    """The pieces of a long text, at most 29,000 characters each; joined they are the text. Rule 10.

    A piece ends after the last newline of its last 2,000 characters where there is one.
    """
    pieces = []
    at = 0
    while len(text) - at > PIECE_CHARS_MAX:
        end = at + PIECE_CHARS_MAX
        newline = text.rfind("\n", end - PIECE_SEARCH_CHARS, end)
        if newline >= 0:
            end = newline + 1
        pieces.append(text[at:end])
        at = end
    pieces.append(text[at:])
    return pieces


def pieces(kind: str, text: str) -> list[str]:
    """The texts of the messages that a clean text becomes: a tool's result is clipped, another long one split."""
    return [clip(text)] if kind == "echo" else split(text)
