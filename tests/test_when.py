"""Dates as people write them: what each means from one moment, also over a night in which the clocks are changed."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.when import EXAMPLES, date_s, date_text, nearness, when
from eukhe.world.clock import RealClock

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 10, 27, 9, 32, 11, tzinfo=BERLIN)
"""A Tuesday, two days after summer time ended."""
ZONES = [ZoneInfo(name) for name in ("Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kolkata", "UTC")]
moments = st.datetimes(datetime(1980, 1, 1), datetime(2037, 1, 1), timezones=st.sampled_from(ZONES))
whole = moments.map(lambda moment: moment.replace(microsecond=0))


def read(text: str, now: datetime = NOW) -> str:
    """What a text means, in the zone of its reader."""
    at_s = when(text, now)
    assert at_s is not None, text
    return datetime.fromtimestamp(at_s, now.tzinfo).isoformat(sep=" ")


@pytest.mark.rule("D15")
@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("now", "2026-10-27 09:32:11+01:00"),
        ("2026-10-05", "2026-10-05 12:00:00+02:00"),
        ("20261005", "2026-10-05 12:00:00+02:00"),
        ("2026-10-05 14:30", "2026-10-05 14:30:00+02:00"),
        ("2026-10-05 9:05", "2026-10-05 09:05:00+02:00"),
        ("2026-10-05T09:32:11", "2026-10-05 09:32:11+02:00"),
        ("2026-10-05t09:32:11z", "2026-10-05 11:32:11+02:00"),
        ("2026-10-05 09:32:11 +02:00", "2026-10-05 09:32:11+02:00"),
        ("2026-10-05 09:32:11.5-04:00", "2026-10-05 15:32:11+02:00"),
        ("14:30", "2026-10-26 14:30:00+01:00"),
        ("9:30", "2026-10-27 09:30:00+01:00"),
        ("at 2:30 pm", "2026-10-26 14:30:00+01:00"),
        ("12 am", "2026-10-27 00:00:00+01:00"),
        ("12pm", "2026-10-26 12:00:00+01:00"),
        ("today", "2026-10-27 12:00:00+01:00"),
        ("Today 14:30", "2026-10-27 14:30:00+01:00"),
        (" Yesterday ", "2026-10-26 12:00:00+01:00"),
        ("yesterday at 14:30", "2026-10-26 14:30:00+01:00"),
        ("around noon yesterday", "2026-10-26 12:00:00+01:00"),
        ("the day before yesterday", "2026-10-25 11:30:00+01:00"),
        ("this morning", "2026-10-27 09:00:00+01:00"),
        ("last night", "2026-10-26 23:00:00+01:00"),
        ("yesterday evening", "2026-10-26 20:00:00+01:00"),
        ("3 days ago", "2026-10-24 12:00:00+02:00"),
        ("three days ago 8:00", "2026-10-24 08:00:00+02:00"),
        ("a week ago", "2026-10-20 12:00:00+02:00"),
        ("2 weeks ago", "2026-10-13 12:00:00+02:00"),
        ("8 months ago", "2026-02-27 12:00:00+01:00"),
        ("a year ago", "2025-10-27 12:00:00+01:00"),
        ("an hour ago", "2026-10-27 08:32:11+01:00"),
        ("half an hour ago", "2026-10-27 09:02:11+01:00"),
        ("90 minutes ago", "2026-10-27 08:02:11+01:00"),
        ("10 min ago", "2026-10-27 09:22:11+01:00"),
        ("twelve seconds ago", "2026-10-27 09:31:59+01:00"),
        ("tuesday", "2026-10-27 12:00:00+01:00"),
        ("last tuesday", "2026-10-20 12:00:00+02:00"),
        ("last monday", "2026-10-26 12:00:00+01:00"),
        ("on Wed", "2026-10-21 12:00:00+02:00"),
        ("last friday at 2:30 pm", "2026-10-23 14:30:00+02:00"),
        ("5 October 2026", "2026-10-05 12:00:00+02:00"),
        ("the 5th of october", "2026-10-05 12:00:00+02:00"),
        ("Oct 5, 2025 14:30", "2025-10-05 14:30:00+02:00"),
        ("november 3", "2025-11-03 12:00:00+01:00"),
        ("29 february", "2024-02-29 12:00:00+01:00"),
        ("5.10.2026", "2026-10-05 12:00:00+02:00"),
        ("last week", "2026-10-22 12:30:00+02:00"),
        ("this week", "2026-10-29 12:00:00+01:00"),
        ("last month", "2026-09-16 00:00:00+02:00"),
        ("in september", "2026-09-16 00:00:00+02:00"),
        ("december", "2025-12-16 12:00:00+01:00"),
        ("2026-02", "2026-02-15 00:00:00+01:00"),
        ("dec 2024", "2024-12-16 12:00:00+01:00"),
        ("last year", "2025-07-02 13:00:00+02:00"),
    ],
)
def test_what_people_write_means_a_moment(text: str, means: str) -> None:
    assert means == read(text)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "soon", "next week", "14", "25:00", "13 pm", "0 am", "2026-02-30", "30 february", "31.4.2026",
        "10/5/2026", "2026", "99 october", "999999 days ago", "999999 years ago", "half an day ago", "-3 days ago",
        "yesterday today", "9999-12-31", "ten fortnights ago", "\0", "3 days ago 14:30 14:30",
    ],
)  # fmt: skip
def test_what_can_not_be_read_means_none(text: str) -> None:
    assert when(text, NOW) is None


def test_every_example_can_be_read() -> None:
    assert all(when(example, NOW) is not None for example in EXAMPLES)


def test_a_month_before_a_day_that_it_does_not_have_is_its_last_day() -> None:
    assert "2026-09-30 12:00:00+02:00" == read("a month ago", datetime(2026, 10, 31, 9, tzinfo=BERLIN))


# --- when the clocks are changed ---


@pytest.mark.rule("D15")
def test_hours_are_counted_as_they_pass_and_days_by_the_calendar() -> None:
    after = datetime(2026, 10, 25, 12, tzinfo=BERLIN)  # a day of 25 hours
    assert "2026-10-24 13:00:00+02:00" == read("24 hours ago", after)
    assert "2026-10-24 12:00:00+02:00" == read("yesterday 12:00", after)
    assert "2026-10-25 11:30:00+01:00" == read("today", after)


def test_a_time_that_comes_twice_is_the_first_and_one_that_does_not_come_is_an_hour_on() -> None:
    after = datetime(2026, 10, 25, 12, tzinfo=BERLIN)
    assert "2026-10-25 02:30:00+02:00" == read("2026-10-25 02:30", after)
    assert "2026-03-29 03:30:00+02:00" == read("2026-03-29 02:30", after)


# --- whatever is written ---


@given(st.text(), moments)
def test_no_text_raises(text: str, now: datetime) -> None:
    when(text, now)


PIECES = [
    "yesterday",
    "3",
    "days",
    "ago",
    "last",
    "monday",
    "14:30",
    "pm",
    "october",
    "2026",
    "5",
    "at",
    "a",
    "half an",
    ".",
]


@given(st.lists(st.sampled_from(PIECES), max_size=6), moments)
def test_no_words_in_any_order_raise(words: list[str], now: datetime) -> None:
    when(" ".join(words), now)


@pytest.mark.rule("D15")
@given(whole, whole)
def test_a_date_as_it_is_shown_is_the_moment_itself(moment: datetime, now: datetime) -> None:
    assert int(moment.timestamp()) == when(date_text(moment.isoformat()), now) == when(moment.isoformat(), now)


@given(moments, st.integers(0, 10_000))
def test_so_many_hours_ago_is_so_many_hours_before(now: datetime, hours: int) -> None:
    assert int(now.timestamp()) - hours * 3_600 == when(f"{hours} hours ago", now)


@given(moments, st.integers(0, 3_000))
def test_all_of_a_day_is_nearer_to_it_than_all_that_is_not(now: datetime, days: int) -> None:
    there = (now - timedelta(days=days)).date()
    middle = when(f"{days} days ago", now)
    assert middle == when(there.isoformat(), now)
    assert middle is not None
    start, end = (
        int(datetime(day.year, day.month, day.day, tzinfo=now.tzinfo).timestamp())
        for day in (there, there + timedelta(days=1))
    )
    assert max(middle - start, end - 1 - middle) <= min(middle - (start - 1), end - middle)


@given(whole)
def test_a_time_alone_is_the_last_time_that_it_was_so_late(now: datetime) -> None:
    for hour in range(24):
        at_s = when(f"{hour}:15", now)
        assert at_s is not None
        assert 0 <= now.timestamp() - at_s <= 26 * 3_600


# --- dates of the log ---


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 100)), max_size=30, unique=True), st.integers(-60, 60))
def test_of_two_equally_near_the_one_that_is_not_before_comes_first(dated: list[tuple[int, int]], at_s: int) -> None:
    found = sorted(dated, key=nearness(at_s))
    assert sorted(abs(date_s - at_s) for date_s, _ in dated) == [abs(date_s - at_s) for date_s, _ in found]
    for (one_s, one), (other_s, other) in pairwise(found):
        if abs(one_s - at_s) == abs(other_s - at_s):
            assert one_s > other_s or (one_s == other_s and (one > other if one_s < at_s else one < other))


def test_a_logs_date_in_seconds_counts_as_utc_where_it_has_no_offset() -> None:
    assert (1_791_185_531, 1_791_192_731, None) == (
        date_s("2026-10-05T09:32:11+02:00"),
        date_s("2026-10-05T09:32:11"),
        date_s("never"),
    )


# --- the machine's own zone ---

PROGRAM = """
from datetime import UTC, datetime
from eukhe.world.clock import RealClock
zone = RealClock().zone()
for text in ("2026-07-01T10:00+00:00", "2026-10-25T00:30+00:00", "2026-10-25T01:30+00:00", "2026-12-01T10:00+00:00"):
    local = datetime.fromisoformat(text).astimezone(zone)
    print(local.isoformat(), local.tzname(), local.astimezone(UTC) == datetime.fromisoformat(text))
"""


def test_the_machines_zone_knows_the_offset_of_any_time() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "TZ": "Europe/Berlin"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert [
        "2026-07-01T12:00:00+02:00 CEST True",
        "2026-10-25T02:30:00+02:00 CEST True",
        "2026-10-25T02:30:00+01:00 CET True",
        "2026-12-01T11:00:00+01:00 CET True",
    ] == ran.stdout.splitlines()


def test_the_clock_shows_the_zones_own_time() -> None:
    clock = RealClock()
    local = clock.local()
    assert local.isoformat() == local.astimezone(clock.zone()).isoformat()
    assert local == local.astimezone(UTC)
