"""chat/index.db: where each record lies, full text, the planner's checkpoint. SQLite, and a cache of the logs.

What is in it can be made again from the logs, so nothing here is worth an fsync of its own, and a file that is
damaged, of another version or no database at all is thrown away, which `said` tells. Records come in the logs' order:
a message that is there already is left as it is, a node too, unless a void line stood between.

A node's key is the middle of the messages it covers, (2·i + 1)·2^level: one integer for level and index, and nodes
that are written one after the other lie side by side. Keys and long texts are found by 16 bytes of BLAKE2b; two that
share them do not come up. Full text keeps no second copy of the texts (contentless).

One object a user: the store, the index actor and each reader open their own. Each is guarded by a lock.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any
from zlib import crc32

from eukhe.actors.ports import Checkpoint, Place, Placed, Position
from eukhe.errors import IndexFailed
from eukhe.limits import (
    INDEX_DIGEST_BYTES,
    INDEX_FEED_ROWS,
    INDEX_RANKED_MAX,
    LOOK_ID_MAX,
    REPEAT_CHARS_MIN,
    SEARCH_WORDS_MAX,
)
from eukhe.model.key import piece_of
from eukhe.model.part import Part
from eukhe.model.record import GapRecord, MessageRecord, NodeRecord, VoidRecord
from eukhe.model.when import date_s, nearness
from eukhe.world.index_file import MADE_ANEW, failed, open_index, open_to_read, remove_index

_LOG = re.compile(r"(main|tree)/[^/\0]+\.jsonl")


class SqliteIndex:
    """Implements `Index` in the file `path`, or, where it is None, for this object alone.

    `said`: what became of a file that was there, for the user; empty where nothing did. Every method raises
    IndexFailed where SQLite fails.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self._path = path
        self._name = str(path or "the index in memory")
        self._lock = RLock()
        self._files: dict[str, int] = {}
        self._paths: dict[int, str] = {}
        self._next_id = 0
        self._nodes = 0
        self._failed = ""
        if read_only:
            assert path is not None
            self._db, self.said = open_to_read(path)
            try:
                self._load()
            except IndexFailed:
                self._db.close()
                raise
            return
        self._db, self.said = open_index(path)
        try:
            self._load()
        except IndexFailed as error:
            self.clear()
            self.said = f"{path} is damaged ({error.why}); {MADE_ANEW}"

    # --- writing ---

    def feed(self, rows: Iterable[Placed]) -> None:
        with self._writing():
            batch: list[Placed] = []
            for row in rows:
                batch.append(row)
                if len(batch) == INDEX_FEED_ROWS:
                    self._feed(batch)
                    batch.clear()
            self._feed(batch)

    def commit(self, checkpoint: Checkpoint | None = None) -> None:
        with self._writing():
            if checkpoint is not None:
                main, tree = checkpoint.main, checkpoint.tree
                self._db.execute(
                    "INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        checkpoint.state,
                        crc32(checkpoint.state),
                        main.path,
                        main.offset,
                        main.crc,
                        tree.path,
                        tree.offset,
                        tree.crc,
                    ),
                )
            self._db.execute("INSERT OR REPLACE INTO counted VALUES (1, ?)", (self._nodes,))
            self._db.commit()

    def clear(self) -> None:
        """Empties it: a new file. Others who have the old one open go on with that."""
        with self._guard():
            self._db.close()
            if self._path is not None:
                remove_index(self._path)
            self._db, _ = open_index(self._path)
            self._failed = ""
            self._load()

    def close(self) -> None:
        """What was not committed is dropped."""
        with self._guard():
            self._db.close()

    def _feed(self, rows: Sequence[Placed]) -> None:
        """Takes some rows in, a table at a time."""
        messages: list[tuple[int, int, int, int, int | None]] = []
        words: list[tuple[int, str]] = []
        keys: list[tuple[bytes, int]] = []
        texts: list[tuple[bytes, int]] = []
        nodes: list[tuple[int, int, int, int]] = []
        for row in rows:
            record, place = row.record, row.place
            if isinstance(record, MessageRecord):
                i = record.i
                if i < self._next_id:
                    continue
                self._next_id = i + 1
                messages.append((i, self._file(place.path), place.offset, place.length, date_s(record.date)))
                words.append((i, record.text))
                if record.key is not None:
                    keys.append((_digest(record.key), i))
                    whole, piece, _ = piece_of(record.key)
                    if piece == 1 and whole != record.key:
                        keys.append((_digest(whole), i))
                if len(record.text) >= REPEAT_CHARS_MIN:
                    texts.append((_digest(record.text), i))
            elif isinstance(record, NodeRecord):
                nodes.append((_key(record.part), self._file(place.path), place.offset, place.length))
            elif isinstance(record, VoidRecord):
                self._insert_nodes(nodes)
                nodes.clear()
                self._drop_nodes(record.void)
            elif isinstance(record, GapRecord):
                gap = record.first, record.end, self._file(place.path), place.offset, place.length
                self._db.execute("INSERT OR IGNORE INTO gaps VALUES (?, ?, ?, ?, ?)", gap)
                self._next_id = max(self._next_id, record.end)
        many = self._db.executemany
        many("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", messages)
        many("INSERT INTO words(rowid, text) VALUES (?, ?)", words)
        many("INSERT OR IGNORE INTO keys VALUES (?, ?)", keys)
        many("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts)
        self._insert_nodes(nodes)

    def _insert_nodes(self, nodes: list[tuple[int, int, int, int]]) -> None:
        if nodes:
            self._nodes += self._db.executemany("INSERT OR IGNORE INTO nodes VALUES (?, ?, ?, ?)", nodes).rowcount

    def _drop_nodes(self, parts: Iterable[Part]) -> None:
        for part in parts:
            self._nodes -= self._db.execute("DELETE FROM nodes WHERE key = ?", (_key(part),)).rowcount

    def _file(self, path: str) -> int:
        number = self._files.get(path)
        if number is None:
            number = self._files[path] = len(self._files) + 1
            self._paths[number] = path
            self._db.execute("INSERT INTO files VALUES (?, ?)", (number, path))
        return number

    # --- reading ---

    def checkpoint(self) -> Checkpoint | None:
        row = self._one(
            "SELECT state, state_crc, main_path, main_offset, main_crc, tree_path, tree_offset, tree_crc"
            " FROM checkpoint",
            (bytes, int, str, int, int, str, int, int),
        )
        if row is None:
            return None
        state, state_crc, *main, tree_path, tree_offset, tree_crc = row
        if crc32(state) != state_crc:
            raise self._bad("its checkpoint is not as it was written")
        return Checkpoint(state, Position(*main), Position(tree_path, tree_offset, tree_crc))

    def message_place(self, i: int) -> Place | None:
        """Of a lost message: the place of the line that says so."""
        return self._place("messages WHERE i = ?", i) or self._place("gaps WHERE first <= ? AND end > ?", i, i)

    def node_place(self, part: Part) -> Place | None:
        return self._place("nodes WHERE key = ?", _key(part))

    def id_of_key(self, key: str) -> int | None:
        row = self._one("SELECT i FROM keys WHERE digest = ?", (int,), _digest(key))
        return None if row is None else row[0]

    def id_of_text(self, text: str) -> int | None:
        if len(text) < REPEAT_CHARS_MIN:
            return None
        row = self._one("SELECT i FROM texts WHERE digest = ?", (int,), _digest(text))
        return None if row is None else row[0]

    def counts(self) -> tuple[int, int]:
        with self._guard():
            return self._next_id, self._nodes

    def search(self, words: str, limit: int, before: int = LOOK_ID_MAX) -> list[int]:
        """Of very many messages that hold all words only the newest are ranked."""
        plain = words.replace("\0", " ").replace('"', " ").split()
        query = " ".join(f'"{word}"' for word in plain[:SEARCH_WORDS_MAX])
        if not query:
            return []
        with self._guard():
            found = self._db.execute(
                "SELECT i FROM (SELECT rowid AS i, bm25(words) AS rank FROM words WHERE words MATCH ? AND rowid < ?"
                " ORDER BY rowid DESC LIMIT ?) ORDER BY rank, i DESC LIMIT ?",
                (query, before, INDEX_RANKED_MAX, limit),
            )
            return [i for (i,) in found]

    def nearest(self, at_s: int, limit: int, before: int = LOOK_ID_MAX) -> list[tuple[int, int]]:
        """Dates do not rise with the ids: what is imported keeps its source's."""
        select = "SELECT date_s, i FROM messages WHERE i < ? AND date_s"
        with self._guard():
            later = self._db.execute(f"{select} >= ? ORDER BY date_s, i LIMIT ?", (before, at_s, limit))
            found: list[tuple[int, int]] = later.fetchall()
            earlier = self._db.execute(f"{select} < ? ORDER BY date_s DESC, i DESC LIMIT ?", (before, at_s, limit))
            found += earlier.fetchall()
        if any(type(dated) is not int for dated, _ in found):
            raise self._bad("a row holds what does not belong there")
        return sorted(found, key=nearness(at_s))[:limit]

    # --- within ---

    def _load(self) -> None:
        """What is kept in memory: file numbers, and how much is there."""
        with self._guard():
            rows = self._db.execute("SELECT n, path FROM files").fetchall()
            self._paths = {number: self._log(path) for number, path in rows}
            self._files = {path: number for number, path in self._paths.items()}
            last = self._one(
                "SELECT max(ifnull((SELECT max(i) + 1 FROM messages), 0), ifnull((SELECT max(end) FROM gaps), 0))",
                (int,),
            )
            assert last is not None
            self._next_id = last[0]
            counted = self._one("SELECT nodes FROM counted", (int,))
            self._nodes = counted[0] if counted else 0

    def _one(self, query: str, types: tuple[type, ...], *values: object) -> tuple[Any, ...] | None:
        """A row, or None. SQLite gives what the file has, whatever its columns are declared to be."""
        with self._guard():
            row: tuple[Any, ...] | None = self._db.execute(query, values).fetchone()
        if row is not None and tuple(map(type, row)) != types:
            raise self._bad("a row holds what does not belong there")
        return row

    def _place(self, where: str, *values: int) -> Place | None:
        row = self._one(f"SELECT file, offset, length FROM {where}", (int, int, int), *values)
        if row is None:
            return None
        file, offset, length = row
        if offset < 0 or length < 1:
            raise self._bad(f"a row leads to {length} bytes from byte {offset}")
        return Place(self._path_of(file), offset, length)

    def _path_of(self, number: int) -> str:
        """A file's path; a reader meets numbers that the owner gave after it began."""
        path = self._paths.get(number)
        if path is None:
            row = self._one("SELECT path FROM files WHERE n = ?", (str,), number)
            if row is None:
                raise self._bad(f"a row names a file {number} that is not there")
            path = self._paths[number] = self._log(row[0])
        return path

    def _log(self, path: object) -> str:
        if not isinstance(path, str) or not _LOG.fullmatch(path):
            raise self._bad(f"it names a log {path!r}")
        return path

    def _bad(self, why: str) -> IndexFailed:
        return IndexFailed(self._name, why)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """After a write that failed nothing more is written: rows would be missing in between. Reading goes on."""
        with self._guard():
            if self._failed:
                raise self._bad(self._failed)
            try:
                yield
            except sqlite3.Error as error:
                self._failed = str(error)
                self._db.rollback()
                self._load()
                raise

    @contextmanager
    def _guard(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise failed(self._name, error) from error


def _key(part: Part) -> int:
    return (2 * part.i + 1) << part.level


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=INDEX_DIGEST_BYTES).digest()
