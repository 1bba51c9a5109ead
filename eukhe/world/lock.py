"""Who owns the chat. Rule 7.

The lock on `chat/lock` is the system's: it ends with its process, however that ends, and no child that was exec'd
holds it. Beside it `chat/lock.pid` says whose it is, for people only: it may be stale, and is never believed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import Timeout, UnixFileLock

from eukhe.errors import ChatLockedError, HomeError, StoreError
from eukhe.limits import FILE_MODE, LOCK_WAIT_S
from eukhe.world.disk import RealDisk

_LOCK = "lock"
_PID = "lock.pid"
_STARTING = "lock.starting"


class ChatLock:
    """The chat is this process's, until `release` or the process ends."""

    def __init__(self, chat: Path, *, to_own: bool = True, wait_s: float | None = None) -> None:
        """Takes it, or raises ChatLockedError, naming the owner. HomeError where it can't be tried.

        `to_own`: for longer than a moment. Then it is waited for as long as others take it for a moment, to mend the
        index, or for `wait_s`; else it is taken at once or not at all, and `lock.pid` is left as it is.
        """
        if wait_s is None:
            wait_s = LOCK_WAIT_S if to_own else 0
        try:
            self._lock = _acquired(chat / _LOCK, wait_s)
        except Timeout:
            raise ChatLockedError(_locked(chat)) from None
        if to_own:
            _note_pid(chat)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _note_pid(chat: Path) -> None:
    try:
        RealDisk(chat).replace(_PID, b"%d\n" % os.getpid(), sync=False)
    except StoreError:
        # On a full disk. The lock is what counts; that it is nobody's by name is better than another's.
        with suppress(OSError):
            (chat / _PID).unlink(missing_ok=True)


def _acquired(path: Path, wait_s: float) -> UnixFileLock:
    """A lock that is held. Timeout, HomeError."""
    # A lock that only its thread may see would be none: the actors run on several. Nor would a file be one that
    # stands for it where the system has none: a killed owner leaves it behind.
    lock = UnixFileLock(path, timeout=wait_s, mode=FILE_MODE, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise
    except OSError as error:
        raise HomeError(
            f"{path}: {error.strerror or error}; the chat can't be locked, so it can't be written"
        ) from error
    return lock


@contextmanager
def starting(chat: Path) -> Iterator[None]:
    """Held by whoever starts an owner in the background: of many who find none, one starts it.

    ChatLockedError for the others, who will find it soon.
    """
    try:
        lock = _acquired(chat / _STARTING, 0)
    except Timeout:
        raise ChatLockedError(f"{chat}: another eukhe is starting a process that owns the chat") from None
    try:
        yield
    finally:
        lock.release()


def owner_pid(chat: Path) -> int | None:
    """The process that took the lock last, by its own word, if it is still there; it may have let the lock go since."""
    try:
        pid = int((chat / _PID).read_bytes())
        os.kill(pid, 0)
    except (OSError, ValueError, OverflowError):
        return None
    return pid if pid > 0 else None  # others would be whole groups


def _locked(chat: Path) -> str:
    pid = owner_pid(chat)
    owner = "another process" if pid is None else f"pid {pid}"
    return f"{chat}: the chat is owned by {owner}; wait until it ends, or `eukhe stop` it"
