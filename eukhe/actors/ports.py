"""What an actor may ask of the outside. `world` implements these for real, `sim` on a virtual machine.

A behaviour reads through its ports and writes by its effects alone; only the index, a cache that can be thrown away,
is written by the one actor that owns it. Paths are relative to the chat's folder, with `/`.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Protocol

import msgspec

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


class Clock(Protocol):
    """Time."""

    def monotonic_s(self) -> float:
        """Seconds that never go back; for timers."""
        ...

    def local(self) -> datetime:
        """Wall time with the local offset; for dates and day files. May go back."""
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

    def search(self, words: str, limit: int) -> list[int]:
        """Messages that hold all the words, best first."""
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


class Request(msgspec.Struct, frozen=True):
    """One call for a line: a message's `kind: text`, or the texts of a merge's two halves.

    `replies`: earlier ones of the same conversation that were too long, oldest first.
    """

    model: str
    part: Part
    sources: tuple[str, ...]
    replies: tuple[str, ...] = ()


class Responding(msgspec.Struct, frozen=True, tag=True):
    """A call's response began. Heard once at most, before its end."""


class Replied(msgspec.Struct, frozen=True, tag=True):
    """A call ended well. `text`: its text blocks joined; None where it only thought."""

    text: str | None


class Broke(msgspec.Struct, frozen=True, tag=True):
    """A call ended badly, by a fault that counts as the input's: a dead worker, a stream that broke, garbage."""

    why: str


class Outage(msgspec.Struct, frozen=True, tag=True):
    """A call did not get a response, and no other would: the provider is out, or wants a key. D13.

    `retry_after_s`: when to try again, None where the provider did not say. `key`: not before a key or a setting
    changes.
    """

    why: str
    retry_after_s: float | None = None
    key: bool = False


CallEvent = Responding | Replied | Broke | Outage


class Workers(Protocol):
    """Runs calls, at most one for each compactor."""

    def start(self, call: int, request: Request, heard: Callable[[CallEvent], None]) -> None:
        """Starts a call. Of its end `heard` is told once, unless it was stopped; from any thread, and maybe at once."""
        ...

    def stop(self, call: int) -> None:
        """Ends a call at once; nothing is heard of it any more."""
        ...


class Connected(msgspec.Struct, frozen=True, tag=True):
    """Someone of the same user connected; `client` is a number never given twice."""

    client: int


class Received(msgspec.Struct, frozen=True, tag=True):
    """A whole frame of a client's."""

    client: int
    data: bytes


class Disconnected(msgspec.Struct, frozen=True, tag=True):
    """A client is gone, or was dropped by the sockets: `why` says so."""

    client: int
    why: str


class Deafened(msgspec.Struct, frozen=True, tag=True):
    """The sockets have failed, which is a bug: nothing more will be heard."""

    why: str


SocketEvent = Connected | Received | Disconnected | Deafened


class Sockets(Protocol):
    """The chat's address, and whoever is connected there. Frames are whole, of at most `FRAME_BYTES_MAX`.

    A client may be ahead by `CLIENT_WINDOW_BYTES` of what was granted back, each frame with `FRAME_OVERHEAD_BYTES`
    on top; then it is not read from. One that has not read more than `CLIENT_BEHIND_BYTES_MAX` of what it was sent is
    dropped. Clients of other users are never heard of.
    """

    def listen(self, heard: Callable[[SocketEvent], None]) -> None:
        """Lets clients in. `heard` is told of them and their frames from any thread, in their order for each."""
        ...

    def send(self, client: int, data: bytes) -> None:
        """Sends a frame, later where the client is slow. Nothing where it is gone."""
        ...

    def grant(self, client: int, bytes_: int) -> None:
        """So many bytes of received frames, with what is on top, are dealt with: the client may send as many more."""
        ...

    def drop(self, client: int) -> None:
        """Closes a connection once what was sent has left, or after a moment. It is not heard of any more."""
        ...

    def close(self) -> None:
        """The address is gone, and every connection."""
        ...


class NoSockets:
    """A system that nobody connects to, since it has no door."""

    def listen(self, heard: Callable[[SocketEvent], None]) -> None:
        raise AssertionError("there is no address to listen at")

    def send(self, client: int, data: bytes) -> None:
        raise AssertionError(f"there is no client {client}")

    def grant(self, client: int, bytes_: int) -> None:
        raise AssertionError(f"there is no client {client}")

    def drop(self, client: int) -> None:
        raise AssertionError(f"there is no client {client}")

    def close(self) -> None:
        raise AssertionError("there is no address to close")
