"""The pause of an outage: when calls may start again. Pure: no clock, disk or threads. D13.

Trouble that is the provider's and not the input's counts no failure. It pauses all calls: as long as the provider says,
else 10 s, then twice as long each time, up to 5 minutes. Where it wants another key, until a key or a setting changes.
"""

from eukhe.limits import OUTAGE_PAUSE_MAX_S, OUTAGE_PAUSE_S


class Pause:
    """`why`: the outage; None while calls may start. Seconds are the asker's clock's."""

    def __init__(self) -> None:
        self.why: str | None = None
        self._until_s: float | None = None  # None: until something changes
        self._next_s: float = OUTAGE_PAUSE_S

    def outage(self, why: str, retry_after_s: float | None, now_s: float, *, key: bool) -> float | None:
        """A call met an outage. In how many seconds to resume; None where a timer runs already, or none is to.

        Calls that were under way when it began meet the same one: it becomes no longer by that.
        """
        if self.why is not None and (not key or self._until_s is None):
            return None
        self.why = why
        if key:
            self._until_s = None
            return None
        wait_s = self._next_s
        if retry_after_s is not None and retry_after_s > 0:  # at once would be again and again
            wait_s = retry_after_s
        else:
            self._next_s = min(2 * self._next_s, OUTAGE_PAUSE_MAX_S)
        self._until_s = now_s + wait_s
        return wait_s

    def resume(self, now_s: float, *, changed: bool) -> bool:
        """Time has passed, or a key or a setting has `changed`. Whether calls may start again because of it."""
        over = self.why is not None and (changed or (self._until_s is not None and now_s >= self._until_s))
        if over:
            self.why = self._until_s = None
        return over

    def worked(self) -> None:
        """A call got its response: the next outage is a new one."""
        self._next_s = OUTAGE_PAUSE_S
