"""The index actor: it commits in time, reads for others, and lives on where it can't write."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from index_kit import filled, full, said
from log_kit import DATE, MAIN, SMALL, TREE, answers, grow, opened
from store_kit import MemoryDisk

from eukhe.actors.behaviour import CancelTimer, SetTimer, Tell
from eukhe.actors.index import IndexActor
from eukhe.actors.messages import (
    CommitIndex,
    Failed,
    Feed,
    FeedCheckpoint,
    IndexAstray,
    IndexCommitted,
    IndexLost,
    Ping,
    Poisoned,
    Pong,
    ReadSource,
    ReadView,
    Source,
    Sync,
    Synced,
    ViewTexts,
    WaitFailed,
)
from eukhe.actors.ports import Checkpoint, Disk, Place, Placed, Position
from eukhe.errors import Bug
from eukhe.limits import DEADLINE_LINE_BYTES_MIN, DEADLINE_VIEW_BYTES_MAX, INDEX_COMMIT_ROWS
from eukhe.model.fold import checkpoint
from eukhe.model.part import Part
from eukhe.model.record import GapRecord, decode_main, decode_tree, encode, message, node
from eukhe.model.text import cut
from eukhe.sim.clock import SimClock
from eukhe.world.index import SqliteIndex
from tests.actor_kit import Rig

pytestmark = pytest.mark.usefixtures("both_runtimes")


def index_actor(disk: Disk, index: SqliteIndex) -> Rig[IndexActor]:
    return Rig(lambda: IndexActor(disk, index, SimClock()), name="index", disk=disk)


class Actor:
    """An index actor on a disk in memory."""

    def __init__(self) -> None:
        self.disk = MemoryDisk()
        self.index = SqliteIndex(None)
        self.actor = index_actor(self.disk, self.index)

    def logged(self, *records: object, path: str = MAIN) -> Feed:
        """Writes records and tells of them."""
        rows = []
        for record in records:
            line = encode(record)  # type: ignore[arg-type]
            rows.append(Placed(record, Place(path, self.disk.length(path) or 0, len(line))))  # type: ignore[arg-type]
            self.disk.append(path, line)
        return Feed(tuple(rows))

    def source(self, part: Part) -> tuple[str, ...]:
        (told,) = self.actor.receive(ReadSource(part, "compactor-1", 7))
        assert isinstance(told, Tell)
        assert ("compactor-1", 7) == (told.to, told.message.call)  # type: ignore[attr-defined]
        assert isinstance(told.message, Source)
        return told.message.texts

    def view(self, lines: Sequence[Part], unbuilt: Sequence[Part]) -> tuple[str, ...]:
        """A view's texts, as a turn reads them."""
        (told,) = self.actor.receive(ReadView(tuple(lines), tuple(unbuilt), "door", 3))
        assert isinstance(told, Tell)
        assert isinstance(told.message, ViewTexts)
        assert ("door", 3) == (told.to, told.message.ticket)
        return told.message.texts


def test_the_actor_commits_after_a_short_while_and_tells_the_store() -> None:
    actor = Actor()
    (timer,) = actor.actor.receive(actor.logged(message(0, "user", "one", DATE)))
    assert isinstance(timer, SetTimer)
    assert CommitIndex() == timer.message
    assert [] == list(actor.actor.receive(actor.logged(message(1, "user", "two", DATE))))
    assert [CancelTimer(timer.name), Tell("store", IndexCommitted(2))] == list(actor.actor.receive(CommitIndex()))
    assert [] == list(actor.actor.receive(CommitIndex()))


def test_the_actor_commits_at_once_when_many_rows_wait() -> None:
    actor = Actor()
    feed = actor.logged(*(message(i, "user", "x", DATE) for i in range(INDEX_COMMIT_ROWS)))
    assert Tell("store", IndexCommitted(1)) == list(actor.actor.receive(feed))[-1]


def test_the_actor_answers_a_sync_after_its_commit() -> None:
    actor = Actor()
    actor.actor.receive(actor.logged(message(0, "user", "one", DATE)))
    effects = list(actor.actor.receive(Sync("edge", 3)))
    assert [Tell("store", IndexCommitted(1)), Tell("edge", Synced(3))] == effects[-2:]
    assert [Tell("edge", Pong(4))] == list(actor.actor.receive(Ping("edge", 4)))


def test_the_actor_reads_what_a_node_is_built_from() -> None:
    actor = Actor()
    one, two = message(0, "user", "one", DATE), message(3, "user", "two", DATE)
    actor.actor.receive(actor.logged(one, two, GapRecord(1, 3)))
    actor.actor.receive(actor.logged(node(Part(0, 0), "a"), node(Part(0, 1), "b"), path=TREE))
    assert ("user: one",) == actor.source(Part(0, 0))
    assert ("(lost)",) == actor.source(Part(0, 1))
    assert ("a", "b") == actor.source(Part(1, 0))


