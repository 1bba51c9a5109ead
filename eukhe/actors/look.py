"""Looks into the memory: zoom, date, search, at, as the agent's tools and the commands give them. Reads alone.

Rules 52 to 56, D15. What is not there is said in words, which is no failure; IndexFailed where the index leads astray,
StoreError where a file can't be read.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

import msgspec

from eukhe.actors.agent_logs import AgentLogs
from eukhe.actors.archive import Archive
from eukhe.actors.messages import At, DateOf, Looking, Search, Zoom, ZoomAgent
from eukhe.actors.ports import Disk, Index
from eukhe.limits import (
    IMAGE_BYTES_MAX,
    LOOK_CHARS_MAX,
    LOOK_HITS_MAX,
    LOOK_IMAGES_BYTES_MAX,
    LOST,
)
from eukhe.model.image import image_mark, image_type
from eukhe.model.part import Part, part_of
from eukhe.model.record import MessageRecord
from eukhe.model.render import line
from eukhe.model.snippet import snippet
from eukhe.model.text import clip, split
from eukhe.model.when import EXAMPLES, date_text, when

_IMAGE: Final = re.compile(r"[0-9a-f]{64}\.[a-z]+")


class Sight(msgspec.Struct, frozen=True):
    """What a look shows. `found`: there was something; else `text` says what was not."""

    text: str
    images: tuple[bytes, ...] = ()
    found: bool = True


class Hit(msgspec.Struct, frozen=True):
    """A message that was found. `date`: as people read it; `snippet`: of its text, one line."""

    id: int
    date: str
    kind: str
    snippet: str

    def __str__(self) -> str:
        return f"{self.id}|{self.date}|{self.kind}: {self.snippet}"


class Looks:
    """`now`: the local time, whose zone tells the offset of any other."""

    def __init__(self, disk: Disk, index: Index, archive: Archive, now: Callable[[], datetime]) -> None:
        self._disk = disk
        self._index = index
        self._archive = archive
        self._now = now

    def look(self, what: Looking) -> Sight:
        match what:
            case Zoom(id_, messages):
                return self._zoom(id_, messages)
            case ZoomAgent(name, page):
                return agent_page(self._disk, name, page)
            case DateOf(id_):
                return self._date(id_)
            case Search():
                return self._search(what)
            case At():
                return self._at(what)

    # --- zoom ---

    def _zoom(self, first: int, count: int) -> Sight:
        part = part_of(first, count)
        if part is None or part.end > self._archive.t:
            return Sight(f"No line {first}+{count}.", found=False)
        if part.level:
            return Sight("\n".join(line(half, self._archive.node_text(half)) for half in part.halves))
        return self._whole(part)

    def _whole(self, part: Part) -> Sight:
        record = self._archive.message(part.i)
        if record is None:
            return Sight(LOST)
        images, missing = self.images(record)
        return Sight("\n".join([clip(record.label, LOOK_CHARS_MAX), *missing]), images)

    def images(self, record: MessageRecord) -> tuple[tuple[bytes, ...], list[str]]:
        """A message's images, and a line for each that can't be shown."""
        images: list[bytes] = []
        missing = []
        room = LOOK_IMAGES_BYTES_MAX
        for name in record.images:
            found = self._image(name, min(room, IMAGE_BYTES_MAX))
            if isinstance(found, bytes):
                images.append(found)
                room -= len(found)
            else:
                missing.append(f"{image_mark(name)} can't be shown: {found}")
        return tuple(images), missing

    def _image(self, name: str, bytes_max: int) -> bytes | str:
        """Its bytes, or why it can't be shown. Its name is another program's, perhaps, and must not lead elsewhere."""
        if not _IMAGE.fullmatch(name):
            return "its name is none that an image has"
        path = f"images/{name}"
        length = self._disk.length(path)
        if length is None:
            return "its file is missing"
        if length > bytes_max:
            return f"its {length:,} bytes are too many"
        data = self._disk.read(path)
        if name != f"{hashlib.sha256(data).hexdigest()}.{image_type(data)}":
            return "its file is not as it was stored"
        return data

    # --- dates and words ---

    def _date(self, i: int) -> Sight:
        record = self._archive.message(i) if 0 <= i < self._archive.t else None
        return Sight(f"No message {i}.", found=False) if record is None else Sight(date_text(record.date))

    def _search(self, what: Search) -> Sight:
        words = what.words
        if not any(map(str.isalnum, words)):
            return Sight("There is nothing to search for: give words that a message may hold.", found=False)
        hits = self._hits(self._index.search(words, LOOK_HITS_MAX, what.before), words)
        return _listed(hits, f"No message has all of these words: {words.strip()}")

    def _at(self, what: At) -> Sight:
        """The messages nearest to a time, in the order of their dates."""
        at_s = when(what.date, self._now())
        if at_s is None:
            return Sight(unread(what.date), found=False)
        hits = self._hits(i for _, i in sorted(self._index.nearest(at_s, LOOK_HITS_MAX, what.before)))
        return _listed(hits, "There is no message with a date.")

    def _hits(self, ids: Iterable[int], words: str = "") -> list[Hit]:
        records = (self._archive.message(i) for i in ids)
        return [
            Hit(record.i, date_text(record.date), record.kind, snippet(record.text, words))
            for record in records
            if record is not None
        ]


def agent_page(disk: Disk, name: str, page: int) -> Sight:
    """A subagent's whole chat, a page of it, from 1."""
    log = AgentLogs(disk).find(name)
    if log is None:
        return no_agent(name)
    pages = split("\n".join(record.label for record in log.records))
    if not 1 <= page <= len(pages):
        many = "1 page" if len(pages) == 1 else f"{len(pages)} pages"
        return Sight(f"No page {page}: the chat of {log.name} has {many}.", found=False)
    following = f'; zoom("{log.name}", {page + 1}) gives the next' if page < len(pages) else ""
    return Sight(f"{pages[page - 1]}\n[page {page} of {len(pages)}{following}]")


def no_agent(name: str) -> Sight:
    return Sight(f"No agent {name}.", found=False)


def unread(date: str) -> str:
    """What is said to a date that can't be read."""
    return f"{date.strip()!r} is no date or time that can be read; as in: {', '.join(EXAMPLES)}"


def _listed(hits: list[Hit], none: str) -> Sight:
    return Sight("\n".join(map(str, hits))) if hits else Sight(none, found=False)
