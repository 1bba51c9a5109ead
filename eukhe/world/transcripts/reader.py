"""What a format has to say about itself. A new format is one file with a `Reader`, and its line in `formats.py`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from eukhe.world.transcripts.lines import Record
from eukhe.world.transcripts.said import Said, Unreadable

if TYPE_CHECKING:
    from eukhe.world.transcripts.catalog import Catalog, Entry, Place


class Reader(Protocol):
    """Reads one format. It keeps nothing from one record to the next: what it must remember is in the catalog."""

    name: str
    whole_file: bool  # the file is one JSON value, and not a record a line

    def opens(self, head: bytes) -> bool:
        """Is this the first block of a file of its format, by which alone a `whole_file` is known?"""
        ...

    def knows(self, record: Record) -> bool:
        """Is this a record of its format? Asked for the first records of a file."""
        ...

    def records(self, record: Record) -> Sequence[Record]:
        """The records inside what was parsed as one; most often it alone."""
        ...

    def scan(self, record: Record, place: "Place", catalog: "Catalog") -> None:
        """First pass: notes in the catalog what the record is and whether something is said in it."""
        ...

    def settle(self, catalog: "Catalog") -> None:
        """Between the passes: decides what only all files together can tell."""
        ...

    def say(self, record: Record, entry: "Entry", catalog: "Catalog") -> Iterator[Said | Unreadable]:
        """Second pass: what is said in a record that the catalog kept."""
        ...
