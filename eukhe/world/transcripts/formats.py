"""The formats that can be read, and which of them a file has: told by what is in it, never by its name."""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from eukhe.limits import DETECT_LINE_BYTES_MAX, DETECT_LINES_MAX, READ_BLOCK_BYTES
from eukhe.world.transcripts.claude import Claude
from eukhe.world.transcripts.claude_export import ClaudeExport
from eukhe.world.transcripts.eukhe import Eukhe
from eukhe.world.transcripts.lines import line_end, parse, plain, read_at
from eukhe.world.transcripts.reader import Reader

READERS: Sequence[Reader] = (Claude(), ClaudeExport(), Eukhe())

_JSON = b"{["


def reader_named(name: str) -> Reader:
    """The reader of a name that the catalog holds."""
    return next(reader for reader in READERS if reader.name == name)


def reader_of(path: Path) -> Reader | None:
    """The reader that knows the file's head or one of its first lines. OSError as the system says."""
    with path.open("rb") as file:
        head = plain(file.read(READ_BLOCK_BYTES))
        for reader in READERS:
            if reader.opens(head):
                return reader
        return _by_lines(file)


def _by_lines(file: BinaryIO) -> Reader | None:
    start = 0
    for _ in range(DETECT_LINES_MAX):
        file.seek(start)
        data = file.readline(READ_BLOCK_BYTES)
        if not data:
            return None
        end = start + len(data)
        if len(data) == READ_BLOCK_BYTES and not data.endswith(b"\n"):
            # A long line is looked at only if it may be a record; what is no text may have no line end at all.
            may_be_record = plain(data).lstrip()[:1] in _JSON
            end = line_end(file, end)
            data = read_at(file, start, end - start) if may_be_record and end - start <= DETECT_LINE_BYTES_MAX else b""
        for record in parse(data).records:
            for reader in READERS:
                if reader.knows(record):
                    return reader
        start = end
    return None
