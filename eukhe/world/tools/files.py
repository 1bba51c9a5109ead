"""Files as tools meet them: what one is, and its text in the encoding that it has.

A model names any path. What is no plain file, as a pipe or a device, is never opened: some wait for ever, or do
something. One that waits all the same, as some of the system's own, is not waited for.
"""

import codecs
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from eukhe.limits import TOOL_SNIFF_BYTES

_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_MARKS: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_UTF_8: Final = "utf-8"
_ANY: Final = "latin-1"  # reads all bytes, each as one character, and writes them as they were


class Unfit(OSError):
    """A file that a tool does nothing with; says why, for the model."""

    def __init__(self, why: str) -> None:
        super().__init__(why)


def kind_of(path: Path) -> str | None:
    """What lies there instead of a plain file; None where that does. OSError where nothing lies there."""
    mode = path.stat().st_mode
    return None if stat.S_ISREG(mode) else next((kind for is_kind, kind in _KINDS if is_kind(mode)), "no plain file")


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A plain file, to be read. OSError, Unfit."""
    if (kind := kind_of(path)) is not None:
        raise Unfit(f"it is {kind}, no file that could be read")
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Unfit("it is no plain file any more")
        yield fd
    finally:
        os.close(fd)


def encoding_of(start: bytes) -> str | None:
    """Of a text that begins so; None where it is none. What is neither UTF-8 nor UTF-16 counts as Latin-1.

    A mark that stands before a text is its first character, U+FEFF, and so is written again.
    """
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    if b"\0" in start:
        return None
    try:
        codecs.getincrementaldecoder(_UTF_8)().decode(start)  # its end may be in the middle of a character
    except UnicodeDecodeError:
        return _ANY
    return _UTF_8


def whole(path: Path, bytes_max: int) -> bytes:
    """All that a plain file holds. OSError, Unfit where that is too much."""
    with opened(path) as fd:
        parts = []
        left = bytes_max + 1
        while left > 0 and (part := os.read(fd, min(left, TOOL_SNIFF_BYTES))):
            parts.append(part)
            left -= len(part)
    if left <= 0:
        raise Unfit(f"it is larger than {bytes_max:,} bytes")
    return b"".join(parts)


def whole_text(path: Path, bytes_max: int) -> tuple[str, str]:
    """The text of a file, and its encoding, by which it can be written again byte for byte. OSError, Unfit."""
    data = whole(path, bytes_max)
    encoding = encoding_of(data)
    if encoding is None:
        raise Unfit(f"it is no text, but {len(data):,} bytes of something else")
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:  # it ends in the middle of a character
        return data.decode(_ANY), _ANY


def encoded(text: str, encoding: str) -> bytes:
    """As it was read. Unfit where the encoding has not all the characters."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        wrong = text[error.start]
        raise Unfit(f"{wrong!r} can't be written into it: it is in {encoding}") from None
