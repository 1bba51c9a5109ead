"""The chat's folder on a real disk.

What `append` returned for survives lost power: one write, one fsync, and of a file new to this process its folder's
fsync too, since the process that made it may have died in between. Nothing that failed is tried again: after a failed
fsync the system may have dropped the very pages that a second one would call written. Rule 6.
"""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from eukhe.errors import StoreError
from eukhe.limits import FILE_MODE

if sys.platform == "darwin":
    import fcntl

_TEMPORARY = ".new"  # one name is enough: only the owner of the lock writes


class RealDisk:
    """Implements `Disk` for the folder `root`. Keeps the newest log of each folder open for appending."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._logs: dict[str, tuple[str, int]] = {}  # of a folder: the log appended to last, its file descriptor

    def names(self, folder: str) -> list[str]:
        path = self.root / folder
        try:
            with os.scandir(path) as entries:
                return sorted(entry.name for entry in entries if entry.is_file())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _store_error(path, error) from error

    def length(self, path: str) -> int | None:
        file = self.root / path
        try:
            return file.stat().st_size
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _store_error(file, error) from error

    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        file = self.root / path
        try:
            with file.open("rb", buffering=0) as source:
                source.seek(offset)
                return source.readall() if length < 0 else _read(source.fileno(), length)
        except OSError as error:
            raise _store_error(file, error) from error

    def append(self, path: str, data: bytes) -> None:
        try:
            folder = path.rpartition("/")[0]
            name, fd = self._logs.get(folder, ("", -1))
            new = name != path
            if new:
                fd = self._open_log(folder, path)
            _write(fd, data)
            _sync(fd)
            if new:
                sync_folder(self.root / folder)
        except OSError as error:
            raise _store_error(self.root / path, error) from error

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        file = self.root / path
        temporary = Path(f"{file}{_TEMPORARY}")
        try:
            try:
                fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
                try:
                    os.fchmod(fd, FILE_MODE)
                    _write(fd, data)
                    if sync:
                        _sync(fd)
                finally:
                    os.close(fd)
                temporary.replace(file)
            except OSError:
                # Half a file on a full disk helps no one. Should it stay: the next `replace` writes over it.
                with suppress(OSError):
                    temporary.unlink()
                raise
            if sync:
                sync_folder(file.parent)
        except OSError as error:
            raise _store_error(file, error) from error

    def close(self) -> None:
        """Closes the logs. What was appended is on the platter already."""
        while self._logs:
            _, (_, fd) = self._logs.popitem()
            os.close(fd)

    def _open_log(self, folder: str, path: str) -> int:
        fd = os.open(self.root / path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        _, before = self._logs.get(folder, ("", -1))
        self._logs[folder] = (path, fd)
        if before >= 0:
            os.close(before)
        if stat.S_IMODE(os.fstat(fd).st_mode) != FILE_MODE:  # the umask's work, or another program's
            os.fchmod(fd, FILE_MODE)
        return fd


def sync_folder(path: Path) -> None:
    """Makes the names in a folder outlive lost power. OSError for any failure."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _sync(fd)
    finally:
        os.close(fd)


def _read(fd: int, length: int) -> bytes:
    parts = []
    while length > 0 and (part := os.read(fd, length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _write(fd: int, data: bytes) -> None:
    """All of it: a write may take less than it was given. (EINTR never gets here: PEP 475.)"""
    written = os.write(fd, data) if data else 0
    while written < len(data):
        written += os.write(fd, memoryview(data)[written:])


if sys.platform == "darwin":

    def _sync(fd: int) -> None:
        """There fsync only hands the data to the drive, which may keep it in its cache."""
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)

else:
    _sync = os.fsync


def _store_error(path: Path, error: OSError) -> StoreError:
    return StoreError(str(path), error.errno or 0, error.strerror or str(error))
