"""What `chat/calls/` says of the calls that were made, read file by file."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from eukhe.actors.log_files import is_day_file
from eukhe.model.ledger import FOLDER, Book, Call, read
from eukhe.model.prices import Prices


def calls_of(chat: Path, prices: Prices, since: str = "") -> Iterator[Call]:
    """The calls sent since a day, in the order in which they were. The files are only read.

    One that was sent before midnight ends after it, so a day's calls are known when the next day's file is read: two
    days are in memory, however many there are. What is noted still later, of a call that never ended, counts no more.
    """
    book = Book(prices)
    gone: set[str] = set()  # those that were given before they had ended
    for path in sorted((chat / FOLDER).glob("*.jsonl")):
        if not is_day_file(path.name) or path.stem < _day_before(since):
            continue
        calls = _taken(book, _day_before(path.stem))
        gone.update(call.head.id for call in calls if not call.is_over)
        yield from (call for call in calls if call.head.t >= since)
        with path.open("rb") as file:
            for note in read(line.rstrip(b"\n") for line in file):
                if note.id not in gone:
                    book.take(note)
    yield from (call for call in _taken(book) if call.head.t >= since)


def _day_before(day: str) -> str:
    """Empty for none; the first that there is has none before it."""
    if not day:
        return ""
    its = date.fromisoformat(day)
    return (its - min(timedelta(days=1), its - date.min)).isoformat()


def _taken(book: Book, before: str = "") -> list[Call]:
    """Out of the book, the calls sent before a day, else all, in the order in which they were sent."""
    calls = [call for call in book.calls.values() if not before or call.head.t < before]
    for call in calls:
        del book.calls[call.head.id]
    return sorted(calls, key=lambda call: call.head.t)
