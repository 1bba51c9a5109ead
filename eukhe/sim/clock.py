"""A clock that stands until it is moved, and that may be wrong: it drifts, is set, and changes to summer time."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final

START: Final = datetime.fromisoformat("2026-10-05T09:32:11+02:00")


class SimClock:
    """Implements `Clock`. `drift`: seconds that the wall clock gains in each second that passes."""

    def __init__(self, start: datetime = START) -> None:
        self.drift = 0.0
        self._wall = start.astimezone(UTC)
        self._zone = start.utcoffset() or timedelta()
        self._now_s = 0.0

    def monotonic_s(self) -> float:
        return self._now_s

    def local(self) -> datetime:
        return self._wall.astimezone(self.zone())

    def zone(self) -> tzinfo:
        return timezone(self._zone)

    def advance_to(self, now_s: float) -> None:
        """Time passes, until the monotonic clock shows `now_s`."""
        assert now_s >= self._now_s, "time does not go back"
        if now_s > self._now_s:
            self._wall += timedelta(seconds=(now_s - self._now_s) * (1 + self.drift))
            self._now_s = now_s

    def set_wall(self, by_s: float) -> None:
        """Someone sets the wall clock, forward or back; no time passes."""
        self._wall += timedelta(seconds=by_s)

    def set_zone(self, by_s: float) -> None:
        """Local time moves, as when summer begins or ends, or the machine travels; no time passes."""
        self._zone += timedelta(seconds=by_s)
