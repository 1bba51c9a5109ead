"""What `chat/calls/` says of the calls that were made, read file by file."""

from collections.abc import Iterator
from pathlib import Path

from eukhe.actors.log_files import is_day_file
from eukhe.model.ledger import FOLDER, Book, Call, read
from eukhe.model.prices import Prices


def calls_of(chat: Path, prices: Prices, since: str = "") -> Iterator[Call]:
    """The calls sent since a day, in the order in which they were. The files are only read."""
    book = Book(prices)
    for path in sorted((chat / FOLDER).glob("*.jsonl")):
        if is_day_file(path.name) and path.stem >= since:
            with path.open("rb") as file:
                for note in read(line.rstrip(b"\n") for line in file):
                    book.take(note)
    calls = [call for call in book.calls.values() if call.head.t >= since]
    yield from sorted(calls, key=lambda call: call.head.t)
