"""The chat's lock: one process holds it, until it lets go or ends."""


class SimLock:
    """`holder`: the process that has it, None where it is free."""

    def __init__(self) -> None:
        self.holder: int | None = None

    def take(self, process: int) -> bool:
        """Whether the process has it now."""
        if self.holder is not None:
            return False
        self.holder = process
        return True

    def release(self, process: int) -> None:
        assert self.holder == process, f"process {process} lets go of the lock that {self.holder} holds"
        self.holder = None
