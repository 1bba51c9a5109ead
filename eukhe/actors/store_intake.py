"""From a text that is to be logged to its messages: cleaned, clipped or split, its images named, its key looked up.

Rules 9 and 10, D2. Each message has its id and its line when this is done; what is left is to write them.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from eukhe.actors.messages import Entry, Logging
from eukhe.actors.store_recent import Recent
from eukhe.limits import KEY_BYTES_MAX
from eukhe.model.image import image_mark, with_images
from eukhe.model.key import piece_key, piece_of
from eukhe.model.record import KINDS, MessageRecord, message
from eukhe.model.text import clean, pieces, size

_NO_IMAGES: Final[Mapping[str, bytes]] = {}
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


class Taken(NamedTuple):
    """What becomes of an entry: the answer, its new messages, and by name the images to be stored before them."""

    answer: Logging
    records: list[MessageRecord]
    images: Mapping[str, bytes]


class Intake:
    """Gives messages their ids, `next_id` and on."""

    def __init__(self, recent: Recent, next_id: int) -> None:
        self._recent = recent
        self.next_id = next_id

    def take(self, entry: Entry, now: str) -> Taken:
        """`now`: the date of a message that brings none. `refusal` was None for it."""
        text, images = clean(entry.text), _NO_IMAGES
        if entry.images:
            text, images = with_images(text, entry.images)
        texts = pieces(entry.kind, text)
        date = entry.date or now
        if entry.key is None:
            return self._new(entry.kind, texts, [None] * len(texts), date, images)
        key = clean(entry.key)
        first = self._recent.id_of_key(key)
        if first is not None and (count := self._pieces(first, key)) != len(texts):
            return Taken(Logging(first, count, 0, differs=True), [], _NO_IMAGES)
        n = len(texts)
        keys = [key] if n == 1 else [piece_key(key, k, n) for k in range(1, n + 1)]
        ids = [first] if n == 1 else [self._recent.id_of_key(piece) for piece in keys]
        there = [i for i in ids if i is not None]
        if not there:
            return self._new(entry.kind, texts, keys, date, images)
        if any(i is not None and not self._says(i, text) for i, text in zip(ids, texts, strict=True)):
            return Taken(Logging(there[0], len(there), 0, differs=True), [], _NO_IMAGES)
        # Sent again after a crash tore its last pieces off: they are logged, the others stay where they are.
        missing = [at for at, i in enumerate(ids) if i is None]
        taken = self._new(entry.kind, [texts[at] for at in missing], [keys[at] for at in missing], date, images)
        return taken._replace(answer=Logging(taken.records[0].i if ids[0] is None else ids[0], n, len(missing)))

    def _new(
        self, kind: str, texts: Sequence[str], keys: Sequence[str | None], date: str, images: Mapping[str, bytes]
    ) -> Taken:
        first = self.next_id
        records = []
        for text, key in zip(texts, keys, strict=True):
            names = tuple(name for name in images if image_mark(name) in text) if images else ()
            record = message(self.next_id, kind, text, date, key, names)
            self._recent.add_message(record)
            records.append(record)
            self.next_id += 1
        return Taken(Logging(first, len(texts), len(texts)), records, images if records else _NO_IMAGES)

    def _pieces(self, first: int, key: str) -> int:
        """Into how many messages the text was split that is logged under a key."""
        record = self._recent.message(first)
        if record is None or record.key is None or record.key == key:
            return 1
        return piece_of(record.key)[2]

    def _says(self, i: int, text: str) -> bool:
        """Whether a message has this text. Of a lost one no one can say otherwise."""
        record = self._recent.message(i)
        return record is None or record.text == text


def refusal(entry: Entry) -> str | None:
    """Why an entry can't be logged, None where it can."""
    if entry.kind not in KINDS:
        return f"{entry.kind!r} is no kind of message; the kinds are {', '.join(KINDS)}"
    if entry.key is not None and size(piece_of(clean(entry.key))[0]) > KEY_BYTES_MAX:
        return f"a key of more than {KEY_BYTES_MAX} bytes: {clean(entry.key)[:KEY_BYTES_MAX]!r}…"
    if entry.date is not None and not _is_date(entry.date):
        return f"{entry.date!r} is no date like 2026-10-05T09:32:11+02:00"
    return None


def _is_date(date: str) -> bool:
    """RFC 3339 with an offset, of a day that there is."""
    if not _DATE.fullmatch(date):
        return False
    try:
        datetime.fromisoformat(date)
    except ValueError:
        return False
    return True
