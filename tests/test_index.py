"""chat/index.db: what it finds, what becomes of a bad one, and who may read it."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest
from index_kit import NOTED, built, filled, full, place, said
from log_kit import DATE, TREE

from eukhe.actors.ports import Placed
from eukhe.errors import IndexFailed
from eukhe.limits import INDEX_VERSION, REPEAT_CHARS_MIN, SEARCH_WORDS_MAX
from eukhe.model.part import Part
from eukhe.model.record import GapRecord, VoidRecord, message
from eukhe.world.index import SqliteIndex
from eukhe.world.index_reader import ReaderIndex
from tests.leaks import handles

# --- what it finds ---


def test_records_are_found_by_id_part_and_key() -> None:
    index = SqliteIndex(None)
    index.feed([said(0), said(1, key="k"), built(Part(0, 1), 30), built(Part(1, 0), 40)])
    assert (place(0), place(10), None) == (index.message_place(0), index.message_place(1), index.message_place(2))
    assert place(30, path=TREE) == index.node_place(Part(0, 1))
    assert place(40, path=TREE) == index.node_place(Part(1, 0))
    assert None is index.node_place(Part(0, 0))
    assert (1, None) == (index.id_of_key("k"), index.id_of_key("other"))
    assert (2, 2) == index.counts()


def test_no_two_nodes_share_a_key() -> None:
    parts = [Part(level, i) for level in range(6) for i in range(20)]
    index = SqliteIndex(None)
    index.feed(built(part, offset) for offset, part in enumerate(parts))
    assert list(range(len(parts))) == [place.offset for part in parts if (place := index.node_place(part))]


def test_a_record_that_is_there_already_changes_nothing() -> None:
    index = SqliteIndex(None)
    rows = [said(0, "first", "k"), built(Part(0, 0), 5)]
    index.feed(rows)
    index.feed([*rows, Placed(message(0, "user", "second", DATE, "k"), place(99)), built(Part(0, 0), 99)])
    assert (1, 1) == index.counts()
    assert (place(0), place(5, path=TREE)) == (index.message_place(0), index.node_place(Part(0, 0)))
    assert ([0], []) == (index.search("first", 9), index.search("second", 9))


def test_a_texts_own_key_leads_to_its_first_piece() -> None:
    index = SqliteIndex(None)
    index.feed([said(0, key="k#1/2"), said(1, key="k#2/2"), said(2, key="plain#1/1")])
    assert (0, 0, 1) == (index.id_of_key("k"), index.id_of_key("k#1/2"), index.id_of_key("k#2/2"))
    assert (2, None) == (index.id_of_key("plain#1/1"), index.id_of_key("plain"))


def test_a_long_text_is_found_by_itself_and_the_first_counts() -> None:
    long, short = "x" * REPEAT_CHARS_MIN, "x" * (REPEAT_CHARS_MIN - 1)
    index = SqliteIndex(None)
    index.feed([said(0, short), said(1, long), said(2, long)])
    assert (1, None) == (index.id_of_text(long), index.id_of_text(short))


def test_a_lost_message_leads_to_the_line_that_says_so() -> None:
    index = SqliteIndex(None)
    index.feed([said(0), said(3), Placed(GapRecord(1, 3), place(70))])
    assert [place(0), place(70), place(70), place(30)] == [index.message_place(i) for i in range(4)]
    assert 4 == index.counts()[0]
    index.feed([Placed(GapRecord(4, 6), place(80))])
    assert 6 == index.counts()[0]


def test_a_voided_node_is_gone_until_a_later_line() -> None:
    index = SqliteIndex(None)
    void = Placed(VoidRecord((Part(0, 0), Part(0, 5))), place(20, path=TREE))
    index.feed([built(Part(0, 0), 10), built(Part(0, 1), 15), void])
    assert (None, 1) == (index.node_place(Part(0, 0)), index.counts()[1])
    index.feed([built(Part(0, 0), 30), void, built(Part(0, 0), 40)])
    assert (place(40, path=TREE), 2) == (index.node_place(Part(0, 0)), index.counts()[1])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("number1", [1]),
        ("HELLO Number2", [2]),
        ("hello number1 number2", []),
        ('"hello" AND (number1', []),
        ('number1"', [1]),
        ("cafe", [3]),
        ("foo-bar", [3]),
        ("!! number1 --", [1]),
        ("!!", []),
        ("", []),
        ("\0", []),
        ("number1 " * (SEARCH_WORDS_MAX * 20), [1]),
    ],
)
def test_a_search_takes_all_words_as_words(words: str, found: list[int]) -> None:
    index = SqliteIndex(None)
    index.feed([*(said(i, f"hello number{i}") for i in range(3)), said(3, "café\0 foo-bar")])
    assert found == index.search(words, 9)


def test_a_search_gives_the_best_first_and_no_more_than_asked() -> None:
    index = SqliteIndex(None)
    index.feed([said(0, "lamp " + "filler " * 40), said(1, "lamp lamp lamp"), said(2, "other")])
    assert [1, 0] == index.search("lamp", 9)
    assert [1] == index.search("lamp", 1)


# --- the file ---


def test_what_was_committed_is_there_at_the_next_start(tmp_path: Path) -> None:
    filled(tmp_path / "index.db").close()
    again = SqliteIndex(tmp_path / "index.db")
    assert (NOTED, (3, 1), "") == (again.checkpoint(), again.counts(), again.said)
    assert [1] == again.search("number1", 9)


def test_what_was_not_committed_is_not_there_for_others(tmp_path: Path) -> None:
    index = filled(tmp_path / "index.db")
    other = SqliteIndex(tmp_path / "index.db")
    index.feed([said(3)])
    assert (place(30), None) == (index.message_place(3), other.message_place(3))
    index.commit()
    assert (place(30), NOTED) == (other.message_place(3), other.checkpoint())


def test_another_reads_a_file_name_that_came_after_it_began(tmp_path: Path) -> None:
    index = filled(tmp_path / "index.db")
    other = SqliteIndex(tmp_path / "index.db", read_only=True)
    index.feed([Placed(message(3, "user", "new", DATE), place(0, path="main/2026-10-06.jsonl"))])
    index.commit()
    assert place(0, path="main/2026-10-06.jsonl") == other.message_place(3)


def test_its_files_are_their_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        filled(tmp_path / "index.db")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert {"index.db": 0o600, "index.db-wal": 0o600, "index.db-shm": 0o600} == modes


def test_cleared_it_is_as_new_and_others_keep_the_old_one(tmp_path: Path) -> None:
    index = filled(tmp_path / "index.db")
    other = SqliteIndex(tmp_path / "index.db", read_only=True)
    index.clear()
    assert (None, (0, 0)) == (index.checkpoint(), index.counts())
    assert place(0) == other.message_place(0)
    index.feed([said(0)])
    index.commit()
    assert 1 == SqliteIndex(tmp_path / "index.db").counts()[0]


@pytest.mark.parametrize("what", ["no database at all", "SQLite format 3\0 and so on" + "x" * 5_000, ""])
def test_a_file_that_is_no_database_is_thrown_away_and_said(tmp_path: Path, what: str) -> None:
    (tmp_path / "index.db").write_text(what)
    index = SqliteIndex(tmp_path / "index.db")
    assert (0, 0) == index.counts()
    assert "made anew from the logs" in index.said
    index.close()
    assert "" == SqliteIndex(tmp_path / "index.db").said


def test_an_index_of_another_version_is_thrown_away_and_said(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    filled(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {INDEX_VERSION + 1}")
    db.close()
    index = SqliteIndex(path)
    assert (0, 0) == index.counts()
    assert f"{path} is of another version; it is made anew from the logs" == index.said


def test_a_database_without_our_tables_is_thrown_away(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    filled(path).close()
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE gaps")
    db.close()
    index = SqliteIndex(path)
    assert (0, 0) == index.counts()
    assert "made anew from the logs" in index.said


def test_a_link_in_its_place_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"")
    (tmp_path / "index.db").symlink_to(tmp_path / "elsewhere")
    SqliteIndex(tmp_path / "index.db").close()
    assert b"" == (tmp_path / "elsewhere").read_bytes()
    assert not (tmp_path / "index.db").is_symlink()


def test_a_folder_in_its_place_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "index.db").mkdir()
    with pytest.raises(IndexFailed, match=r"index\.db"):
        SqliteIndex(tmp_path / "index.db")


def test_after_a_write_that_failed_nothing_more_is_written_and_reading_goes_on(tmp_path: Path) -> None:
    index = filled(tmp_path / "index.db")
    full(index)
    with pytest.raises(IndexFailed, match="full"):
        index.feed(said(i, "word " * 200 + str(i), f"k{i}") for i in range(3, 4_000))
    index._db.execute("PRAGMA max_page_count = 1000000")
    with pytest.raises(IndexFailed):
        index.feed([said(3)])
    with pytest.raises(IndexFailed):
        index.commit()
    assert ((3, 1), place(20), None) == (index.counts(), index.message_place(2), index.message_place(3))


# --- who may only read ---


def test_a_reader_takes_in_what_is_new_and_changes_no_file(tmp_path: Path) -> None:
    filled(tmp_path / "index.db").close()
    before = (tmp_path / "index.db").read_bytes()
    reader = ReaderIndex(tmp_path / "index.db")
    void = Placed(VoidRecord((Part(0, 0),)), place(50, path=TREE))
    reader.feed([said(2, "again"), said(3, "new lamp", "k3"), built(Part(0, 0), 40), built(Part(0, 1), 45)])
    assert (place(5, path=TREE), (4, 2)) == (reader.node_place(Part(0, 0)), reader.counts())
    reader.feed([void, built(Part(0, 0), 60)])
    reader.commit()
    assert [place(20), place(30)] == [reader.message_place(2), reader.message_place(3)]
    assert [place(60, path=TREE), place(45, path=TREE)] == [reader.node_place(Part(0, i)) for i in range(2)]
    assert ((4, 2), 1, 3) == (reader.counts(), reader.id_of_key("k1"), reader.id_of_key("k3"))
    assert ([3], [1]) == (reader.search("lamp", 9), reader.search("number1", 9))
    assert NOTED == reader.checkpoint()
    reader.close()
    assert before == (tmp_path / "index.db").read_bytes()


def test_a_reader_without_a_file_or_with_a_bad_one_reads_for_itself(tmp_path: Path) -> None:
    reader = ReaderIndex(tmp_path / "index.db")
    assert ("", None, (0, 0)) == (reader.said, reader.checkpoint(), reader.counts())
    assert [] == list(tmp_path.iterdir())
    (tmp_path / "index.db").write_text("no database at all")
    reader = ReaderIndex(tmp_path / "index.db")
    assert "read from the logs instead" in reader.said
    reader.feed([said(0, "lamp")])
    assert [0] == reader.search("lamp", 9)
    assert "no database at all" == (tmp_path / "index.db").read_text()


def test_a_cleared_reader_looks_no_more_into_the_file(tmp_path: Path) -> None:
    filled(tmp_path / "index.db").close()
    reader = ReaderIndex(tmp_path / "index.db")
    reader.clear()
    assert (None, None, (0, 0), []) == (
        reader.checkpoint(),
        reader.message_place(0),
        reader.counts(),
        reader.search("hello", 9),
    )


@pytest.mark.parametrize("damage", ["no index", "rows"])
def test_an_index_that_cant_be_opened_to_read_leaves_no_handle(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "index.db"
    if damage == "no index":
        path.write_bytes(b"no index" * 1_000)
    else:
        SqliteIndex(path).close()
        db = sqlite3.connect(path)
        db.execute("DROP TABLE files")
        db.close()
    before = handles()
    with pytest.raises(IndexFailed) as raised:
        SqliteIndex(path, read_only=True)
    assert before == handles()
    assert raised.value.why
