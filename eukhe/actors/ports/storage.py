"""Where a chat is kept: its folder, its index, and the time at which things are written."""

from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Protocol

import msgspec

from eukhe.limits import LOOK_ID_MAX
from eukhe.model.part import Part
from eukhe.model.record import MainRecord, MessageRecord, TreeRecord


class Disk(Protocol):
    """The chat's folder."""

    def names(self, folder: str) -> list[str]:
        """The files in a folder, sorted; none where there is no folder."""
        ...

    def length(self, path: str) -> int | None:
        """Bytes of a file, None where there is none."""
        ...

    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        """Bytes of a file from `offset`, to its end where `length` is negative; fewer where the file ends before."""
        ...

    def append(self, path: str, data: bytes) -> None:
        """All of `data` at the file's end, and on the platter: one write, one fsync, and of a new file its folder's.

        StoreError, with file and errno, for any failure; nothing is tried again.
        """
        ...

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        """The whole file by a rename, with fsync of file and folder where `sync`. StoreError for any failure."""
        ...


class NoDisk:
    """A client's: what is kept is its owner's to keep."""

    def names(self, folder: str) -> list[str]:
        raise AssertionError(f"a client looks into {folder}")

    def length(self, path: str) -> int | None:
        raise AssertionError(f"a client looks at {path}")

    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        raise AssertionError(f"a client reads {path}")

    def append(self, path: str, data: bytes) -> None:
        raise AssertionError(f"a client writes {path}")

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        raise AssertionError(f"a client writes {path}")


class Clock(Protocol):
    """Time."""

    def monotonic_s(self) -> float:
        """Seconds that never go back; for timers."""
        ...

    def local(self) -> datetime:
        """Wall time with the local offset; for dates and day files. May go back."""
        ...

    def zone(self) -> tzinfo:
        """The local zone, which tells the offset of any time, as before the clocks were last changed."""
        ...


class Place(msgspec.Struct, frozen=True):
    """Where a record's line lies: file, first byte, bytes with its LF."""

    path: str
    offset: int
    length: int


class Placed(msgspec.Struct, frozen=True):
    """A record and where its line lies."""

    record: MainRecord | TreeRecord
    place: Place


class Position(msgspec.Struct, frozen=True):
    """How far a log was read: all files before `path`, and that one up to `offset`.

    `crc` is zlib's CRC-32 of the last line read, LF included; 0 and an empty path where nothing was read.
    """

    path: str = ""
    offset: int = 0
    crc: int = 0


class Checkpoint(msgspec.Struct, frozen=True):
    """The planner's state, encoded by model.fold, and how far into each log it reaches."""

    state: bytes
    main: Position
    tree: Position


class Index(Protocol):
    """chat/index.db: where each record lies, full text, and the planner's checkpoint. A cache of the logs."""

    def feed(self, rows: Iterable[Placed]) -> None:
        """Takes records in, in log order; one that is there already changes nothing. Seen by others at a commit."""
        ...

    def commit(self, checkpoint: Checkpoint | None = None) -> None:
        """Makes what was fed visible, with a new checkpoint where one is given. No fsync."""
        ...

    def checkpoint(self) -> Checkpoint | None: ...

    def clear(self) -> None:
        """Empties it, to be fed from the logs' beginning."""
        ...

    def message_place(self, i: int) -> Place | None: ...

    def node_place(self, part: Part) -> Place | None: ...

    def id_of_key(self, key: str) -> int | None:
        """The message logged under a key; under a split text's own key, `key` of `key#1/n`, its first piece."""
        ...

    def id_of_text(self, text: str) -> int | None:
        """The first message of this very text; only of texts of `REPEAT_CHARS_MIN` characters and more."""
        ...

    def counts(self) -> tuple[int, int]:
        """How many messages and nodes it holds."""
        ...

    def search(self, words: str, limit: int, before: int = LOOK_ID_MAX) -> list[int]:
        """Messages before one that hold all the words, best first."""
        ...

    def nearest(self, at_s: int, limit: int, before: int = LOOK_ID_MAX) -> list[tuple[int, int]]:
        """The dates and ids of the messages before one that are nearest to a moment, in `model.when.nearness`' order.

        Both moment and dates in seconds since 1970.
        """
        ...


class Reader(Protocol):
    """Reads one record from the logs, by what the index has committed."""

    def message(self, i: int) -> MessageRecord | None:
        """A message, None where it is lost."""
        ...

    def source(self, part: Part) -> tuple[str, ...] | None:
        """What a node is built from: its message's `kind: text`, `(lost)` for a lost one, or its two halves' lines.

        None where that is not there.
        """
        ...

    def node_text(self, part: Part) -> str | None:
        """A node's line, None where it is not built."""
        ...
