"""The logs' records by their names, through the index. Reads alone.

The index is a cache: what it says is believed only where the line it leads to holds the record that was asked for.
"""

from collections.abc import Iterable

from eukhe.actors.ports import Disk, Index, Place, Placed
from eukhe.errors import IndexFailed
from eukhe.limits import LOST
from eukhe.model.part import Part
from eukhe.model.record import (
    GapRecord,
    MainRecord,
    MessageRecord,
    NodeRecord,
    RecordError,
    VoidRecord,
    decode_main,
    decode_tree,
)
from eukhe.model.verify import INDEX_FILE


class Archive:
    """Implements `Reader`. `add` names records that are on disk and that the index does not know yet.

    `whole`: how many messages the index is known to have a place for, a lost one's too. IndexFailed where the index
    leads astray; StoreError where a log can't be read.
    """

    def __init__(self, disk: Disk, index: Index, whole: int = 0) -> None:
        self._disk = disk
        self._index = index
        self._whole = whole
        self._messages: dict[int, Place] = {}
        self._nodes: dict[Part, Place | None] = {}
        self._gaps: dict[range, Place] = {}
        self._t = whole

    @property
    def t(self) -> int:
        """How many messages there are, lost ones among them."""
        return max(self._t, self._index.counts()[0])

    def add(self, rows: Iterable[Placed]) -> None:
        """Records past the index, in the logs' order."""
        for record, place in ((row.record, row.place) for row in rows):
            match record:
                case MessageRecord(i):
                    self._messages.setdefault(i, place)
                    self._t = max(self._t, i + 1)
                case NodeRecord(part):
                    if self._place(part) is None:
                        self._nodes[part] = place
                case VoidRecord(void):
                    self._nodes.update(dict.fromkeys(void))
                case GapRecord(first, end):
                    self._gaps.setdefault(range(first, end), place)
                    self._t = max(self._t, end)

    def message(self, i: int) -> MessageRecord | None:
        """A message; None where there is none, and where it is lost."""
        record = self._main(i)
        return record if isinstance(record, MessageRecord) else None

    def node(self, part: Part) -> NodeRecord | None:
        """A node's record, None where it is not built."""
        place = self._place(part)
        if place is None:
            return None
        try:
            record = decode_tree(self._bytes(place, f"node {part.name}"))
        except RecordError as error:
            raise _astray(place, f"node {part.name}: {error}") from error
        if not isinstance(record, NodeRecord) or record.part != part:
            raise _astray(place, f"node {part.name}")
        return record

    def node_text(self, part: Part) -> str | None:
        """A node's line, None where it is not built."""
        record = self.node(part)
        return None if record is None else record.text

    def source(self, part: Part) -> tuple[str, ...] | None:
        """What a node is built from: its message's `kind: text`, or its two halves' lines.

        None where that is not there. A lost message reads as `(lost)`.
        """
        if part.level:
            texts = tuple(text for half in part.halves if (text := self.node_text(half)) is not None)
            return texts if len(texts) == len(part.halves) else None
        match self._main(part.i):
            case MessageRecord() as record:
                return (record.label,)
            case GapRecord():
                return (LOST,)
        return None

    def _main(self, i: int) -> MainRecord | None:
        """A message's record, the gap's that a lost one is in, None where neither is there."""
        place = self._messages.get(i) or self._index.message_place(i) or self._gap(i)
        if place is None:
            if 0 <= i < self._whole:
                raise IndexFailed(INDEX_FILE, f"does not have message {i}")
            return None
        try:
            record = decode_main(self._bytes(place, f"message {i}"))
        except RecordError as error:
            raise _astray(place, f"message {i}: {error}") from error
        fits = record.i == i if isinstance(record, MessageRecord) else record.first <= i < record.end
        if not fits:
            raise _astray(place, f"message {i}")
        return record

    def _place(self, part: Part) -> Place | None:
        """A node's, whether the index has it or it is newer; a newer void hides what the index has."""
        return self._nodes[part] if part in self._nodes else self._index.node_place(part)

    def _gap(self, i: int) -> Place | None:
        return next((place for gap, place in self._gaps.items() if i in gap), None)

    def _bytes(self, place: Place, what: str) -> bytes:
        # Before it is read: what leads astray may ask for as many bytes as there are numbers.
        if place.offset + place.length > (self._disk.length(place.path) or 0):
            raise _astray(place, what)
        return self._disk.read(place.path, place.offset, place.length)


def _astray(place: Place, what: str) -> IndexFailed:
    return IndexFailed(INDEX_FILE, f"leads to {place.path}, byte {place.offset}, which is not {what}")
