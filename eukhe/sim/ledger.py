"""What is on the disk and synced, read as it comes there: the truth that all else is held against."""

from collections.abc import Callable

from eukhe.model.chat import ChatLimits
from eukhe.model.fold import Folded, Merges, NodeSize, fold
from eukhe.model.key import piece_of
from eukhe.model.part import Part
from eukhe.model.record import (
    BatchRecord,
    MessageRecord,
    NodeRecord,
    RecordError,
    VoidRecord,
    decode_main,
    decode_tree,
)
from eukhe.sim.checks import CheckFailed
from eukhe.sim.disk import SimDisk
from eukhe.sim.oracle import Batch, Oracle


class Ledger:
    """`messages` by id; `keys`: the ids logged under each text's key; `nodes`, `batches`; `merged`: their parents.

    `wrote` is told of every node's record that comes.
    """

    def __init__(self, wrote: Callable[[NodeRecord], None]) -> None:
        self.messages: list[MessageRecord] = []
        self.keys: dict[str, list[int]] = {}
        self.pieces: dict[str, int] = {}
        self.nodes: dict[Part, NodeRecord] = {}
        self.batches: list[Batch] = []
        self.merged: set[Part] = set()
        self.tree: list[NodeSize | Merges] = []
        self._wrote = wrote
        self._tails: dict[str, bytes] = {}  # of each file, what follows its last newline

    def read(self, disk: SimDisk) -> None:
        """All that is there, into a ledger that is empty."""
        for folder in ("main", "tree"):
            for name in disk.names(folder):
                self.synced(f"{folder}/{name}", disk.platter(f"{folder}/{name}"))

    def synced(self, path: str, data: bytes) -> None:
        """Bytes at a file's end are on the platter."""
        folder = path.partition("/")[0]
        if folder not in ("main", "tree"):
            return
        *lines, tail = (self._tails.pop(path, b"") + data).split(b"\n")
        if tail:
            self._tails[path] = tail
        take = self._main if folder == "main" else self._tree
        for line in lines:
            take(line)

    def fold(self, limits: ChatLimits) -> Folded:
        """What a start makes of it."""
        return fold(None, [message.size for message in self.messages], self.tree, limits)

    def oracle(self, limits: ChatLimits) -> Oracle:
        sizes = (message.size for message in self.messages)
        return Oracle.read(limits, sizes, ((part, node.size) for part, node in self.nodes.items()), self.batches)

    def text_of(self, key: str) -> str:
        """What is logged under a text's key, piece by piece."""
        pieces = (self.messages[i] for i in self.keys[key])
        return "".join(message.text for message in sorted(pieces, key=lambda piece: piece_of(piece.key or "")[1]))

    def _main(self, line: bytes) -> None:
        try:
            record = decode_main(line)
        except RecordError:
            _is_torn(line, decode_main)
            return
        if not isinstance(record, MessageRecord) or record.i != len(self.messages):
            raise CheckFailed("ids-gapless", len(self.messages), record)
        self.messages.append(record)
        if record.key is not None:
            if record.key in self.pieces:
                raise CheckFailed(
                    "key-once", f"message {self.pieces[record.key]} alone has the key {record.key}", record
                )
            self.pieces[record.key] = record.i
            self.keys.setdefault(piece_of(record.key)[0], []).append(record.i)

    def _tree(self, line: bytes) -> None:
        try:
            record = decode_tree(line)
        except RecordError:
            _is_torn(line, decode_tree)
            return
        match record:
            case NodeRecord(part, _, size):
                if self.nodes.setdefault(part, record) is record:
                    self.tree.append(NodeSize(part, size))
                    self._wrote(record)
            case BatchRecord(merge, open_, t):
                assert t is not None
                self.batches.append((merge, open_, t))
                self.tree.append(Merges(merge, open_, t))
                self.merged.update(merge)
            case VoidRecord(void):
                # A message is synced before its node is written, so that no crash leaves a node past the last message.
                raise CheckFailed("built-only", "no node without its message", void)


def _is_torn(line: bytes, decode: Callable[[bytes], object]) -> None:
    """A line that is no record is the rest of one that was torn. No record's text holds what one begins with."""
    try:
        record = decode(line[line.rfind(b'{"') :])
    except RecordError:
        return
    raise CheckFailed("own-line", "a torn line that was ended, and nothing behind it", record)
