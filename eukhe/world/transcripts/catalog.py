"""Where everything stands: a table of all records, on disk, for as long as an import lasts.

The first pass notes each record that has an id or says something: its place, session, time, id, parent. Then is
decided, in SQL, what no single file can tell:

- Which copy counts. Files are ranked by what is in them (first time; first record without a name, as forks do not
  copy those; last time, length, checksum), never by their own names, so that the order in which they were given
  changes nothing. Of several copies of an id the first one counts.
- What is one conversation. Two sessions whose records hang together by parent inside one file are one.
- The order. Conversations by the time of their first message. In one conversation a file's records keep the file's
  order, whatever their times say; where several files tell parts of it, these are merged by the latest time that each
  had reached, doubled records counted, so that the tail of a longer copy stands behind the shorter one.

It holds places, ids and hashes, and no word of what was said. SQLite keeps it in a temporary file that has no name
and goes with the process; in memory there is no more than its page cache.
"""

import os
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from eukhe.limits import CATALOG_CACHE_KIB

_TABLES = """
CREATE TABLE file (
    file INTEGER PRIMARY KEY, path BLOB, reader TEXT, bytes INT, crc INT, first_ms INT, last_ms INT, place INT);
CREATE TABLE record (
    file INT, start INT, nth INT, line INT, length INT, at INT,
    id TEXT, name TEXT, parent TEXT, session TEXT, ms INT, says INT, role TEXT, twin TEXT);
CREATE TABLE bad (file INT, line INT, why TEXT);
CREATE TABLE root (session TEXT PRIMARY KEY, up TEXT) WITHOUT ROWID;
CREATE TABLE seen (what TEXT, name TEXT, n INT, PRIMARY KEY (what, name)) WITHOUT ROWID;
CREATE TABLE waiting (
    file INT, session TEXT, start INT, nth INT, line INT, length INT, ms INT, id TEXT, twin TEXT, says INT);
CREATE INDEX waiting_in ON waiting (file, session);
"""

_KEEP = """
CREATE TABLE kept AS
SELECT file, start, nth, line, length, at, id, ms, role, root, place, reached FROM (
    SELECT record.*, f.place, COALESCE(root.up, record.session) AS root,
        MAX(ms) OVER (PARTITION BY record.file, COALESCE(root.up, record.session) ORDER BY at, nth
                      ROWS UNBOUNDED PRECEDING) AS reached,
        ROW_NUMBER() OVER (PARTITION BY id ORDER BY f.place, at, nth) AS copy
    FROM record JOIN file f ON f.file = record.file LEFT JOIN root ON root.session = record.session
    WHERE says)
WHERE copy = 1
"""

_ORDERED = """
SELECT path, reader, start, nth, line, length, id, ms, role
FROM kept JOIN file USING (file)
    JOIN (SELECT root, MIN(reached) AS begun FROM kept GROUP BY root) USING (root)
ORDER BY begun, root, reached, kept.place, at, nth
"""


class Place(NamedTuple):
    """Where a record stands: its line's number, first byte and bytes, and which of the line's records it is."""

    line: int
    start: int
    length: int
    nth: int


class Entry(NamedTuple):
    """A record to be read. `ms` is its time, or the nearest one known; `role` is the reader's own word for it."""

    path: str
    reader: str
    place: Place
    id: str
    ms: int
    role: str


