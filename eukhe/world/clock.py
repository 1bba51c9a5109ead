"""The clock of this machine."""

import time
from datetime import datetime


class RealClock:
    """Implements `Clock`."""

    def monotonic_s(self) -> float:
        return time.monotonic()

    def local(self) -> datetime:
        # Asked anew each time: the offset changes with summer time and with the machine's zone.
        return datetime.now().astimezone()