@pytest.mark.rule("D1")
def test_the_actors_checkpoint_ends_main_after_the_last_message_it_has() -> None:
    writer = grow(40)
    index = SqliteIndex(None)
    start = opened(writer.disk, index)
    actor = index_actor(writer.disk, index)
    state = checkpoint(start.chat)
    later = encode(message(40, "user", "later", DATE))
    row = Placed(message(40, "user", "later", DATE), Place(start.start.main.path, start.start.main.offset, len(later)))
    writer.disk.append(start.start.main.path, later)
    actor.receive(Feed((row,)))
    tree = start.start.tree
    actor.receive(FeedCheckpoint(state, 40, tree.path, tree.offset, tree.crc))
    assert Checkpoint(state, start.start.main, tree) == index.checkpoint()


def test_the_actor_notes_no_checkpoint_past_ids_that_are_missing() -> None:
    actor = Actor()
    actor.actor.receive(actor.logged(message(0, "user", "one", DATE)))
    effects = list(actor.actor.receive(FeedCheckpoint(b"state", 3, TREE, 0, 0)))
    assert Tell("store", IndexCommitted(1)) in effects
    assert None is actor.index.checkpoint()
    actor.actor.receive(FeedCheckpoint(b"none yet", 0, "", 0, 0))
    assert Checkpoint(b"none yet", Position(), Position()) == actor.index.checkpoint()


def test_an_index_that_cannot_be_written_is_said_once_and_found_by_place(tmp_path: Path) -> None:
    actor = Actor()
    actor.index = filled(tmp_path / "index.db", 0)
    actor.actor = index_actor(actor.disk, actor.index)
    first = actor.logged(message(0, "user", "one", DATE))
    actor.actor.receive(first)
    full(actor.index)
    many = actor.logged(*(message(i, "user", f"{i} " * 300, DATE) for i in range(1, 600)))
    effects = list(actor.actor.receive(many))
    lost = [effect.message for effect in effects if isinstance(effect, Tell)]
    assert ["planner"] == [effect.to for effect in effects if isinstance(effect, Tell)]
    assert [IndexLost] == [type(each) for each in lost]
    assert [] == list(actor.actor.receive(actor.logged(message(600, "user", "last", DATE))))
    assert [] == list(actor.actor.receive(CommitIndex()))
    assert ("user: one",) == actor.source(Part(0, 0))
    assert ("user: last",) == actor.source(Part(0, 600))
    assert [Tell("edge", Synced(1))] == list(actor.actor.receive(Sync("edge", 1)))


# --- a turn's view ---


@pytest.mark.rule("18", "D10")
def test_a_view_is_read_in_its_own_order_and_an_unbuilt_line_shows_its_message_cut() -> None:
    actor = Actor()
    long = "wörd " * 200
    actor.actor.receive(actor.logged(*(message(i, "user", long, DATE) for i in range(4))))
    actor.actor.receive(actor.logged(*(node(part, part.name) for part in (Part(0, 2), Part(1, 0))), path=TREE))
    # Built meanwhile or not: what was not when the view was taken shows its message.
    lines, unbuilt = (Part(1, 0), Part(0, 2), Part(0, 3)), (Part(0, 2), Part(0, 3))
    cut_message = cut(f"user: {long}")
    assert ("0+2", cut_message, cut_message) == actor.view(lines, unbuilt)
    assert ("0+2", "2+1", cut_message) == actor.view(lines, unbuilt[1:])


@pytest.mark.rule("D10")
def test_a_lost_message_in_a_deadline_view_reads_as_lost() -> None:
    actor = Actor()
    actor.actor.receive(actor.logged(message(1, "user", "there", DATE), GapRecord(0, 1)))
    lines = (Part(0, 0), Part(0, 1))
    assert ("(lost)", "user: there") == actor.view(lines, lines)


@pytest.mark.rule("D14")
@pytest.mark.parametrize(("built", "share"), [(0, 256), (200, 153), (499, DEADLINE_LINE_BYTES_MIN)])
def test_a_deadline_view_that_would_be_too_large_gives_its_unbuilt_lines_even_shares(built: int, share: int) -> None:
    actor = Actor()
    lines = [Part(0, i) for i in range(built + 1_000)]
    actor.actor.receive(actor.logged(*(message(part.i, "user", "x" * 600, DATE) for part in lines)))
    actor.actor.receive(actor.logged(*(node(part, "y" * 512) for part in lines[:built]), path=TREE))
    texts = actor.view(lines, lines[built:])
    assert {share} == {len(text) for text in texts[built:]}
    least = DEADLINE_LINE_BYTES_MIN * 1_000
    assert sum(map(len, texts)) <= max(DEADLINE_VIEW_BYTES_MAX, built * 512 + least)


