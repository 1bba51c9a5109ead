"""A disk in memory that does what disks do when the power goes.

A file is what programs see of it; how much of that is synced is known apart, and so are the names that are. What
`append` and `replace` do takes operations (write, sync, rename, sync of the folder), which are counted: a crash comes
at one of them or between two effects, a failure at one that was asked for.
"""

import errno
import os
from collections.abc import Callable
from functools import partial
from random import Random

from eukhe.errors import StoreError
from eukhe.model.scan import Read


class Halt(Exception):
    """Everything stops where it stands; no actor's failure."""


class Crash(Halt):
    """The machine stops in the middle of an operation."""


class _File:
    """Bytes, of which the first `synced` outlive lost power. At most one write is outstanding beyond them."""

    def __init__(self) -> None:
        self.data = b""
        self.synced = 0


class SimDisk:
    """Implements `Disk`. `operations`: how many there were.

    `crash_at`: the operation that is the last one, in its midst. `fail_at`: the one that fails, with `errno`; what a
    failed sync was to sync stays as it is. `synced` is told of a file's bytes as they reach the platter.
    """

    def __init__(self) -> None:
        self.operations = 0
        self.crash_at: int | None = None
        self.fail_at: int | None = None
        self.errno = errno.EIO
        self.synced: Callable[[str, bytes], None] = lambda path, data: None
        self._files: dict[str, _File] = {}
        self._entries: dict[str, _File] = {}  # the names that outlive lost power
        self._logs: dict[str, str] = {}  # of a folder: the log this process appended to last
        self._writing: tuple[_File, int] | None = None  # a write under way: its file, and where it began

    # --- the port ---

    def names(self, folder: str) -> list[str]:
        return sorted(path.rpartition("/")[2] for path in self._files if _folder(path) == folder)

    def length(self, path: str) -> int | None:
        file = self._files.get(path)
        return None if file is None else len(file.data)

    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        if path not in self._files:
            raise _error(path, errno.ENOENT)
        data = self._files[path].data
        return data[offset:] if length < 0 else data[offset : offset + length]

    def append(self, path: str, data: bytes) -> None:
        folder = _folder(path)
        new = self._logs.get(folder) != path
        self._logs[folder] = path
        file = self._files.setdefault(path, _File())
        if data:
            self._write(path, file, data)
        self._sync(path, file)
        if new:
            self._sync_folder(folder)

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        file = _File()
        self._write(path, file, data)
        if sync:
            self._sync(path, file)
        self._operation(path, lambda: self._files.update({path: file}))
        if sync:
            self._sync_folder(_folder(path))

    # --- what happens to a machine ---

    def kill(self, random: Random) -> None:
        """The process is gone, the machine is not: what was written stays, of a write under way its beginning."""
        if self._writing is not None:
            file, begun = self._writing
            file.data = file.data[: random.randint(begun, len(file.data))]
        self._forget_process()

    def ends(self) -> None:
        """The process ends by itself."""
        self._forget_process()

    def platter(self, path: str) -> bytes:
        """What of a file is synced."""
        file = self._files[path]
        return file.data[: file.synced]

    def files(self, folder: str) -> list[tuple[str, Read]]:
        """A folder's files, each with what reads it, as `eukhe chat verify` has them."""
        paths = [f"{folder}/{name}" for name in self.names(folder)]
        return [(path, partial(self.read, path)) for path in paths]

    def change(self, path: str, data: bytes | None) -> None:
        """Someone else writes a file, or removes it where there is no `data`."""
        self._files.pop(path, None)
        self._entries.pop(path, None)
        if data is not None:
            file = self._files[path] = self._entries[path] = _File()
            file.data, file.synced = data, len(data)

    def lose_power(self, random: Random) -> bool:
        """What was not synced is kept, dropped, cut or torn, each file and each name for itself. Whether any was."""
        before = {path: file.data for path, file in self._files.items()}
        files: dict[str, _File] = {}
        for path in sorted({*self._files, *self._entries}):
            file = random.choice((self._files.get(path), self._entries.get(path)))
            if file is not None:
                file.data = _after_power(file, random)
                file.synced = len(file.data)
                files[path] = file
        self._files, self._entries = files, dict(files)
        self._forget_process()
        return before != {path: file.data for path, file in files.items()}

    def _forget_process(self) -> None:
        self._writing = self.crash_at = self.fail_at = None
        self._logs.clear()

    # --- operations ---

    def _write(self, path: str, file: _File, data: bytes) -> None:
        begun = len(file.data)

        def write(length: int = len(data)) -> None:
            file.data += data[:length]

        self._writing = file, begun
        self._operation(path, write, fails=lambda: write(len(data) // 2))
        self._writing = None

    def _sync(self, path: str, file: _File) -> None:
        def sync() -> None:
            begun, file.synced = file.synced, len(file.data)
            self.synced(path, file.data[begun:])

        self._operation(path, sync, syncs=True)

    def _sync_folder(self, folder: str) -> None:
        def sync() -> None:
            self._entries.update({path: file for path, file in self._files.items() if _folder(path) == folder})

        self._operation(folder, sync, syncs=True)

    def _operation(
        self, path: str, perform: Callable[[], None], *, fails: Callable[[], None] | None = None, syncs: bool = False
    ) -> None:
        """`fails`: what is done of it where it fails."""
        self.operations += 1
        if self.fail_at == self.operations:
            if fails is not None:
                fails()
            self._writing = None
            raise _error(path, self.errno)
        crashes = self.crash_at == self.operations
        if not (crashes and syncs):  # a sync that did not end has promised nothing
            perform()
        if crashes:
            raise Crash(path)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _after_power(file: _File, random: Random) -> bytes:
    """A file's bytes: what was synced, and what became of the write that was not."""
    synced, rest = file.data[: file.synced], file.data[file.synced :]
    kept = rest[: random.randint(0, len(rest))]
    return synced + random.choice((rest, b"", kept, kept.ljust(len(rest), b"\0")))


def _error(path: str, number: int) -> StoreError:
    return StoreError(path, number, os.strerror(number))
