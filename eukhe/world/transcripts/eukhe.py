"""A chat of eukhe, as `eukhe chat export` writes it: its log's lines, each with the bytes of its images.

Its messages come in unchanged: kinds, dates, keys, order, and each repeat. A log itself, `main/*.jsonl`, reads the
same, without its images.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Sequence
from datetime import datetime

from eukhe.limits import KEY_BYTES_MAX, MILLISECONDS
from eukhe.model.record import KINDS, READ_AS
from eukhe.model.text import clean, size
from eukhe.world.transcripts.catalog import Catalog, Entry, Place
from eukhe.world.transcripts.identity import as_json, digest, short
from eukhe.world.transcripts.lines import Record
from eukhe.world.transcripts.said import Said, Unreadable

IMAGE_DATA = "imageData"
"""The export's own field: base64 of each of `images`, in their order."""


class Eukhe:
    """The reader of exports."""

    name = "eukhe"
    whole_file = False

    def opens(self, head: bytes) -> bool:
        return False

    def knows(self, record: Record) -> bool:
        match record:
            case {"i": int(), "kind": str(), "text": str(), "size": int(), "date": str()}:
                return True
        return False

    def records(self, record: Record) -> Sequence[Record]:
        return (record,)

    def scan(self, record: Record, place: Place, catalog: Catalog) -> None:
        if not self.knows(record):
            if "gap" not in record:
                catalog.note_bad(place.line, "no message of a chat")
            return
        catalog.session = self.name
        moment = _moment(record)
        if moment is None:
            catalog.note_bad(place.line, f"{record['date']!r} is no date")
            return
        if (kind := _kind(record)) not in KINDS:
            catalog.note_bad(place.line, f"{kind!r} is no kind of message")
            return
        catalog.ms = int(moment.timestamp() * MILLISECONDS)
        catalog.note(place, short(_key(record)), says=True)

    def settle(self, catalog: Catalog) -> None:
        """Nothing: every line is a message."""

    def say(self, record: Record, entry: Entry, catalog: Catalog) -> Iterator[Said | Unreadable]:
        images = []
        for data in record.get(IMAGE_DATA) or ():
            try:
                images.append(b64decode(data, validate=True))
            except (Base64Error, TypeError, ValueError):
                yield Unreadable(entry.path, entry.place.line, "an image that is no base64")
        moment = _moment(record)
        assert moment is not None, "the first pass keeps none without a date"
        date = moment.isoformat(timespec="seconds")
        yield Said(_kind(record), clean(record["text"]), date, _key(record), tuple(images), exported_i=record["i"])


def _kind(record: Record) -> str:
    kind: str = record["kind"]
    return READ_AS.get(kind, kind)


def _key(record: Record) -> str:
    """Its own key; one made of all it says where it has none, or one that is too long to be a key."""
    key = record.get("key")
    if isinstance(key, str) and size(key) <= KEY_BYTES_MAX:
        return key
    content = as_json([record["i"], record["kind"], record["text"], record["date"]])
    return f"eukhe:{digest(content.encode(errors='replace'))}"


def _moment(record: Record) -> datetime | None:
    try:
        moment = datetime.fromisoformat(record["date"])
    except ValueError:
        return None
    return moment if moment.tzinfo else None
