"""The clock of this machine."""

import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final


class RealClock:
    """Implements `Clock`."""

    def monotonic_s(self) -> float:
        return time.monotonic()

    def local(self) -> datetime:
        # Asked anew each time: the offset changes with summer time and with the machine's zone.
        return datetime.now().astimezone()

    def zone(self) -> tzinfo:
        return _LOCAL


class _LocalZone(tzinfo):
    """The machine's zone, as the system knows it: it is asked for the offset of each time."""

    def utcoffset(self, at: datetime | None) -> timedelta | None:
        return None if at is None else at.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, at: datetime | None) -> timedelta | None:
        return None

    def tzname(self, at: datetime | None) -> str | None:
        return None if at is None else at.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, at: datetime) -> datetime:
        there = at.replace(tzinfo=UTC).astimezone()
        local = there.replace(tzinfo=self)
        # A time that comes twice, as clocks are set back, is the second one where its offset is not the first's.
        return local if local.utcoffset() == there.utcoffset() else local.replace(fold=1)


_LOCAL: Final = _LocalZone()
