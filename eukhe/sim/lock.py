"""The chat's lock: one process holds it, until it lets go or ends."""


class SimLock:
    """`holder`: the process that has it, None where it is free. `races`: how often someone came too late."""

    def __init__(self) -> None:
        self.holder: int | None = None
        self.races = 0

    def take(self, process: int) -> bool:
        """Whether the process has it now."""
        if self.holder is not None:
            self.races += 1
            return False
        self.holder = process
        return True

    def release(self, process: int) -> None:
        assert self.holder == process, f"process {process} lets go of the lock that {self.holder} holds"
        self.holder = None