@pytest.mark.rule("D14")
def test_a_deadline_view_that_fits_has_its_messages_up_to_512_bytes() -> None:
    actor = Actor()
    lines = [Part(0, i) for i in range(500)]
    actor.actor.receive(actor.logged(*(message(part.i, "user", "x" * 600, DATE) for part in lines)))
    assert {512} == {len(text) for text in actor.view(lines, lines)}


# --- where it can't write, or does not lead ---


@pytest.mark.parametrize(
    ("part", "why"),
    [(Part(0, 1), "index.db: leads to main"), (Part(0, 9), "index.db: does not have"), (Part(1, 4), "does not have")],
)
def test_an_index_without_what_a_line_is_made_of_is_emptied_and_no_line_is_made(
    tmp_path: Path, part: Part, why: str
) -> None:
    disk, index = MemoryDisk(), filled(tmp_path / "index.db")
    disk.append(MAIN, encode(message(5, "user", "another", DATE)) * 9)
    actor = index_actor(disk, index)
    (told,) = actor.receive(ReadSource(part, "compactor-1", 1))
    assert isinstance(told, Tell)
    assert isinstance(told.message, Poisoned)
    assert ("planner", True) == (told.to, why in told.message.why)
    # And it stays empty: with a few rows and a checkpoint the next start would take it for whole.
    actor.receive(Feed((said(9),)))
    assert [] == list(actor.receive(FeedCheckpoint(b"state", 10, TREE, 0, 0)))
    index.close()
    index = SqliteIndex(tmp_path / "index.db")
    assert ((0, 0), None) == (index.counts(), index.checkpoint())
    index.close()


@pytest.mark.parametrize("unbuilt", [(), (Part(0, 9),)])
def test_a_view_of_lines_that_are_not_there_is_the_askers_trouble_alone(
    tmp_path: Path, unbuilt: tuple[Part, ...]
) -> None:
    actor = index_actor(MemoryDisk(), filled(tmp_path / "index.db"))
    (told,) = actor.receive(ReadView((Part(0, 9),), unbuilt, "door", 7))
    assert isinstance(told, Tell)
    assert isinstance(told.message, WaitFailed)
    assert ("door", 7, True) == (told.to, told.message.ticket, "does not have what 9+1" in told.message.why)


def test_a_log_or_an_index_that_can_not_be_read_poisons_the_planner() -> None:
    assert [Tell("planner", Poisoned("why"))] == list(Actor().actor.receive(Failed("why")))


def test_the_actor_names_a_message_it_does_not_know() -> None:
    with pytest.raises(Bug, match="the index does not know"):
        Actor().actor.receive(Pong(1))


@pytest.mark.rule("D1")
def test_an_index_fed_live_answers_as_one_fed_from_the_logs() -> None:
    live, disk = SqliteIndex(None), MemoryDisk()
    writer = grow(150, disk=Feeding(disk, index_actor(disk, live)))  # type: ignore[arg-type]
    anew = SqliteIndex(None)
    chat = opened(disk, anew).chat
    assert SMALL == chat.limits
    assert writer.chat.t == chat.t
    assert answers(disk, live, chat) == answers(disk, anew, chat)


class Feeding:
    """A disk that tells an index actor of each line appended."""

    def __init__(self, disk: MemoryDisk, actor: Rig[IndexActor]) -> None:
        self.disk, self.actor = disk, actor

    def append(self, path: str, data: bytes) -> None:
        offset = self.disk.length(path) or 0
        self.disk.append(path, data)
        rows = []
        for line in data.splitlines(keepends=True):
            record = decode_main(line) if path.startswith("main/") else decode_tree(line)
            rows.append(Placed(record, Place(path, offset, len(line))))
            offset += len(line)
        self.actor.receive(Feed(tuple(rows)))

    def replace(self, path: str, data: bytes, sync: bool) -> None:
        self.disk.replace(path, data, sync)


def test_a_view_whose_line_is_at_a_wrong_place_is_not_answered_with_it_and_the_index_is_emptied(
    tmp_path: Path,
) -> None:
    disk, index = MemoryDisk(), filled(tmp_path / "index.db")
    disk.append(MAIN, encode(message(5, "user", "another", DATE)) * 9)
    poisoned, told = index_actor(disk, index).receive(ReadView((Part(0, 1),), (Part(0, 1),), "door", 7))
    assert isinstance(poisoned, Tell)
    assert isinstance(poisoned.message, Poisoned)
    assert Tell("door", WaitFailed(7, poisoned.message.why)) == told
    assert ((0, 0), None) == (index.counts(), index.checkpoint())
    index.close()


def test_an_index_that_led_the_store_astray_is_emptied(tmp_path: Path) -> None:
    index = filled(tmp_path / "index.db")
    told = index_actor(MemoryDisk(), index).receive(IndexAstray("leads elsewhere"))
    assert [Tell("planner", Poisoned("leads elsewhere"))] == list(told)
    assert ((0, 0), None) == (index.counts(), index.checkpoint())
    index.close()
