"""Lines of JSON, read whatever was done to them.

A session's file is written by a program that may be killed at any byte, on a machine that may lose power, and by
languages with other ideas of what a string may hold. So: bytes are read, lines end at LF alone (never at U+2028 and
its like), NUL bytes and a BOM are dropped, bytes that are no UTF-8 and lone surrogates become U+FFFD. A line that does
not parse is read in two more ways: as whole records one after another, and as a torn record with whole ones behind
it. What is left then is unreadable, and costs only itself.

Memory is bounded by the longest line.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import orjson

from eukhe.limits import MEND_TRIES_MAX, READ_BLOCK_BYTES
from eukhe.model.text import clean

Record = dict[str, Any]

_BOM = b"\xef\xbb\xbf"
_LENIENT = json.JSONDecoder(strict=False)  # takes control characters and lone surrogates inside strings
_NO_RECORD = "JSON, but no record"
_SPACE = re.compile(r"\s*")
_START = re.compile(r'\{\s*"')
_BEFORE_INNER, _BEHIND_INNER = frozenset(":,["), frozenset(",]}")


class Line(NamedTuple):
    """A line with its LF: its number from 1, its first byte, its bytes."""

    number: int
    start: int
    data: bytes


class Parsed(NamedTuple):
    """The records of a line, in their order, and what was wrong with each of its unreadable parts.

    `mended`: the line did not parse as one record, so a record may be a piece of a torn one.
    """

    records: list[Record]
    bad: list[str]
    mended: bool


def lines(file: BinaryIO) -> Iterator[Line]:
    """The lines of a file from its beginning; the last one may lack its LF."""
    number = start = 0
    while True:
        data = file.readline(READ_BLOCK_BYTES)
        if not data:
            return
        number += 1
        if len(data) == READ_BLOCK_BYTES and not data.endswith(b"\n"):
            # A long line: find its end first, so that its bytes are held once, not in pieces and joined.
            data = read_at(file, start, line_end(file, start + len(data)) - start)
        yield Line(number, start, data)
        start += len(data)


def read_at(file: BinaryIO, start: int, length: int) -> bytes:
    """`length` bytes from `start`; fewer where the file ends before."""
    file.seek(start)
    return file.read(length)


def line_end(file: BinaryIO, at: int) -> int:
    """The byte after the first LF that is read from here on, `at` being here; or the file's end."""
    while block := file.read(READ_BLOCK_BYTES):
        newline = block.find(b"\n")
        if newline >= 0:
            return at + newline + 1
        at += len(block)
    return at


def plain(data: bytes) -> bytes:
    """The bytes without NULs and without a BOM at their beginning."""
    if b"\0" in data:
        data = data.replace(b"\0", b"")
    return data.removeprefix(_BOM)


def parse(data: bytes, inside: bool = False) -> Parsed:
    """The records of a line, with or without its LF.

    `inside`: the line is a whole file, and where it is cut, the records that stand inside it are what is wanted.
    """
    data = plain(data)
    if not data or data.isspace():
        return Parsed([], [], False)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _mend(data.decode(errors="replace"), inside)
    if isinstance(value, dict):
        return Parsed([value], [], False)
    return Parsed([], [_NO_RECORD], False)


def _mend(text: str, inside: bool) -> Parsed:
    """Reads a line that is not one whole JSON value: first whole records, then records behind torn ones."""
    records: list[Record] = []
    bad: list[str] = []
    at, whole, failed = _past_space(text, 0), True, 0
    while at < len(text) and failed < MEND_TRIES_MAX:
        value, end, why = _value(text, at)
        if isinstance(value, dict) and (whole or inside or not _is_inner(text, at, end)):
            records.append(value)
            at, whole = _past_space(text, end), True
            continue
        failed += not end > at
        if whole:
            bad.append(why)
            whole = False
        # An object that stands inside a torn one is passed over as a whole: what is in it stands inside too.
        start = _START.search(text, max(end, at + 1))
        at = start.start() if start else len(text)
    return Parsed(records, bad[:1] if inside else bad, bool(bad) or len(records) > 1)


def _value(text: str, at: int) -> tuple[Any, int, str]:
    """The value at a place, the place after it, and where there is none, why."""
    try:
        value, end = _LENIENT.raw_decode(text, at)
        return _cleaned(value), end, _NO_RECORD
    except json.JSONDecodeError as error:
        return None, at, f"no whole record: {error.msg}"
    except RecursionError:
        return None, at, "nested too deeply"


def _is_inner(text: str, at: int, end: int) -> bool:
    """Does an object, found in what is torn, stand inside another one, by what is before and behind it?"""
    before = at - 1
    while before >= 0 and text[before].isspace():
        before -= 1
    behind = _past_space(text, end)
    return before >= 0 and text[before] in _BEFORE_INNER and behind < len(text) and text[behind] in _BEHIND_INNER


def _past_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _cleaned(value: Any) -> Any:
    """The value with U+FFFD for each lone surrogate, as orjson can write it again."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(name): _cleaned(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_cleaned(inner) for inner in value]
    return value
