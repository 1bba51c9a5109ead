"""Opening a chat whose index is no good, or may not be written (faults 14, 15)."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from log_kit import (
    DATE,
    LATER_MAIN,
    LATER_TREE,
    SMALL,
    after,
    answers,
    grow,
    opened,
    state_of,
    verified,
)

from eukhe.actors.archive import Archive
from eukhe.actors.opening import open_chat
from eukhe.actors.ports import Checkpoint, Place, Placed, Position
from eukhe.errors import IndexFailed, StoreError
from eukhe.model.part import Part
from eukhe.model.record import (
    MessageRecord,
    encode,
    message,
)
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from eukhe.world.index_reader import ReaderIndex

# --- index.db (fault 14) ---


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A chat in a folder, with an index that was committed at its end."""
    folder = _folder(tmp_path / "chat")
    _grown(folder, 60)
    return folder


@pytest.fixture
def disk(chat: Path) -> Iterator[RealDisk]:
    with closing(RealDisk(chat)) as disk:
        yield disk


def _grown(folder: Path, messages: int, seed: int = 1, *, indexed: bool = True) -> None:
    with closing(RealDisk(folder)) as disk:
        grow(messages, seed=seed, disk=disk)
        if indexed:
            with closing(SqliteIndex(folder / "index.db")) as index:
                opened(disk, index)


def _folder(folder: Path) -> Path:
    for name in ("main", "tree"):
        (folder / name).mkdir(parents=True)
    return folder


