"""A clock that stands until it is moved."""

from datetime import datetime, timedelta
from typing import Final

START: Final = datetime.fromisoformat("2026-10-05T09:32:11+02:00")


class SimClock:
    """Implements `Clock`."""

    def __init__(self, start: datetime = START) -> None:
        self._wall = start
        self._now_s = 0.0

    def monotonic_s(self) -> float:
        return self._now_s

    def local(self) -> datetime:
        return self._wall

    def advance_to(self, now_s: float) -> None:
        """Time passes, until the monotonic clock shows `now_s`."""
        assert now_s >= self._now_s, "time does not go back"
        self._wall += timedelta(seconds=now_s - self._now_s)
        self._now_s = now_s

    def set_wall(self, by_s: float) -> None:
        """Someone sets the wall clock, forward or back; no time passes."""
        self._wall += timedelta(seconds=by_s)
