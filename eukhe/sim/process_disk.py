"""The machine's disk as a process has it, which may write while it holds the lock, and not otherwise."""

from typing import TYPE_CHECKING

from eukhe.actors.ports import Disk
from eukhe.sim.checks import CheckFailed

if TYPE_CHECKING:
    from eukhe.sim.machine import Machine


class OwnerDisk:
    """Implements `Disk` for one process: the machine's, as long as the process holds the lock."""

    def __init__(self, machine: "Machine", process: int) -> None:
        self._machine = machine
        self._lock = machine.lock
        self._disk = machine.disk
        self._process = process
        self.names, self.length = machine.disk.names, machine.disk.length

    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        self._machine.reads(path)
        return self._disk.read(path, offset, length)

    def append(self, path: str, data: bytes) -> None:
        self._may_write(path)
        self._disk.append(path, data)

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        self._may_write(path)
        self._disk.replace(path, data, sync)

    def _may_write(self, path: str) -> None:
        if self._lock.holder != self._process:
            raise CheckFailed("one-writer", f"process {self._lock.holder} alone writes", f"{self._process}: {path}")


class ReadersDisk:
    """Implements `Disk` for one who is not the owner: it may change nothing."""

    def __init__(self, disk: Disk) -> None:
        self.names, self.length, self.read = disk.names, disk.length, disk.read

    def append(self, path: str, data: bytes) -> None:
        self._changes(path)

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        self._changes(path)

    def _changes(self, path: str) -> None:
        raise CheckFailed("one-writer", "a reader changes nothing", f"it writes {path}")