def _lose(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _noise(path: Path) -> None:
    path.write_bytes(b"\xff" * 9_000)


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _scramble(path: Path) -> None:
    """All but the first page."""
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\x5a" * (len(data) - 4096))


def _of_another_chat(path: Path) -> None:
    other = _folder(path.parent.parent / "other")
    _grown(other, 80, seed=9)
    shutil.copy(other / "index.db", path)


def _without_checkpoint(path: Path) -> None:
    index = SqliteIndex(path)
    index.clear()
    index.feed([])
    index.commit()
    index.close()


def _garbage_for_a_state(path: Path) -> None:
    index = SqliteIndex(path)
    noted = index.checkpoint()
    assert noted is not None
    index.commit(Checkpoint(b"[1,2]", noted.main, noted.tree))
    index.close()


BREAKS = [_lose, _empty, _noise, _halve, _scramble, _of_another_chat, _without_checkpoint, _garbage_for_a_state]


@pytest.mark.parametrize("spoil", BREAKS)
@pytest.mark.rule("D1")
def test_an_index_that_is_no_good_is_made_anew_with_the_same_answers(
    chat: Path, disk: RealDisk, spoil: Callable[[Path], None]
) -> None:
    good = SqliteIndex(chat / "index.db")
    before = opened(disk, good)
    expected = answers(disk, good, before.chat)
    good.close()
    spoil(chat / "index.db")
    index = SqliteIndex(chat / "index.db")
    read: list[int] = []
    anew = open_chat(disk, index, SMALL, owner=True, progress=lambda done, _: read.append(done))
    assert (True, state_of(before.chat)) == (anew.rebuilt, state_of(anew.chat))
    assert sum(path.stat().st_size for path in chat.glob("*/*.jsonl")) == read[-1]
    assert expected == answers(disk, index, anew.chat)
    assert [] == verified(disk, index)
    index.close()


@pytest.mark.parametrize("spoil", BREAKS)
@pytest.mark.rule("7")
def test_a_reader_of_an_index_that_is_no_good_answers_the_same_and_changes_nothing(
    chat: Path, disk: RealDisk, spoil: Callable[[Path], None]
) -> None:
    good = SqliteIndex(chat / "index.db")
    before = opened(disk, good)
    expected = answers(disk, good, before.chat)
    good.close()
    spoil(chat / "index.db")
    files = {path: path.read_bytes() for path in chat.rglob("*") if path.suffix in (".jsonl", ".json", ".db")}
    reader = ReaderIndex(chat / "index.db")
    anew = opened(disk, reader, owner=False)
    assert (state_of(before.chat), expected) == (state_of(anew.chat), answers(disk, reader, anew.chat))
    reader.close()
    assert files == {path: path.read_bytes() for path in files}


def test_a_reader_reads_on_from_where_the_index_ends(chat: Path, disk: RealDisk) -> None:
    owner = SqliteIndex(chat / "index.db")
    writer = after(disk, opened(disk, owner).chat)
    for i in range(9):
        writer.message(f"since then {i}", key=f"new {i}")
    reader = ReaderIndex(chat / "index.db")
    read: list[tuple[int, int]] = []
    found = open_chat(disk, reader, SMALL, owner=False, progress=lambda done, total: read.append((done, total)))
    assert (69, False, (69, 69)) == (found.chat.t, found.rebuilt, (found.start.next_id, reader.counts()[0]))
    assert read[-1][0] < sum(path.stat().st_size for path in chat.glob("*/*.jsonl")) / 2
    assert ([68], 68) == (reader.search("since then 8", 5), reader.id_of_key("new 8"))
    assert ("user: since then 8",) == Archive(disk, reader).source(Part(0, 68))
    assert 60 == owner.counts()[0]
    owner.close()


class Sealed(SqliteIndex):
    def commit(self, checkpoint: Checkpoint | None = None) -> None:
        raise AssertionError(f"there was nothing to commit: {checkpoint}")


@pytest.mark.parametrize("owner", [False, True])
def test_opening_a_chat_that_has_not_changed_writes_nothing(chat: Path, disk: RealDisk, owner: bool) -> None:
    index = Sealed(chat / "index.db")
    found = opened(disk, index, owner=owner)
    assert (60, False) == (found.chat.t, found.rebuilt)
    index.close()


@pytest.mark.rule("D1")
def test_logs_from_before_the_checkpoint_are_read_from_their_beginning(chat: Path, disk: RealDisk) -> None:
    """As after a backup was put back, and the chat went on from there."""
    main, tree = (chat / LATER_MAIN), (chat / LATER_TREE)
    main.write_bytes(b"".join(main.read_bytes().splitlines(keepends=True)[:10]))
    index = SqliteIndex(chat / "index.db")
    found = opened(disk, index)
    assert (True, 40, 40) == (found.rebuilt, found.chat.t, index.counts()[0])
    tree.unlink()
    index = SqliteIndex(chat / "index.db")
    assert opened(disk, index).rebuilt
    index.close()


@pytest.mark.parametrize(("path", "what"), [(LATER_MAIN, b'"text":"message 59'), (LATER_TREE, b'"size":')])
def test_a_last_line_of_the_same_length_that_is_another_is_noticed(path: str, what: bytes) -> None:
    writer, index = grow(60), SqliteIndex(None)
    opened(writer.disk, index)
    head, mark, tail = writer.disk.files[path].rpartition(what)
    assert mark
    writer.disk.files[path] = head + what[:-1] + (b"8" if path == LATER_MAIN else b" ") + tail
    assert opened(writer.disk, index).rebuilt


def test_rows_that_outran_the_checkpoint_must_be_in_the_logs(chat: Path, disk: RealDisk) -> None:
    index = SqliteIndex(chat / "index.db")
    found = opened(disk, index)
    place = found.start.main
    index.feed([_row(message(60, "user", "never written", DATE), place)])
    index.commit()
    index.close()
    index = SqliteIndex(chat / "index.db")
    assert (True, 60) == (opened(disk, index).rebuilt, index.counts()[0])
    index.close()


def _row(record: MessageRecord, at: Position) -> Placed:
    return Placed(record, Place(at.path, at.offset, len(encode(record))))


class Unwritable(SqliteIndex):
    """An index on a full disk: feeding fails, however often it is emptied."""

    def feed(self, rows: object) -> None:
        raise IndexFailed("index.db", "database or disk is full")


def test_no_space_for_the_index_is_one_clear_error() -> None:
    with pytest.raises(IndexFailed, match=r"index\.db: database or disk is full"):
        opened(grow(5).disk, Unwritable(None))


def test_a_log_that_cannot_be_mended_is_one_clear_error() -> None:
    writer = grow(10)
    writer.disk.files[LATER_MAIN] += b"torn"
    writer.disk.fail = writer.disk.writes
    with pytest.raises(StoreError, match="Input/output error"):
        opened(writer.disk)


# It is another user only after all was imported: where this Python lies, others may not be let in.
AS_NOBODY = """
import os, sys
from pathlib import Path
from eukhe.actors.archive import Archive
from eukhe.actors.opening import open_chat
from eukhe.errors import IndexFailed
from eukhe.model.part import Part
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from eukhe.world.index_reader import ReaderIndex
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
chat = Path(sys.argv[1])
try:
    SqliteIndex(chat / "index.db")
except IndexFailed as error:
    print(error)
index = ReaderIndex(chat / "index.db")
print(index.said)
opened = open_chat(RealDisk(chat), index, owner=False)
print(opened.chat.t, opened.rebuilt, Archive(RealDisk(chat), index).source(Part(0, 3)) is not None)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("indexed", [True, False])
def test_a_chat_that_may_not_be_written_is_read_all_the_same(indexed: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        chat = _folder(root / "chat")
        _grown(chat, 20, indexed=indexed)
        for path in (root, *root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        before = sorted(root.rglob("*"))
        command = [sys.executable, "-c", AS_NOBODY, str(chat)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        assert before == sorted(root.rglob("*"))
    assert "index.db" in told[0]
    assert indexed == told[1].endswith("is read as it is, without SQLite's side files")
    assert f"20 {not indexed} True" == told[2]
