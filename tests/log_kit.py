"""Chats for tests, written line by line as the live chat writes them, on a disk in memory or in a folder.

`grow` runs the planner's own state machine, so batches come when they are due; its lines say their node's name.
"""

import random
from collections.abc import Sequence
from contextlib import suppress

import orjson
from store_kit import MemoryDisk

from eukhe.actors.archive import Archive
from eukhe.actors.log_files import LogFiles
from eukhe.actors.opening import Opened, open_chat, saved_view
from eukhe.actors.ports import Disk, Index
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.part import Part
from eukhe.model.record import (
    BatchRecord,
    MainRecord,
    NodeRecord,
    RecordError,
    TreeRecord,
    VoidRecord,
    decode_tree,
    encode,
    message,
    node,
)
from eukhe.model.scan import Problem
from eukhe.model.text import size
from eukhe.model.verify import Places, Verification
from eukhe.world.index import SqliteIndex

MAIN, TREE, VIEW = "main/2026-10-05.jsonl", "tree/2026-10-05.jsonl", "view.json"
LATER_MAIN, LATER_TREE = "main/2026-10-06.jsonl", "tree/2026-10-06.jsonl"
DATE = "2026-10-05T09:32:11+02:00"
SMALL = ChatLimits(ceiling=6_000, floor=3_000, compaction_ceiling=2_000, compaction_floor=1_000)
"""Limits that let a batch come after a few dozen messages."""

WORDS = ("sawtooth", "mailbox", "ledger", "größe", "fsync", "naïve", "orchard", "lantern", "\u2028", "привет")


class Writer:
    """Writes a chat as its owner would, one message after the other, each one's nodes built at once or kept back."""

    def __init__(self, disk: Disk, chat: Chat | None = None, limits: ChatLimits = SMALL) -> None:
        self.disk = disk
        self.chat = chat or Chat(limits)
        self.main, self.tree = MAIN, TREE
        self.texts = texts_in(disk) if chat else {}

    def message(self, text: str, kind: str = "user", key: str | None = None) -> None:
        record = message(self.chat.t, kind, text, DATE, key)
        self.write_main(record)
        step = self.chat.logged(record.size)
        lines: list[TreeRecord] = []
        if step.batch is not None:
            lines.append(BatchRecord(step.batch, self.chat.shrinking, self.chat.t))
        for part in step.free:
            lines.append(node(part, self._free(part, record.label)))
            self.texts[part] = lines[-1].text
        self.write_tree(*lines)
        if step.batch is not None:
            self.save_view()

    def build(self, limit: int = 1_000_000) -> None:
        """Builds what can be built, until nothing is left or `limit` lines were written."""
        while limit > 0 and (queue := self.chat.queue()):
            for part in queue[:limit]:
                limit -= 1
                text = f"{part.name}: " + "line " * (part.start % 90 + 1)
                self.chat.built(part, size(text))
                self.texts[part] = text
                self.write_tree(node(part, text))
                for above in self.chat.free_above(part):
                    self.texts[above] = self._free(above, "")
                    self.write_tree(node(above, self.texts[above]))

    def save_view(self) -> None:
        self.disk.replace(VIEW, orjson.dumps([list(part) for part in self.chat.view.parts()]), sync=False)

    def write_main(self, *records: MainRecord) -> None:
        self.disk.append(self.main, b"".join(map(encode, records)))

    def write_tree(self, *records: TreeRecord) -> None:
        if records:
            self.disk.append(self.tree, b"".join(map(encode, records)))

    def _free(self, part: Part, label: str) -> str:
        return label if part.level == 0 else "\n".join(self.texts[half] for half in part.halves)


def texts_in(disk: Disk) -> dict[Part, str]:
    """The lines of a chat that was reopened, read as plainly as can be."""
    texts: dict[Part, str] = {}
    for name in disk.names("tree"):
        for line in disk.read(f"tree/{name}").split(b"\n"):
            with suppress(RecordError):
                match decode_tree(line):
                    case NodeRecord(part, text):
                        texts.setdefault(part, text)
                    case VoidRecord(void):
                        for part in void:
                            texts.pop(part, None)
    return texts


def after(disk: Disk, chat: Chat) -> Writer:
    """Goes on with a chat that was reopened, on its second day."""
    writer = Writer(disk, chat)
    writer.main, writer.tree = LATER_MAIN, LATER_TREE
    return writer


def grow(
    count: int, seed: int = 1, disk: Disk | None = None, limits: ChatLimits = SMALL, *, late: bool = False
) -> Writer:
    """A chat of `count` messages, short and long, over two days. `late`: some of its lines are still unbuilt."""
    chance = random.Random(seed)
    writer = Writer(disk or MemoryDisk(), limits=limits)
    for i in range(count):
        if i == count // 2:
            writer.main, writer.tree = LATER_MAIN, LATER_TREE
        long = chance.random() < 0.3
        text = f"message {i} " + " ".join(chance.choices(WORDS, k=chance.randrange(90, 140) if long else 8))
        writer.message(text, chance.choice(("user", "eukhe", "tool", "echo")), key=f"key {i}" if i % 3 == 0 else None)
        if not late or chance.random() < 0.5:
            writer.build(3 if late else 1_000_000)
    writer.save_view()
    return writer


def opened(disk: Disk, index: Index | None = None, *, owner: bool = True, accept_gap: bool = False) -> Opened:
    """The chat, opened with a new index where none is given."""
    return open_chat(disk, SqliteIndex(None) if index is None else index, SMALL, owner=owner, accept_gap=accept_gap)


def verified(disk: Disk, places: Places | None = None) -> list[Problem]:
    """All that a proof of the files finds."""
    tree, main = LogFiles(disk, "tree"), LogFiles(disk, "main")
    return list(Verification(main.files(), tree.files(), saved_view(disk), places).problems())


def harmful(problems: Sequence[Problem]) -> list[str]:
    return [str(problem) for problem in problems if not problem.harmless]


def state_of(chat: Chat) -> tuple[object, ...]:
    """What must be the same after a restart."""
    return chat.t, chat.view.parts(), chat.view.size, chat.shrinking, chat.built_nodes.levels, sorted(chat.ready)


def answers(disk: Disk, index: Index, chat: Chat) -> tuple[object, ...]:
    """What the index says, asked for all there is."""
    archive = Archive(disk, index)
    levels = range(max(chat.t.bit_length(), 1))
    parts = [Part(level, i) for level in levels for i in range(chat.t >> level)]
    return (
        index.counts(),
        [archive.source(Part(0, i)) for i in range(chat.t)],
        [archive.node_text(part) for part in parts],
        [index.id_of_key(f"key {i}") for i in range(chat.t)],
        [index.id_of_text(record.text) for i in range(chat.t) if (record := archive.message(i))],
        {word: sorted(index.search(word, chat.t)) for word in WORDS},
    )


def copied(disk: MemoryDisk) -> MemoryDisk:
    """A disk of its own with the same files."""
    copy = MemoryDisk()
    copy.files = dict(disk.files)
    return copy


def starts(data: bytes) -> list[int]:
    """Where each line starts, and where the last one ends."""
    at = [0]
    for line in data.split(b"\n")[:-1]:
        at.append(at[-1] + len(line) + 1)
    return at
