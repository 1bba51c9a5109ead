"""The ledger: what each call cost, put together from what was noted of it. Pure: no clock, disk or threads.

A call is noted three times, a line each: before it is `sent`, when its response began (`responded`), and when it is
`over`. The lines stand in `chat/calls/YYYY-MM-DD.jsonl`, of the day on which they were written, and each has all keys:

    id      the call's own, given to no other for ever
    t       when, local time with its offset
    stage   sent, responded or over
    role    turn, agent or compaction
    model   provider/name
    batch   a number that changes when the beginning of its view did
    blocks  of the request, up to its last mark
    usage   tokens so far: {"input","output","cacheRead","cacheWrite"}; null where nobody said
    why     what it failed of, empty if of nothing
    usd     dollars so far, by the prices of then; null where they, or the tokens, are not known
    first   it is the first request of its turn, or of its subagent

A stage that is noted again changes nothing, and the order of lines does not matter: the sums are the same.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal

import msgspec

from eukhe.model.prices import NANOS, Prices
from eukhe.model.talk import Usage

Stage = Literal["sent", "responded", "over"]
SENT: Final = "sent"
RESPONDED: Final = "responded"
OVER: Final = "over"
COMPACTION: Final = "compaction"
FOLDER: Final = "calls"


class Note(msgspec.Struct, frozen=True):
    """A line. `nanos`: nanodollars, None where they are not known."""

    id: str
    t: str
    stage: Stage
    role: str = ""
    model: str = ""
    batch: int = 0
    blocks: int = 0
    usage: Usage | None = None
    why: str = ""
    nanos: int | None = None
    first: bool = False


def encode(note: Note) -> bytes:
    """A note as its line, LF included."""
    usage = note.usage
    tokens = None if usage is None else _Tokens(usage.input, usage.output, usage.cache_read, usage.cache_write)
    usd = None if note.nanos is None else note.nanos / NANOS
    head = (note.role, note.model, note.batch, note.blocks)
    return msgspec.json.encode(_Line(note.id, note.t, note.stage, *head, tokens, note.why, usd, note.first)) + b"\n"


def decode(line: bytes) -> Note | None:
    """A line's note; None where it is no line of a ledger, as a torn one is none."""
    try:
        line_ = msgspec.json.decode(line, type=_Line)
    except msgspec.DecodeError:
        return None
    tokens = line_.usage
    usage = None if tokens is None else Usage(*msgspec.structs.astuple(tokens))
    nanos = None if line_.usd is None else round(line_.usd * NANOS)
    head = (line_.role, line_.model, line_.batch, line_.blocks)
    return Note(line_.id, line_.t, line_.stage, *head, usage, line_.why, nanos, line_.first)


class Call:
    """A call, as far as it was noted. `notes`: by stage."""

    def __init__(self) -> None:
        self.notes: dict[str, Note] = {}

    @property
    def head(self) -> Note:
        """The note that says what call it is: where it was sent, else any."""
        return self.notes.get(SENT) or next(iter(self.notes.values()))

    @property
    def is_over(self) -> bool:
        return OVER in self.notes

    @property
    def last(self) -> Note:
        """The note that says most of what it took."""
        told = [self.notes[stage] for stage in (OVER, RESPONDED) if stage in self.notes]
        return next((note for note in told if note.usage is not None), self.head)

    @property
    def usage(self) -> Usage | None:
        """Tokens: in all once it is over, else so far; None where nobody said."""
        return self.last.usage

    @property
    def why(self) -> str:
        return self.notes[OVER].why if self.is_over else ""

    def nanos(self, prices: Prices) -> int | None:
        """Nanodollars so far, as they were noted, else by these prices; None where they are not known."""
        last = self.last
        if last.nanos is not None or last.usage is None:
            return last.nanos
        return prices.nanos(self.head.model, last.usage)

    def is_known(self, prices: Prices) -> bool:
        """Whether what it has cost is known, and is all."""
        return self.is_over and self.last is self.notes[OVER] and self.nanos(prices) is not None


class Book:
    """Calls by their ids. `prices`: of now."""

    def __init__(self, prices: Prices) -> None:
        self.prices = prices
        self.calls: dict[str, Call] = {}

    def take(self, note: Note) -> bool:
        """Whether the note says something new: the first of a stage counts."""
        call = self.calls.setdefault(note.id, Call())
        if note.stage in call.notes:
            return False
        call.notes[note.stage] = note
        return True

    def nanos(self, id_: str, estimate: int = 0) -> int:
        """What a call has cost, in nanodollars; where that is not known, or not all, the estimate, if that is more."""
        call = self.calls[id_]
        known = call.nanos(self.prices) or 0
        return known if call.is_known(self.prices) else max(known, estimate)

    def of_day(self, day: str, role: str) -> list[str]:
        """The ids of a day's calls of one role, a day as `2026-10-05`."""
        return [id_ for id_, call in self.calls.items() if call.head.role == role and call.head.t.startswith(day)]

    def forget(self, day: str) -> None:
        """Forgets the calls before a day."""
        self.calls = {id_: call for id_, call in self.calls.items() if call.head.t >= day}


class Sum:
    """A sum of nanodollars, each part by its id."""

    def __init__(self) -> None:
        self.total = 0
        self._parts: dict[str, int] = {}

    def put(self, id_: str, nanos: int) -> None:
        """A part is so much now."""
        self.total += nanos - self._parts.get(id_, 0)
        self._parts[id_] = nanos


def read(lines: Iterable[bytes]) -> Iterator[Note]:
    """The notes of a file's lines; what is none is passed over."""
    return (note for line in lines if (note := decode(line)) is not None)


class _Tokens(msgspec.Struct, frozen=True, rename="camel"):
    input: int
    output: int
    cache_read: int
    cache_write: int


class _Line(msgspec.Struct, frozen=True):
    id: str
    t: str
    stage: Stage
    role: str
    model: str
    batch: int
    blocks: int
    usage: _Tokens | None
    why: str
    usd: float | None
    first: bool = False
