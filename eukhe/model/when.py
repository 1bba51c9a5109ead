"""Dates and times as people write them, read from one moment. Pure: no clock, disk or threads. D15.

A day, a week, a month is a span, and its middle stands for it: whatever was said on a day is nearer to its noon than
what was said on any other. What is said of a weekday, a month or a time of day alone means the latest one that has
begun. A span of hours is counted as it passes, one of days by the calendar: `24 hours ago` is another hour of the day
than `1 day ago` where the clocks were changed in between.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

from eukhe.limits import DAYTIME_HOURS, MONTHS_A_YEAR, NOON_HOUR

EXAMPLES: Final = (
    "2026-10-05",
    "2026-10-05 14:30",
    "2026-10-05T09:32:11+02:00",
    "14:30",
    "yesterday",
    "yesterday evening",
    "3 days ago",
    "an hour ago",
    "last monday",
    "5 October 2026",
    "last month",
)
"""One of each kind, for who wrote something else."""

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# fmt: off
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)
_COUNTS: Final = {"a": 1, "an": 1} | {word: number for number, word in enumerate((
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
), start=1)}
# fmt: on
_SECONDS: Final = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_ABBREVIATED: Final = {"sec": "second", "min": "minute", "hr": "hour"}
_DAYS_A_WEEK: Final = len(_WEEKDAYS)


def _any_of(names: tuple[str, ...]) -> str:
    """Whole, or their first three letters."""
    return "|".join(f"{name[:3]}(?:{name[3:]})?" for name in names)  # number: as it says


_FILLER = re.compile(r"\b(?:on|at|in|around|about|the)\b(?! ago)|,")
_SPACED_OFFSET = re.compile(r"(?<=\d) (?=[+-]\d\d:?\d\d$)")
_AGO = re.compile(rf"(\d{{1,6}}|half an|{'|'.join(_COUNTS)}) ?([a-z]+?)s? ago")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))? ?(am|pm)?|(\d{1,2}) ?(am|pm)")
_MONTH = _any_of(_MONTHS)
_DAY_MONTH = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\.?(?: (\d{{4}}))?")
_MONTH_DAY = re.compile(rf"({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?(?: (\d{{4}}))?")
_DOTTED = re.compile(r"(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})")
_WEEKDAY = re.compile(rf"(last )?({_any_of(_WEEKDAYS)})")
_MONTH_ALONE = re.compile(rf"(?:last )?({_MONTH})\.?(?: (\d{{4}}))?")
_YEAR_MONTH = re.compile(r"(\d{4})-(\d\d)")
_SPAN = re.compile(r"(last|this) (week|month|year)")


class _Days(NamedTuple):
    """A span of whole days: the first, and the one after the last."""

    first: date
    end: date


def when(text: str, now: datetime) -> int | None:
    """The moment that a text means, in seconds since 1970; None where it can't be read.

    `now`: in the local zone, which tells the offset of any other time as well.

    >>> from datetime import UTC
    >>> at = when("yesterday 14:30", datetime(2026, 10, 5, 9, 32, tzinfo=UTC))
    >>> datetime.fromtimestamp(at, UTC).isoformat()
    '2026-10-04T14:30:00+00:00'
    """
    try:
        return _Reader(now).read(" ".join(text.casefold().split()))
    except (OverflowError, ValueError):  # a day that no calendar has, a year before the first
        return None


class _Reader:
    def __init__(self, now: datetime) -> None:
        assert now.tzinfo is not None, "a moment has its zone"
        self._now = now
        self._zone = now.tzinfo
        self._today = now.date()

    def read(self, text: str) -> int | None:
        if (moment := self._iso(text)) is not None:
            return moment
        plain = " ".join(_FILLER.sub(" ", text).split())
        if plain in ("now", "just now"):
            return int(self._now.timestamp())
        if (passed := self._passed(plain)) is not None:
            return int(self._now.timestamp() - passed.total_seconds())
        if (days := self._days(plain)) is not None:
            return self._middle(days)
        return self._day_and_time(plain)

    def _iso(self, text: str) -> int | None:
        """A date with a time, in any of ISO's forms, or as `date` prints it, with a blank before the offset."""
        written = _SPACED_OFFSET.sub("", text).upper()
        if _date(written) is not None:
            return None
        try:
            moment = datetime.fromisoformat(written)
        except ValueError:
            return None
        return int((moment if moment.tzinfo else moment.replace(tzinfo=self._zone)).timestamp())

    def _passed(self, text: str) -> timedelta | None:
        """How long ago, in hours or less."""
        found = _AGO.fullmatch(text)
        unit = _SECONDS.get(_ABBREVIATED.get(found[2], found[2])) if found else None
        if found is None or unit is None:
            return None
        return unit / 2 if found[1] == "half an" else unit * _count(found[1])

    # --- days ---

    def _days(self, text: str) -> _Days | None:
        if (day := self._day(text)) is not None:
            return _Days(day, day + timedelta(days=1))
        if found := _SPAN.fullmatch(text):
            return self._span(found[2], before=found[1] == "last")
        if found := _YEAR_MONTH.fullmatch(text):
            return _month(int(found[1]), int(found[2]))
        if found := _MONTH_ALONE.fullmatch(text):
            month = _number(_MONTHS, found[1]) + 1
            return _month(int(found[2]) if found[2] else self._today.year - (month > self._today.month), month)
        return None

    def _day(self, text: str) -> date | None:
        match text:
            case "today":
                return self._today
            case "yesterday":
                return self._today - timedelta(days=1)
            case "day before yesterday":
                return self._today - timedelta(days=2)
        if (day := _date(text.upper())) is not None:
            return day
        if found := _AGO.fullmatch(text):
            return self._days_ago(found[1], found[2])
        if found := _WEEKDAY.fullmatch(text):
            back = (self._today.weekday() - _number(_WEEKDAYS, found[2])) % _DAYS_A_WEEK
            return self._today - timedelta(days=back or (_DAYS_A_WEEK if found[1] else 0))
        if found := _DOTTED.fullmatch(text):
            return date(int(found[3]), int(found[2]), int(found[1]))
        if found := _DAY_MONTH.fullmatch(text):
            return self._named(int(found[1]), found[2], found[3])
        if found := _MONTH_DAY.fullmatch(text):
            return self._named(int(found[2]), found[1], found[3])
        return None

    def _days_ago(self, count: str, unit: str) -> date | None:
        if unit not in ("day", "week", "month", "year") or count == "half an":
            return None
        number = _count(count)
        if unit in ("day", "week"):
            return self._today - timedelta(days=number * (_DAYS_A_WEEK if unit == "week" else 1))
        months = number * (MONTHS_A_YEAR if unit == "year" else 1)
        there = _month_before(self._today, months)
        return min(there.first + timedelta(days=self._today.day - 1), there.end - timedelta(days=1))

    def _named(self, day: int, month: str, year: str | None) -> date | None:
        """Without its year the latest that has begun; of the 29th of February that of a year that has one."""
        number = _number(_MONTHS, month) + 1
        if year:
            return date(int(year), number, day)
        begun = (found for found in _in_years(self._today.year, number, day) if found <= self._today)
        return next(begun, None)

    def _span(self, unit: str, *, before: bool) -> _Days:
        if unit == "week":
            monday = self._today - timedelta(days=self._today.weekday() + _DAYS_A_WEEK * before)
            return _Days(monday, monday + timedelta(days=_DAYS_A_WEEK))
        if unit == "month":
            return _month_before(self._today, int(before))
        year = self._today.year - before
        return _Days(date(year, 1, 1), date(year + 1, 1, 1))

    def _middle(self, days: _Days) -> int:
        return (self._at(days.first, time()) + self._at(days.end, time())) // 2

    # --- times of a day ---

    def _day_and_time(self, text: str) -> int | None:
        """`yesterday 14:30`, `14:30 yesterday`, `this morning`, or a time alone."""
        if (alone := _time(text)) is not None:
            at = self._at(self._today, alone)
            return at if at <= self._now.timestamp() else self._at(self._today - timedelta(days=1), alone)
        if text == "last night":
            return self._at(self._today - timedelta(days=1), time(DAYTIME_HOURS["night"]))
        words = text.split(" ")
        for cut in range(1, len(words)):
            left, right = " ".join(words[:cut]), " ".join(words[cut:])
            for day_text, time_text in ((left, right), (right, left)):
                day = self._today if day_text == "this" else self._day(day_text)
                if day is not None and (clock := _time(time_text)) is not None:
                    return self._at(day, clock)
        return None

    def _at(self, day: date, clock: time) -> int:
        """Of a time that comes twice on a day, as clocks are set back, the first."""
        return int(datetime.combine(day, clock, self._zone).timestamp())


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _time(text: str) -> time | None:
    if text in DAYTIME_HOURS:
        return time(DAYTIME_HOURS[text])
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, half = int(found[1] or found[5]), found[4] or found[6]
    if half:
        if not 1 <= hour <= NOON_HOUR:
            return None
        hour = hour % NOON_HOUR + (NOON_HOUR if half == "pm" else 0)
    return time(hour, int(found[2] or 0), int(found[3] or 0))


