"""What the store knows of its latest records, until the index knows it for everyone.

A record is in here from its id on until the index has committed it; older ones are asked of the index and read from
the log. So what is kept is bounded by what the index has still to commit, not by the chat.
"""

from collections import deque
from collections.abc import Sequence
from typing import TypeVar

from eukhe.actors.messages import Feed
from eukhe.actors.ports import Index, Placed, Reader
from eukhe.errors import IndexFailed
from eukhe.model.key import piece_of
from eukhe.model.part import Part
from eukhe.model.record import MessageRecord, NodeRecord
from eukhe.model.verify import INDEX_FILE

T = TypeVar("T")


class Recent:
    """Messages by id and key, nodes by part: the recent ones from memory, all others through `index` and `reader`."""

    def __init__(self, index: Index, reader: Reader) -> None:
        self._index = index
        self._reader = reader
        self._messages: dict[int, MessageRecord] = {}
        self._keys: dict[str, int] = {}
        self._nodes: dict[Part, str] = {}
        self._fed: deque[Sequence[Placed]] = deque()  # what each `Feed` brought that is not committed yet
        self._committed = 0  # feeds

    def add_message(self, record: MessageRecord) -> None:
        self._messages[record.i] = record
        for key in _keys(record):
            self._keys.setdefault(key, record.i)

    def add_node(self, record: NodeRecord) -> None:
        self._nodes[record.part] = record.text

    def feed(self, rows: tuple[Placed, ...]) -> Feed:
        """The order to the index to take these in, after which they may be forgotten."""
        self._fed.append(rows)
        return Feed(rows)

    def forget(self, feeds: int) -> None:
        """The index has committed the first `feeds` feeds."""
        while self._committed < feeds:
            self._committed += 1
            for row in self._fed.popleft():
                record = row.record
                if isinstance(record, MessageRecord):
                    del self._messages[record.i]
                    for key in _keys(record):
                        self._keys.pop(key, None)
                elif isinstance(record, NodeRecord):
                    self._nodes.pop(record.part, None)

    def id_of_key(self, key: str) -> int | None:
        """The message with this key, the first piece of a text that was split under it, None for a new key."""
        i = self._keys.get(key)
        return self._index.id_of_key(key) if i is None else i

    def message(self, i: int) -> MessageRecord | None:
        """None for a lost one."""
        return self._messages.get(i) or self._reader.message(i)

    def source(self, part: Part) -> str:
        """What a node is made of: its message's `kind: text`, or its halves' lines, one below the other. Rule 12.

        IndexFailed where the index does not have it.
        """
        if part.level == 0:
            record = self._messages.get(part.i)
            texts = self._reader.source(part) if record is None else (record.label,)
            return "\n".join(_there(part, texts))
        return "\n".join(_there(half, self._nodes.get(half) or self._reader.node_text(half)) for half in part.halves)


def _there(part: Part, found: T | None) -> T:
    """What is made up in its stead would stay in the log for ever."""
    if found is None:
        raise IndexFailed(INDEX_FILE, f"does not have {part.name}")
    return found


def _keys(record: MessageRecord) -> tuple[str, ...]:
    """What a message is found by: its key, and where it is a text's first piece, the text's."""
    if record.key is None:
        return ()
    whole, k, _ = piece_of(record.key)
    return (record.key, whole) if k == 1 and whole != record.key else (record.key,)