class Catalog:
    """The table. One file is noted at a time, between `begin` and `end`."""

    def __init__(self) -> None:
        # "": a temporary database of SQLite's own, on disk once it outgrows the cache. Nothing in it has to last.
        self.sql = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "temp_store=FILE", f"cache_size=-{CATALOG_CACHE_KIB}"):
            self.sql.execute(f"PRAGMA {pragma}")
        self.sql.executescript(_TABLES)
        self.sql.execute("BEGIN")
        self.file = 0
        self.session = ""  # of the latest record of the file that names one
        self.ms: int | None = None  # of the latest record of the file that has a time
        self._crc = 0
        self._row = 0  # the last row of the files before
        self._first: int | None = None  # the first time noted in the file, the lowest and the highest
        self._lowest: int | None = None
        self._highest: int | None = None

    def close(self) -> None:
        self.sql.close()

    # --- the first pass ---

    def begin(self, path: Path, reader: str) -> None:
        """From here on records are those of this file."""
        self.file += 1
        self.session, self.ms, self._crc = "", None, 0
        self._first = self._lowest = self._highest = None
        (self._row,) = self.sql.execute("SELECT COALESCE(MAX(rowid), 0) FROM record").fetchone()
        self.sql.execute(
            "INSERT INTO file (file, path, reader) VALUES (?, ?, ?)", (self.file, os.fsencode(path), reader)
        )

    def read(self, data: bytes) -> None:
        """These bytes of the file were read; they count for its checksum."""
        self._crc = zlib.crc32(data, self._crc)

    def end(self, size: int, changed_ms: int) -> None:
        """The file ends, after `size` bytes. Records before the first that has a time get that one's, or the file's."""
        first = changed_ms if self._first is None else self._first
        self.sql.execute("UPDATE record SET ms = ? WHERE rowid > ? AND ms IS NULL", (first, self._row))
        lowest = first if self._lowest is None else self._lowest
        highest = first if self._highest is None else self._highest
        self.sql.execute(
            "UPDATE file SET bytes = ?, crc = ?, first_ms = ?, last_ms = ? WHERE file = ?",
            (size, self._crc, lowest, highest, self.file),
        )

    def note(
        self,
        place: Place,
        id: str,
        *,
        name: str | None = None,
        parent: str | None = None,
        says: bool,
        role: str = "",
        twin: str | None = None,
        at: int | None = None,
        ms: int | None = None,
    ) -> None:
        """Notes a record of the current file, session and time. Of all records of an `id` one is kept.

        `name`: what others call it when they name it as their `parent`. `at`: the byte where it stands in the order,
        when that is not where it is written. `twin`: what it has in common with the record of another role that says
        the same.
        """
        ms = self.ms if ms is None else ms
        if ms is not None:
            self._first = ms if self._first is None else self._first
            self._lowest = ms if self._lowest is None else min(self._lowest, ms)
            self._highest = ms if self._highest is None else max(self._highest, ms)
        self.sql.execute(
            "INSERT INTO record VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                self.file,
                place.start,
                place.nth,
                place.line,
                place.length,
                place.start if at is None else at,
                id,
                name,
                parent,
                self.session,
                ms,
                says,
                role,
                twin,
            ),
        )

    def note_bad(self, line: int, why: str) -> None:
        self.sql.execute("INSERT INTO bad VALUES (?, ?, ?)", (self.file, line, why))

    def count(self, what: str, name: str) -> int:
        """How often this was counted, this time included."""
        row = self.sql.execute(
            "INSERT INTO seen VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1 RETURNING n", (what, name)
        ).fetchone()
        return int(row[0])

    def has(self, what: str, name: str) -> bool:
        """Was this ever counted?"""
        return bool(self.sql.execute("SELECT 1 FROM seen WHERE what = ? AND name = ?", (what, name)).fetchone())

    # --- between the passes ---

    def rank(self) -> None:
        """Puts the files in an order that depends on nothing but what is in them."""
        self.sql.execute(
            "UPDATE file SET place = r.n FROM (SELECT f.file, ROW_NUMBER() OVER"
            " (ORDER BY first_ms, unnamed_ms NULLS LAST, last_ms, bytes, crc, path) AS n FROM file f LEFT JOIN"
            " (SELECT file, MIN(ms) AS unnamed_ms FROM record WHERE says AND name IS NULL GROUP BY file) USING (file)"
            ") r WHERE r.file = file.file"
        )

    def join_sessions(self) -> None:
        """Makes one conversation of sessions whose records hang together by parent inside a file."""
        self.sql.execute("CREATE INDEX record_name ON record (file, name)")
        pairs = self.sql.execute(
            "SELECT DISTINCT child.session, parent.session FROM record child JOIN record parent"
            " ON parent.file = child.file AND parent.name = child.parent WHERE child.session <> parent.session"
            " AND child.file IN (SELECT file FROM record GROUP BY file HAVING MIN(session) <> MAX(session))"
        )
        for one, other in pairs:
            first, second = sorted((self._root(one), self._root(other)))
            if first != second:
                self.sql.execute("INSERT OR REPLACE INTO root VALUES (?, ?)", (second, first))
        for (session,) in self.sql.execute("SELECT session FROM root"):
            self.sql.execute("UPDATE root SET up = ? WHERE session = ?", (self._root(session), session))

    def keep(self) -> None:
        """Of every id the copy that counts, with all that orders it."""
        self.rank()
        self.join_sessions()
        self.sql.execute(_KEEP)
        self.sql.execute("COMMIT")

    def _root(self, session: str) -> str:
        while row := self.sql.execute("SELECT up FROM root WHERE session = ?", (session,)).fetchone():
            session = row[0]
        return session

    # --- the second pass ---

    def sessions(self) -> int:
        """Conversations in which something is said."""
        return int(self.sql.execute("SELECT COUNT(DISTINCT root) FROM kept").fetchone()[0])

    def bytes(self) -> int:
        """Bytes of all lines that the second pass reads."""
        return int(self.sql.execute("SELECT COALESCE(SUM(length), 0) FROM kept").fetchone()[0])

    def entries(self) -> Iterator[Entry]:
        """What is to be read, in order."""
        for path, reader, start, nth, line, length, id_, ms, role in self.sql.execute(_ORDERED):
            yield Entry(os.fsdecode(path), reader, Place(line, start, length, nth), id_, ms, role)

    def bad(self) -> Iterator[tuple[str, int, str]]:
        """Path, line and reason of every part that could not be read, file by file."""
        for path, line, why in self.sql.execute(
            "SELECT path, line, why FROM bad JOIN file USING (file) ORDER BY place, line"
        ):
            yield os.fsdecode(path), line, why