def _count(word: str) -> int:
    return _COUNTS[word] if word in _COUNTS else int(word)


def _number(names: tuple[str, ...], beginning: str) -> int:
    """The place of the name that begins so."""
    return next(place for place, name in enumerate(names) if name.startswith(beginning))


def _month(year: int, month: int) -> _Days:
    after = date(year + month // MONTHS_A_YEAR, month % MONTHS_A_YEAR + 1, 1)
    return _Days(date(year, month, 1), after)


def _month_before(day: date, months: int) -> _Days:
    year, month = divmod(day.year * MONTHS_A_YEAR + day.month - 1 - months, MONTHS_A_YEAR)
    return _month(year, month + 1)


def _in_years(year: int, month: int, day: int) -> Iterator[date]:
    """A day of the year, in this one and those before it that have it."""
    for before in range(year, 0, -1):
        try:
            yield date(before, month, day)
        except ValueError:
            continue


# --- dates of the log ---


def date_text(date: str) -> str:
    """A log's date as people read it: `2026-10-05 09:32:11 +02:00`. One that is none stays as it is."""
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return date
    offset = moment.strftime("%z")
    return f"{moment:%Y-%m-%d %H:%M:%S}" + (f" {offset[:-2]}:{offset[-2:]}" if offset else "")


def date_s(date: str) -> int | None:
    """Seconds since 1970; None for what is no date. One without an offset counts as UTC on every machine."""
    try:
        at = datetime.fromisoformat(date)
    except ValueError:
        return None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())


def nearness(at_s: int) -> Callable[[tuple[int, int]], tuple[int, bool, int]]:
    """Sorts dates and ids by their distance to a moment; of two alike the one that is not before it is first."""

    def key(dated: tuple[int, int]) -> tuple[int, bool, int]:
        date_s, i = dated
        return abs(date_s - at_s), date_s < at_s, -i if date_s < at_s else i

    return key
