"""A log's bytes as lines, its lines as records. Pure: no clock, disk or threads.

A log is read once, forwards, in chunks; memory is one line's. Every byte belongs to a record or to a `Problem` that
says where it lies: nothing is lost without a word. What may stand on a line:

- A record. Its `size` is counted anew; a wrong one is said, and the right one goes on.
- White space, CR before LF, a byte order mark at a file's start, a kind of another program: all read as they stand.
- No record: said, and skipped. Where it was torn by lost power (a last line without its LF, NULs) nothing is lost by
  it. Where it took an id with it, the next id jumps, and that is said as a `Jump`, which needs the user's word.
- Broken bytes and whole records: what a program does that appends to a torn line without ending it. The whole
  records are read: `{"i":` and its like can't stand inside a JSON text, whose quotes are escaped.

A last line without its LF counts like any other; its LF counts as read, since the owner writes it before anything else.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Generic, NamedTuple, TypeVar

import msgspec

from eukhe.limits import JUMP_IDS_MAX, LINE_RECORDS_MAX, NODE_BITS_MAX, NODE_BYTES_MAX, READ_CHUNK_BYTES
from eukhe.model.part import Part
from eukhe.model.record import (
    BatchRecord,
    GapRecord,
    MainRecord,
    MessageRecord,
    NodeRecord,
    RecordError,
    TreeRecord,
    VoidRecord,
    decode_main,
    decode_tree,
)
from eukhe.model.text import label, size

Read = Callable[[int, int], bytes]
"""Bytes of a file: at most so many from an offset, none at its end."""

LF = b"\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GAP_MARK = b'{"gap":'
VOID_MARK = b'{"void":'
_MAIN_STARTS = re.compile(rb'\{"(?:i|gap)":')
_TREE_STARTS = re.compile(rb'\{"(?:l|merge|void)":')
_OLD_KINDS = {"eukhe": ("talk",)}  # sizes of old lines count the kind as it was written

R = TypeVar("R", MainRecord, TreeRecord)


class Problem(msgspec.Struct, frozen=True):
    """Something in a file is not as it should be. `line` from 1, `offset` in bytes.

    `harmless`: nothing that was acknowledged is lost by it.
    """

    file: str
    line: int
    offset: int
    what: str
    harmless: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line} (byte {self.offset}): {self.what}"


class Jump(msgspec.Struct, frozen=True):
    """The ids after `before` and before `after` have no line."""

    file: str
    line: int
    offset: int
    before: int
    after: int


def missing(jump: Jump) -> str:
    """What a jump means, in words."""
    first, last = jump.before + 1, jump.after - 1
    return f"message {first} is missing" if first == last else f"messages {first} to {last} are missing"


def accepted(jump: Jump, gaps: Sequence[GapRecord]) -> bool:
    """Whether the user has given up all the ids that a jump leaves out."""
    i = jump.before + 1
    while i < jump.after:
        gap = next((gap for gap in gaps if gap.first <= i < gap.end), None)
        if gap is None:
            return False
        i = gap.end
    return True


def gaps_in(marked: Iterable[tuple[str, "Line"]], next_id: int) -> Iterator[GapRecord]:
    """The gaps on lines that hold `GAP_MARK`. They stand after the lines around the gap: whoever accepts it appends."""
    for path, line in marked:
        for found in MainScan(next_id).file(path, (line,)):
            if isinstance(found, Found) and isinstance(found.record, GapRecord):
                yield found.record


class Line(NamedTuple):
    """A line, with its LF where it has one."""

    number: int
    offset: int
    data: bytes

    @property
    def ended(self) -> bool:
        return self.data.endswith(LF)


class Found(NamedTuple, Generic[R]):
    """A record and where it lies: `length` bytes from `offset`, with its LF where it has the line for itself."""

    record: R
    file: str
    line: int
    offset: int
    length: int


def lines(read: Read, offset: int = 0, number: int = 1) -> Iterator[Line]:
    """The lines of a file from an offset at which a line starts, `number` the first one's. They end at LF alone."""
    begun: list[bytes] = []  # of a line that is longer than a chunk
    start = at = offset
    while chunk := read(at, READ_CHUNK_BYTES):
        at += len(chunk)
        first = 0
        while end := chunk.find(LF, first) + 1:
            begun.append(chunk[first:end])
            data = begun[0] if len(begun) == 1 else b"".join(begun)
            begun.clear()
            yield _without_mark(Line(number, start, data))
            start += len(data)
            number += 1
            first = end
        if first < len(chunk):
            begun.append(chunk[first:])
    if begun:
        yield _without_mark(Line(number, start, b"".join(begun)))


def labels(record: MessageRecord) -> tuple[str, ...]:
    """A message's `kind: text`, as it reads now and as it read when its kind had another name."""
    return (record.label, *(label(kind, record.text) for kind in _OLD_KINDS.get(record.kind, ())))


def count_lines(read: Read, end: int) -> int:
    """How many lines end before the byte `end`."""
    count = at = 0
    while at < end and (chunk := read(at, min(READ_CHUNK_BYTES, end - at))):
        count += chunk.count(LF)
        at += len(chunk)
    return count


