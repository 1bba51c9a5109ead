"""The file of chat/index.db: made, opened, taken away. One that is damaged or not ours is thrown away."""

import os
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import quote

from eukhe.errors import IndexFailed
from eukhe.limits import FILE_MODE, INDEX_BUSY_S, INDEX_CACHE_KIB, INDEX_VERSION, INDEX_WAL_PAGES

_SCHEMA = """
CREATE TABLE files(n INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE messages(i INTEGER PRIMARY KEY, file INTEGER, offset INTEGER, length INTEGER, date_s INTEGER);
CREATE INDEX dates ON messages(date_s);
CREATE TABLE gaps(first INTEGER, end INTEGER, file INTEGER, offset INTEGER, length INTEGER, PRIMARY KEY(first, end));
CREATE TABLE nodes(key INTEGER PRIMARY KEY, file INTEGER, offset INTEGER, length INTEGER);
CREATE TABLE keys(digest BLOB PRIMARY KEY, i INTEGER) WITHOUT ROWID;
CREATE TABLE texts(digest BLOB PRIMARY KEY, i INTEGER) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize="unicode61 remove_diacritics 2");
CREATE TABLE counted(one INTEGER PRIMARY KEY CHECK(one = 1), nodes INTEGER);
CREATE TABLE checkpoint(
    one INTEGER PRIMARY KEY CHECK(one = 1), state BLOB, state_crc INTEGER,
    main_path TEXT, main_offset INTEGER, main_crc INTEGER, tree_path TEXT, tree_offset INTEGER, tree_crc INTEGER
);
"""
_SIDE_FILES = ("", "-wal", "-shm", "-journal")
_TEMPORARY = ""  # SQLite's name for a database that is gone when it is closed
_APPLICATION = int.from_bytes(b"eukh")
_OURS = (_APPLICATION, INDEX_VERSION)
MADE_ANEW = "it is made anew from the logs"
_PRIMARY_CODE = 0xFF  # number: SQLite's own, the part of an extended error code that is the code
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_OUTSIDE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY)


def open_index(path: Path | None) -> tuple[sqlite3.Connection, str]:
    """The database, made where there is none or none of ours, and what became of one that was there."""
    try:
        why = _why_not(path) if path and path.exists() else "missing"
        if not why:
            return _connect(path), ""
        if path is not None:
            remove_index(path)
        db = _connect(path)
        db.executescript(f"""
            BEGIN; {_SCHEMA}
            PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {INDEX_VERSION}; COMMIT;
        """)
    except (OSError, sqlite3.Error) as error:
        raise failed(str(path), error) from error
    return db, "" if why == "missing" else f"{path} is {why}; {MADE_ANEW}"


def _why_not(path: Path) -> str:
    """Why a file is no index that can be gone on with; empty for one that is."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=INDEX_BUSY_S)) as db:
            return "" if _version(db) == _OURS else "of another version"
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & _PRIMARY_CODE in _DAMAGED:
            return f"damaged ({error})"
        raise


def _version(db: sqlite3.Connection) -> tuple[int, int]:
    return db.execute("PRAGMA application_id").fetchone()[0], db.execute("PRAGMA user_version").fetchone()[0]


def _connect(path: Path | None) -> sqlite3.Connection:
    """To read and write. The file is its owner's alone from its first byte; SQLite gives its side files the same."""
    if path is not None:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE))
        path.chmod(FILE_MODE)
    db = sqlite3.connect(_TEMPORARY if path is None else path, timeout=INDEX_BUSY_S, check_same_thread=False)
    db.execute(f"PRAGMA cache_size = {-INDEX_CACHE_KIB}")
    if path is not None:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # OFF could leave a file that lies after lost power
        db.execute(f"PRAGMA wal_autocheckpoint = {INDEX_WAL_PAGES}")
    return db


def open_to_read(path: Path) -> tuple[sqlite3.Connection, str]:
    """Without a right to write. Where SQLite can't have its side files and needs none, the file alone; that is said."""
    side = path.with_name(path.name + "-wal")
    ways = [("mode=ro", "")]
    if not side.exists() or not side.stat().st_size:
        ways.append(("immutable=1", f"{path} is read as it is, without SQLite's side files"))
    why = ""
    for way, said in ways:
        try:
            with ExitStack() as stack:
                db = sqlite3.connect(
                    f"file:{quote(str(path))}?{way}", uri=True, timeout=INDEX_BUSY_S, check_same_thread=False
                )
                stack.callback(db.close)
                if _version(db) == _OURS:
                    stack.pop_all()
                    return db, said
            why = "of another version"
        except sqlite3.Error as error:
            why = str(error)
    raise IndexFailed(str(path), why)


def remove_index(path: Path) -> None:
    """Takes an index and its side files away. IndexFailed where they can't be."""
    try:
        for side in _SIDE_FILES:
            Path(f"{path}{side}").unlink(missing_ok=True)
    except OSError as error:
        raise failed(str(path), error) from error


def failed(name: str, error: OSError | sqlite3.Error) -> IndexFailed:
    """What went wrong with an index, and whether a new one would be any better."""
    outside = isinstance(error, OSError) or getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE in _OUTSIDE
    return IndexFailed(name, str(error), bad=not outside)
