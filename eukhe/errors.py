"""The errors of eukhe, one tree.

EukheError
├── ExpectedError          the world's: said in one line, exit 1
│   ├── HomeError          the home can't be made, read or written
│   ├── ChatLockedError    another process owns the chat
│   ├── OwnerGone          the process that owned the chat has ended; another can
│   ├── OwnerSilent        the process that owns the chat does not answer
│   ├── OwnerRefused       the process that owns the chat does not speak with this one
│   ├── StoreError         a file of the chat can't be read or written
│   ├── LogDamagedError    a log can't be read as it should; the chat opens read-only
│   │   └── GapInLog       ids are missing in the log
│   ├── IndexFailed        chat/index.db can't be read or written
│   ├── FormatError        the chat has a format this version does not know
│   ├── ImportFailedError  a path or file that can't be imported
│   ├── SettingsError      settings.json or a value for it is wrong
│   ├── OutputError        a result can't be written to stdout
│   └── NotFoundError      no such line, message or agent
└── Bug                    ours: stops the owner
"""

from pathlib import Path


class EukheError(Exception):
    """Anything eukhe raises by itself."""


class ExpectedError(EukheError):
    """The world's fault or the user's: one clear line that says what, where, and what to do."""


class HomeError(ExpectedError):
    """The home can't be made, read or written."""


class ChatLockedError(ExpectedError):
    """Another process owns the chat."""


class OwnerGone(ExpectedError):
    """The process that owned the chat has ended, or none owns it: whoever wants something may own it now."""


class OwnerSilent(ExpectedError):
    """The process that owns the chat does not answer; it is not taken over while it holds the lock."""


class OwnerRefused(ExpectedError):
    """The process that owns the chat does not speak with this one, as with an older version."""


class StoreError(ExpectedError):
    """A file of the chat can't be read or written. After a write or an fsync that failed the store is poisoned.

    `path` is the file, `errno` the system's number, `reason` its words.
    """

    def __init__(self, path: str, errno: int, reason: str) -> None:
        super().__init__(f"{path}: {reason} (errno {errno})")
        self.path, self.errno, self.reason = path, errno, reason


class LogDamagedError(ExpectedError):
    """A log does not say what it should. `path`, `line` (from 1), `offset` in bytes, `what`."""

    def __init__(self, path: str, line: int, offset: int, what: str) -> None:
        super().__init__(
            f"{path}:{line} (byte {offset}): {what}; the chat is open for reading only, `eukhe chat verify` lists all"
        )
        self.path, self.line, self.offset, self.what = path, line, offset, what


class GapInLog(LogDamagedError):
    """Ids are missing: the message before the gap is `before`, the one after it `after`."""

    def __init__(self, path: str, line: int, offset: int, before: int, after: int) -> None:
        first, last = before + 1, after - 1
        missing = f"message {first} is" if first == last else f"messages {first} to {last} are"
        super().__init__(path, line, offset, f"{missing} missing")
        self.before, self.after = before, after


class IndexFailed(ExpectedError):
    """chat/index.db can't be read or written, or does not say what the logs do: a cache, so nothing is lost by it.

    `bad`: it is of no use, and a new one would be. Else the disk is full, or the file may not be written.
    """

    def __init__(self, path: str, why: str, *, bad: bool = True) -> None:
        super().__init__(
            f"{path}: {why}; "
            + ("`eukhe doctor` makes it anew from the logs" if bad else "make room, and see that it may be written")
        )
        self.path, self.why, self.bad = path, why, bad


class FormatError(ExpectedError):
    """The chat was written in a format that this version does not know."""


class ImportFailedError(ExpectedError):
    """A path that can't be read, or a file of no known format."""

    def __init__(self, path: Path | str, what: str) -> None:
        super().__init__(f"{path}: {what}")


class SettingsError(ExpectedError):
    """settings.json, or a value given for it, is wrong."""


class OutputError(ExpectedError):
    """A result can't be written, as to a full disk. A reader that went away is a BrokenPipeError instead."""


class NotFoundError(ExpectedError):
    """No such line, message or agent."""


class Bug(EukheError):
    """A fault of eukhe itself; the owner stops cleanly. `told`: all there is to say, for owner.log."""

    def __init__(self, what: str, told: str = "") -> None:
        super().__init__(what)
        self.told = told
