"""The index's dates: the messages nearest to a moment, in the file and to one who only reads it."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_kit import place

from eukhe.actors.ports import Placed
from eukhe.errors import IndexFailed
from eukhe.model.record import message
from eukhe.model.when import nearness
from eukhe.world.index import SqliteIndex
from eukhe.world.index_reader import ReaderIndex

START = datetime(2026, 10, 5, 12, tzinfo=UTC)
START_S = int(START.timestamp())


def at(i: int, seconds: int | None) -> Placed:
    """A message so many seconds after the start; None: one without a date."""
    date = "never" if seconds is None else (START + timedelta(seconds=seconds)).isoformat()
    return Placed(message(i, "user", "hello", date), place(i * 10))


@pytest.fixture
def index() -> Iterator[SqliteIndex]:
    index = SqliteIndex(None)
    yield index
    index.close()


@pytest.mark.rule("D15")
@given(st.lists(st.none() | st.integers(-20, 20), max_size=40), st.integers(-30, 30), st.integers(1, 12))
def test_the_nearest_are_those_that_are_nearest_of_all(dates: list[int | None], moment: int, limit: int) -> None:
    index = SqliteIndex(None)
    index.feed(at(i, seconds) for i, seconds in enumerate(dates))
    dated = [(START_S + seconds, i) for i, seconds in enumerate(dates) if seconds is not None]
    expected = sorted(dated, key=nearness(START_S + moment))[:limit]
    assert expected == index.nearest(START_S + moment, limit)
    index.close()


@pytest.mark.rule("D15")
def test_a_date_that_is_fed_is_found_before_it_is_committed(index: SqliteIndex) -> None:
    index.feed([at(0, 5)])
    assert [(START_S + 5, 0)] == index.nearest(START_S, 10)


@pytest.mark.rule("D15")
def test_a_reader_finds_the_nearest_of_the_file_and_of_what_is_newer(tmp_path: Path) -> None:
    owner = SqliteIndex(tmp_path / "index.db")
    owner.feed(at(i, 10 * i) for i in range(5))
    owner.commit()
    owner.close()
    reader = ReaderIndex(tmp_path / "index.db")
    reader.feed([at(4, 40), at(5, 15), at(6, 4_000)])  # one that it reads again, and one of an older date
    ids = [i for _, i in reader.nearest(START_S + 16, 4)]
    assert [5, 2, 1, 3] == ids
    assert [0, 1, 5, 2, 3, 4, 6] == [i for _, i in sorted(reader.nearest(START_S, 100))]
    reader.close()


def test_moments_that_no_message_is_near_to_are_no_trouble(index: SqliteIndex) -> None:
    assert [] == index.nearest(START_S, 10)
    index.feed([at(0, 0)])
    assert [(START_S, 0)] == index.nearest(-(1 << 62), 10) == index.nearest(1 << 62, 10)


@pytest.mark.parametrize("order", ["date_s >= 0 ORDER BY date_s, i", "date_s < 0 ORDER BY date_s DESC, i DESC"])
def test_the_nearest_are_found_without_reading_or_sorting_all(index: SqliteIndex, order: str) -> None:
    """As many rows as are wanted: in a chat of a million messages it takes no longer."""
    plan = index._db.execute(f"EXPLAIN QUERY PLAN SELECT date_s, i FROM messages WHERE {order} LIMIT 10").fetchall()
    (step,) = [row[3] for row in plan]
    assert "SEARCH messages USING COVERING INDEX dates" in step


def test_a_date_that_is_none_in_a_damaged_file_makes_the_index_fail(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    owner = SqliteIndex(path)
    owner.feed([at(0, 0)])
    owner.commit()
    owner.close()
    db = sqlite3.connect(path)
    db.execute("UPDATE messages SET date_s = 'x'")
    db.commit()
    db.close()
    index = SqliteIndex(path)
    with pytest.raises(IndexFailed, match="a row holds what does not belong there"):
        index.nearest(START_S, 10)
    index.close()
