"""A chat of many messages as an owner would have written it, made without one: the logs and view.json, no index.

The planner's own state says what is built, free and merged; each record is written in the order in which an owner
writes it, so that `eukhe chat verify` finds nothing wrong. Lines that a model would have written are any words.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import orjson

from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.chat import Chat
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, encode, message, node
from eukhe.model.saved_view import VIEW_FILE
from eukhe.world.home import make_home
from measure.made import KINDS, Texts, line_sizes

MESSAGES_A_DAY = 2_000
BEGUN = datetime(2020, 1, 1, 8, tzinfo=UTC)
APART = timedelta(seconds=20)


class MadeChat:
    """Writes one. `size` characters a message on the average."""

    def __init__(self, home: Path, size: int) -> None:
        self.folder = make_home(home)
        self.chat = Chat()
        self._texts = Texts()
        self._line_sizes = line_sizes()
        self._size = size
        self._nodes: dict[Part, str] = {}  # of which a merge can still be made
        self._main: BinaryIO | None = None
        self._tree: BinaryIO | None = None

    def write(self, count: int) -> None:
        for i in range(count):
            day, rest = divmod(i, MESSAGES_A_DAY)
            date = BEGUN + timedelta(days=day) + rest * APART
            if rest == 0:
                self._next_day(date)
            self._message(i, date)
        self._close()
        view = [tuple(part) for part in self.chat.view.parts()]
        (self.folder / VIEW_FILE).write_bytes(orjson.dumps(view, option=orjson.OPT_APPEND_NEWLINE))

    def _message(self, i: int, date: datetime) -> None:
        assert self._main is not None
        assert self._tree is not None
        chars = self._size // 2 + (i * 7_919) % self._size
        record = message(i, KINDS[i % len(KINDS)], self._texts.text(chars), date.isoformat())
        self._main.write(encode(record))
        batch, free = self.chat.logged(record.size)
        if batch is not None:
            self._tree.write(encode(BatchRecord(batch, self.chat.shrinking, self.chat.t)))
        self._write(free, record.label)
        while parts := self.chat.queue():
            for part in parts:
                self.chat.start(part)
                text = self._texts.text(next(self._line_sizes))
                self._put(part, text)
                self.chat.built(part, len(text))
                self._write(self.chat.free_above(part))

    def _write(self, free: Sequence[Part], label: str = "") -> None:
        """Free nodes: a message is its own, a merge both halves."""
        for part in free:
            self._put(part, "\n".join([self._nodes[half] for half in part.halves]) if part.level else label)

    def _put(self, part: Part, text: str) -> None:
        assert self._tree is not None
        assert len(text) <= NODE_BYTES_MAX
        self._tree.write(encode(node(part, text)))
        self._nodes[part] = text
        if part.level:
            for half in part.halves:
                del self._nodes[half]

    def _next_day(self, date: datetime) -> None:
        self._close()
        name = f"{date.date().isoformat()}.jsonl"
        self._main = (self.folder / "main" / name).open("wb")
        self._tree = (self.folder / "tree" / name).open("wb")

    def _close(self) -> None:
        for log in (self._main, self._tree):
            if log is not None:
                log.close()
