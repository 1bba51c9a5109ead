"""One record, found through the index, or by what is newer than it."""

from collections.abc import Callable

import pytest
from log_kit import DATE, MAIN, TREE, grow, opened
from store_kit import MemoryDisk

from eukhe.actors.archive import Archive
from eukhe.actors.ports import Place, Placed
from eukhe.errors import IndexFailed
from eukhe.model.part import Part
from eukhe.model.record import GapRecord, MainRecord, TreeRecord, VoidRecord, encode, message, node
from eukhe.world.index import SqliteIndex


class Logs:
    """A disk, and rows of what was written to it."""

    def __init__(self) -> None:
        self.disk = MemoryDisk()
        self.index = SqliteIndex(None)
        self.archive = Archive(self.disk, self.index)

    def write(self, *records: MainRecord | TreeRecord, path: str = MAIN) -> list[Placed]:
        rows = []
        for record in records:
            line = encode(record)
            rows.append(Placed(record, Place(path, self.disk.length(path) or 0, len(line))))
            self.disk.append(path, line)
        return rows


ONE, TWO = message(0, "user", "one", DATE), message(3, "tool", "two\n", DATE, images=("a.png",))
LEFT, RIGHT = node(Part(0, 0), "left"), node(Part(0, 1), "right")


def by_index(logs: Logs, rows: list[Placed]) -> None:
    logs.index.feed(rows)


def by_place(logs: Logs, rows: list[Placed]) -> None:
    logs.archive.add(rows)


@pytest.mark.parametrize("learn", [by_index, by_place])
def test_records_are_read_as_they_were_written(learn: Callable[[Logs, list[Placed]], None]) -> None:
    logs = Logs()
    learn(logs, logs.write(ONE, TWO, GapRecord(1, 3)) + logs.write(LEFT, RIGHT, path=TREE))
    archive = logs.archive
    assert [ONE, None, None, TWO, None] == [archive.message(i) for i in range(5)]
    assert (LEFT, None) == (archive.node(Part(0, 0)), archive.node(Part(0, 2)))
    assert ("left", None) == (archive.node_text(Part(0, 0)), archive.node_text(Part(1, 0)))
    assert ("user: one",) == archive.source(Part(0, 0))
    assert ("(lost)",) == archive.source(Part(0, 2))
    assert None is archive.source(Part(0, 4))
    assert ("left", "right") == archive.source(Part(1, 0))
    assert None is archive.source(Part(1, 1))


@pytest.mark.parametrize("learn", [by_index, by_place])
def test_of_two_lines_of_a_node_the_first_counts(learn: Callable[[Logs, list[Placed]], None]) -> None:
    logs = Logs()
    learn(logs, logs.write(LEFT, node(Part(0, 0), "again"), path=TREE))
    assert "left" == logs.archive.node_text(Part(0, 0))


@pytest.mark.parametrize("learn", [by_index, by_place])
def test_of_a_voided_node_the_line_after_the_last_void_counts(learn: Callable[[Logs, list[Placed]], None]) -> None:
    logs = Logs()
    learn(logs, logs.write(LEFT, VoidRecord((Part(0, 0),)), path=TREE))
    assert None is logs.archive.node_text(Part(0, 0))
    learn(logs, logs.write(node(Part(0, 0), "new"), node(Part(0, 0), "newer"), path=TREE))
    assert "new" == logs.archive.node_text(Part(0, 0))


def test_a_newer_void_hides_what_the_index_has() -> None:
    logs = Logs()
    logs.index.feed(logs.write(LEFT, path=TREE))
    logs.archive.add(logs.write(VoidRecord((Part(0, 0),)), path=TREE))
    assert None is logs.archive.node(Part(0, 0))
    logs.archive.add(logs.write(node(Part(0, 0), "new"), path=TREE))
    assert "new" == logs.archive.node_text(Part(0, 0))


@pytest.mark.parametrize(
    "wrong",
    [Place(MAIN, 0, 10), Place(MAIN, len(encode(ONE)), len(encode(TWO))), Place(MAIN, 9_999, 10)],
    ids=["half a line", "another's line", "past the end"],
)
def test_an_index_that_leads_elsewhere_is_not_believed(wrong: Place) -> None:
    logs = Logs()
    logs.write(ONE, TWO)
    logs.index.feed([Placed(ONE, wrong), Placed(LEFT, wrong)])
    with pytest.raises(IndexFailed, match=f"leads to {MAIN}, byte {wrong.offset}, which is not message 0"):
        logs.archive.message(0)
    with pytest.raises(IndexFailed, match=r"which is not node 0\+1"):
        logs.archive.node(Part(0, 0))


@pytest.mark.rule("11", "12")
def test_every_node_of_a_chat_reads_as_it_was_built() -> None:
    writer = grow(60)
    index = SqliteIndex(None)
    opened(writer.disk, index)
    archive = Archive(writer.disk, index)
    assert writer.texts == {part: archive.node_text(part) for part in writer.texts}
