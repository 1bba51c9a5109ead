"""The day files of one log, from a position on, as long as they were when this was made. Reads alone.

A reader goes on while the owner writes. The tree is looked at before main: so each node's messages are in main.
"""

import re
import zlib
from collections.abc import Callable, Iterator
from datetime import date

from eukhe.actors.ports import Disk, Position
from eukhe.limits import READ_CHUNK_BYTES
from eukhe.model.scan import LF, Line, Problem, Read, count_lines, last_line, lines

_SUFFIX = ".jsonl"
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class LogFiles:
    """`folder`: main or tree. `end`: how far it was read. `unended`: files whose last line has no LF.

    `strays`: other files in the folder, such as somebody's copy of a day. They are no part of the log.
    """

    def __init__(self, disk: Disk, folder: str) -> None:
        self._disk = disk
        self._lengths: dict[str, int] = {}
        self.strays: list[str] = []
        for name in disk.names(folder):
            if is_day_file(name):
                self._lengths[f"{folder}/{name}"] = disk.length(f"{folder}/{name}") or 0
            else:
                self.strays.append(f"{folder}/{name}")
        self._begun = self.end = Position()
        self.unended: list[str] = []

    def stray_problems(self) -> list[Problem]:
        """Says which files are no part of the log."""
        return [Problem(path, 1, 0, "is no day's log; it is not read, and left alone", True) for path in self.strays]

    def fits(self, position: Position) -> bool:
        """Whether the line before a position is the one that stood there when it was noted."""
        if not position.path:
            return True
        if self._lengths.get(position.path, -1) < position.offset:
            return False
        return zlib.crc32(last_line(self.reader(position.path), position.offset)) == position.crc

    def begin(self, position: Position) -> int:
        """Reads from here on; how many bytes that will be."""
        self._begun = self.end = position
        self.unended.clear()
        return sum(self._lengths[path] - offset for path, offset in self._ahead())

    def read(self, took: Callable[[int], None]) -> Iterator[tuple[str, Iterator[Line]]]:
        """The files' lines, a file after the other. `took` is told of the bytes read."""
        for path, offset in self._ahead():
            yield path, self._lines(path, offset, took)

    def files(self) -> list[tuple[str, Read]]:
        """All files, oldest first, each with what reads it."""
        return [(path, self.reader(path)) for path in self._lengths]

    def lines_with(self, mark: bytes) -> Iterator[tuple[str, Line]]:
        """The lines that hold some bytes; a file without them costs a search, no more."""
        for path, offset in self._ahead():
            read = self.reader(path)
            if _holds(read, offset, mark):
                for line in lines(read, offset):
                    if mark in line.data:
                        yield path, line

    def reader(self, path: str) -> Read:
        """Reads a file up to its length."""
        end = self._lengths[path]
        return lambda offset, length: self._disk.read(path, offset, min(length, end - offset)) if offset < end else b""

    def number(self, path: str, line: int) -> int:
        """A line's number in its file, where that was not read from its beginning."""
        if path != self._begun.path:
            return line
        return line + count_lines(self.reader(path), self._begun.offset)

    def _ahead(self) -> list[tuple[str, int]]:
        """The files from the position on, oldest first, each with the byte to begin at."""
        begun = self._begun
        return [(path, begun.offset if path == begun.path else 0) for path in self._lengths if path >= begun.path]

    def _lines(self, path: str, offset: int, took: Callable[[int], None]) -> Iterator[Line]:
        read = self.reader(path)

        def telling(at: int, length: int) -> bytes:
            chunk = read(at, length)
            took(len(chunk))
            return chunk

        last: Line | None = None
        for last in lines(telling, offset):
            yield last
        if last is not None:
            line = last.data if last.ended else last.data + LF
            self.end = Position(path, last.offset + len(line), zlib.crc32(line))
            if not last.ended and path not in self.unended:
                self.unended.append(path)
        elif path != self.end.path:
            self.end = Position(path)


def is_day_file(name: str) -> bool:
    """Whether a file is a log's: `2026-10-05.jsonl`, of a day that there is."""
    day = name.removesuffix(_SUFFIX)
    if f"{day}{_SUFFIX}" != name or not _DAY.fullmatch(day):
        return False
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True


def _holds(read: Read, offset: int, mark: bytes) -> bool:
    before = b""
    while chunk := read(offset, READ_CHUNK_BYTES):
        if mark in before + chunk:
            return True
        before = chunk[1 - len(mark) :]
        offset += len(chunk)
    return False