def last_line(read: Read, end: int) -> bytes:
    """The line, LF included, that ends before the byte `end`; empty where none does."""
    start = end
    found: list[bytes] = []
    while start > 0:
        length = min(READ_CHUNK_BYTES, start)
        chunk = read(start - length, length)
        if len(chunk) < length:
            return b""
        start -= length
        # The LF at the end is the line's own; the one before it ends the line before.
        before = chunk.rfind(LF, 0, length - 1 if not found else length) + 1
        found.append(chunk[before:])
        if before:
            break
    line = b"".join(reversed(found))
    return line.removeprefix(_BYTE_ORDER_MARK) if line.endswith(LF) else b""


class MainScan:
    """Reads main/, file after file. `next_id`: the id that the next message has."""

    def __init__(self, next_id: int = 0) -> None:
        self.next_id = next_id

    def file(self, path: str, of: Iterable[Line]) -> Iterator[Found[MainRecord] | Jump | Problem]:
        """What a file's lines hold, in order. A `Jump` stands before the message that it leads to."""
        for line in of:
            for found in _records(path, line, decode_main, _MAIN_STARTS):
                if isinstance(found, Problem):
                    yield found
                elif isinstance(found.record, GapRecord):
                    yield from self._gap(found, found.record)
                else:
                    yield from self._message(found, found.record)

    def _message(self, found: Found[MainRecord], record: MessageRecord) -> Iterator[Found[MainRecord] | Jump | Problem]:
        where = found.file, found.line, found.offset
        if record.i < self.next_id:
            yield Problem(*where, f"message {record.i} is there already; the first one counts")
            return
        if record.i - self.next_id > JUMP_IDS_MAX:
            yield Problem(*where, f"message {record.i} where {self.next_id} is next: no message of this chat; skipped")
            return
        if record.i > self.next_id:
            yield Jump(*where, self.next_id - 1, record.i)
        self.next_id = record.i + 1
        counted = size(record.label)
        if record.size != counted:
            if record.size not in map(size, labels(record)):
                yield Problem(*where, f"message {record.i} says {record.size} bytes and has {counted}")
            found = found._replace(record=msgspec.structs.replace(record, size=counted))
        yield found

    def _gap(self, found: Found[MainRecord], record: GapRecord) -> Iterator[Found[MainRecord] | Problem]:
        if record.end - self.next_id > JUMP_IDS_MAX:
            yield Problem(
                found.file, found.line, found.offset, f"a gap up to {record.end} where {self.next_id} is next; skipped"
            )
            return
        if record.first <= self.next_id < record.end:
            self.next_id = record.end
        yield found


def scan_tree(path: str, of: Iterable[Line]) -> Iterator[Found[TreeRecord] | Problem]:
    """What a file's lines hold, in order."""
    for line in of:
        for found in _records(path, line, decode_tree, _TREE_STARTS):
            if isinstance(found, Problem):
                yield found
            else:
                yield from _tree_record(found)


def _tree_record(found: Found[TreeRecord]) -> Iterator[Found[TreeRecord] | Problem]:
    where = found.file, found.line, found.offset
    match found.record:
        case NodeRecord(part, text, bytes_):
            parts: tuple[Part, ...] = (part,)
            counted = size(text)
            if not 1 <= counted <= NODE_BYTES_MAX:
                yield Problem(*where, f"a line of {counted} bytes, where 1 to {NODE_BYTES_MAX} are allowed")
            if bytes_ != counted:
                yield Problem(*where, f"node {part.name} says {bytes_} bytes and has {counted}")
                found = found._replace(record=NodeRecord(part, text, counted))
        case BatchRecord(merge):
            parts = merge
        case VoidRecord(void):
            parts = void
    for level, i in parts:
        if level + i.bit_length() > NODE_BITS_MAX:  # before anything counts its messages
            yield Problem(*where, f"[{level}, {i}] is no node of any chat; the line is skipped", harmless=True)
            return
    yield found


def _records(
    path: str, line: Line, decode: Callable[[bytes], R], starts: re.Pattern[bytes]
) -> Iterator[Found[R] | Problem]:
    """The records of a line: one as a rule; else what is wrong with it, then those that are whole in spite of it."""
    number, offset, data = line
    try:
        record = decode(data)
    except RecordError as error:
        if data.isspace():
            return
        whole = list(_whole_records(path, line, decode, starts))
        torn = "" if line.ended else "torn: "
        rest = f"its {len(whole)} whole records are read" if whole else "the line is skipped"
        yield Problem(path, number, offset, f"{torn}{error}; {rest}", harmless=True)
        yield from whole
    else:
        yield Found(record, path, number, offset, len(data) if line.ended else len(data) + len(LF))


def _whole_records(
    path: str, line: Line, decode: Callable[[bytes], R], starts: re.Pattern[bytes]
) -> Iterator[Found[R]]:
    """The whole records on a line that is none by itself."""
    number, offset, data = line
    at = (found.start() for found in islice(starts.finditer(data), LINE_RECORDS_MAX))
    for first, end in pairwise(chain(at, (len(data),))):
        try:
            record = decode(data[first:end])
        except RecordError:
            continue  # the line's problem names it already
        yield Found(record, path, number, offset + first, end - first)


def _without_mark(line: Line) -> Line:
    if line.offset == 0 and line.data.startswith(_BYTE_ORDER_MARK):
        return line._replace(offset=len(_BYTE_ORDER_MARK), data=line.data.removeprefix(_BYTE_ORDER_MARK))
    return line
