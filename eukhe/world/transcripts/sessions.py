"""Which sessions there are, in which order, over which files; and then their messages.

Two passes over the files, with a catalog on disk between them: `plan` notes where everything stands, `read` goes
there in order. Neither holds more than one line of a file in memory, nor anything that grows with their number.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

from eukhe.errors import ImportFailedError
from eukhe.limits import MILLISECONDS
from eukhe.world.transcripts.catalog import Catalog, Entry, Place
from eukhe.world.transcripts.files import Found, find
from eukhe.world.transcripts.formats import READERS, reader_named, reader_of
from eukhe.world.transcripts.lines import Line, Parsed, Record, lines, parse, read_at
from eukhe.world.transcripts.reader import Reader
from eukhe.world.transcripts.said import Said, Unreadable, unreadable

_EMPTY = "empty"

Progress = Callable[[int], object]
"""Told how many bytes more were read, since it was told last."""


class Skipped(NamedTuple):
    """A path in which no session was looked for, and why."""

    path: Path
    why: str


class Plan:
    """What an import will read. Close it, or use it in a `with`: it has a temporary file.

    `files` hold sessions, `skipped` were passed over. `bytes` is what the files hold together, `bytes_to_read` what
    `read` will read of them: less where they tell the same twice.
    """

    def __init__(self, catalog: Catalog, files: Sequence[Path], skipped: Sequence[Skipped], bytes: int) -> None:
        self.catalog = catalog
        self.files, self.skipped, self.bytes = tuple(files), tuple(skipped), bytes
        self.sessions = catalog.sessions()
        self.bytes_to_read = catalog.bytes()

    def close(self) -> None:
        self.catalog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def plan(paths: Sequence[Path], progress: Progress | None = None) -> Plan:
    """Looks through files and folders, and what lies under these.

    ImportFailedError for a path that is missing or can't be read, and for a file of no known format that was named
    itself; in a folder such files are `skipped`. An empty file is skipped wherever it is.
    """
    with _disk_for_the_catalog():
        catalog = Catalog()
        try:
            return _plan(catalog, [Path(path) for path in paths], progress or _unheard)
        except BaseException:
            catalog.close()
            raise


def read(plan: Plan, progress: Progress | None = None) -> Iterator[Said | Unreadable]:
    """Every message, sessions by the time of their first one, each in the order of its files; the last are the lines
    that could not be read. `progress` hears `plan.bytes_to_read` bytes in all."""
    progress = progress or _unheard
    source = _Source()
    try:
        with _disk_for_the_catalog():
            for entry in plan.catalog.entries():
                yield from _said(source, entry, plan.catalog)
                progress(entry.place.length)
            for path, line, why in plan.catalog.bad():
                yield unreadable(path, line, why)
    finally:
        source.close()


def _plan(catalog: Catalog, paths: Sequence[Path], progress: Progress) -> Plan:
    files: list[Path] = []
    skipped: list[Skipped] = []
    barren = dict.fromkeys(paths, True)  # given paths under which no session was found
    size = 0
    for found in find(paths):
        reader, why = _reader(found)
        if reader is not None:
            read, why = _scan(catalog, reader, found.path, progress)
            size += read
            files.append(found.path)
            barren[found.given] = False
        if why:
            _refuse(found, why)
            skipped.append(Skipped(found.path, why))
    skipped += [Skipped(path, "a folder without any session") for path in paths if barren[path] and path.is_dir()]
    for reader in READERS:
        reader.settle(catalog)
    catalog.keep()
    return Plan(catalog, files, skipped, size)


def _reader(found: Found) -> tuple[Reader | None, str]:
    """The reader of a file, or why there is none."""
    if found.why:
        return None, found.why
    try:
        if not found.path.stat().st_size:
            return None, _EMPTY
        reader = reader_of(found.path)
    except OSError as error:
        return None, f"can't be read: {error.strerror}"
    return reader, "" if reader else "no session of a known format"


def _refuse(found: Found, why: str) -> None:
    """A file that was named itself must be one that can be read; an empty one just says nothing."""
    if found.path == found.given and why != _EMPTY:
        raise ImportFailedError(found.path, why)


def _scan(catalog: Catalog, reader: Reader, path: Path, progress: Progress) -> tuple[int, str]:
    """The first pass over a file: its bytes, and what ended it before its end."""
    size, why = 0, ""
    catalog.begin(path, reader.name)
    changed_s = path.stat().st_mtime
    try:
        with path.open("rb") as file:
            for line in _parts(file, reader):
                catalog.read(line.data)
                parsed = parse(line.data, reader.whole_file)
                for fault in parsed.bad:
                    catalog.note_bad(line.number, fault)
                for nth, record in enumerate(_records(reader, parsed)):
                    reader.scan(record, Place(line.number, line.start, len(line.data), nth), catalog)
                size += len(line.data)
                progress(len(line.data))
    except OSError as error:
        why = f"can't be read beyond byte {size}: {error.strerror}"
    catalog.end(size, int(changed_s * MILLISECONDS))
    return size, why


def _parts(file: BinaryIO, reader: Reader) -> Iterator[Line]:
    if reader.whole_file:
        yield Line(1, 0, file.read())
    else:
        yield from lines(file)


def _records(reader: Reader, parsed: Parsed) -> Iterator[Record]:
    """The records in what was parsed. What stands behind a torn record may be a piece of it: it counts when it is
    known for a record of its own."""
    for outer in parsed.records:
        for record in reader.records(outer):
            if not parsed.mended or reader.knows(record):
                yield record


class _Source:
    """The file that is open, and the records of its line that were read last."""

    def __init__(self) -> None:
        self._path = ""
        self._file: BinaryIO | None = None
        self._at: tuple[int, int] | None = None
        self._records: list[Record] = []

    def record(self, entry: Entry, reader: Reader) -> Record | None:
        """The record at its place; None where the file is no longer what it was. OSError as the system says."""
        if self._file is None or entry.path != self._path:
            self.close()
            self._file, self._path = Path(entry.path).open("rb"), entry.path  # noqa: SIM115, closed by close()
        place = (entry.place.start, entry.place.length)
        if place != self._at:
            self._at, self._records = None, []  # let go of the last line before the next is read
            data = read_at(self._file, *place)
            self._records = list(_records(reader, parse(data, reader.whole_file)))
            self._at = place
        return self._records[entry.place.nth] if entry.place.nth < len(self._records) else None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._at, self._records = None, None, []


def _said(source: _Source, entry: Entry, catalog: Catalog) -> Iterator[Said | Unreadable]:
    reader = reader_named(entry.reader)
    try:
        record = source.record(entry, reader)
    except OSError as error:
        yield unreadable(entry.path, entry.place.line, f"can't be read any more: {error.strerror}")
        return
    if record is None:
        yield unreadable(entry.path, entry.place.line, "the file changed while it was imported")
        return
    yield from reader.say(record, entry, catalog)


@contextmanager
def _disk_for_the_catalog() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise ImportFailedError("the temporary folder", f"{error}: an import needs some room there") from None


def _unheard(bytes: int) -> None:
    """Progress that nobody listens to."""
