"""Rows for an index, a filled one, and a full disk under it."""

from pathlib import Path

from log_kit import DATE, MAIN, TREE

from eukhe.actors.ports import Checkpoint, Place, Placed, Position
from eukhe.model.part import Part
from eukhe.model.record import message, node
from eukhe.world.index import SqliteIndex

NOTED = Checkpoint(b"state", Position(MAIN, 7, 8), Position(TREE, 9, 10))


def place(offset: int, length: int = 10, path: str = MAIN) -> Place:
    return Place(path, offset, length)


def said(i: int, text: str = "hello", key: str | None = None) -> Placed:
    return Placed(message(i, "user", text, DATE, key), place(i * 10))


def built(part: Part, offset: int) -> Placed:
    return Placed(node(part, "x"), place(offset, path=TREE))


def filled(path: Path, count: int = 3) -> SqliteIndex:
    index = SqliteIndex(path)
    index.feed(said(i, f"hello number{i}", f"k{i}") for i in range(count))
    index.feed([built(Part(0, 0), 5)])
    index.commit(NOTED)
    return index


def full(index: SqliteIndex) -> None:
    """Lets the file grow no more, as on a full disk."""
    pages = index._db.execute("PRAGMA page_count").fetchone()[0]
    index._db.execute(f"PRAGMA max_page_count = {pages}")
