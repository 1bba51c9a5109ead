"""The store's tree lines, view and checkpoint."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zlib import crc32

import orjson
import pytest
from store_kit import MAIN, TREE, StoreHost, batch, folder, names, tree_of

from eukhe.actors.behaviour import Replace
from eukhe.actors.messages import (
    Entry,
    FeedCheckpoint,
    Flush,
    FlushTree,
    FreeNode,
    SaveCheckpoint,
    SaveView,
    Sync,
    WriteTree,
    Written,
)
from eukhe.actors.ports import Position
from eukhe.actors.store import StoreStart
from eukhe.model.part import Part
from eukhe.model.record import NodeRecord, encode, node
from eukhe.world.disk import RealDisk
from tests.actor_kit import Runtime

pytestmark = pytest.mark.usefixtures("both_runtimes")


@pytest.fixture
def host(both_runtimes: Runtime, tmp_path: Path) -> Iterator[StoreHost]:
    with closing(RealDisk(folder(tmp_path / "chat"))) as disk:
        yield StoreHost(disk)


# --- the tree ---


@pytest.mark.rule("1", "12", "13", "D1")
def test_tree_lines_are_written_as_ordered_and_free_nodes_get_their_text(host: StoreHost) -> None:
    host.append(Entry("user", "a"), Entry("eukhe", "b"))
    lines = (FreeNode(Part(0, 0)), FreeNode(Part(0, 1)), FreeNode(Part(1, 0)), batch(Part(1, 0)))
    host.effects.clear()
    host.send(WriteTree(lines, 1))
    assert (
        b'{"l":0,"i":0,"text":"user: a","size":7}\n'
        b'{"l":0,"i":1,"text":"eukhe: b","size":8}\n'
        b'{"l":1,"i":0,"text":"user: a\\neukhe: b","size":16}\n'
        b'{"merge":[[1,0]],"open":false,"t":2}\n'
    ) == host.disk.read(TREE)
    assert ["store:Flush", f"Persist {TREE}", "index:Feed", "planner:Written"] == names(host.effects)
    assert Written((Part(0, 0), Part(0, 1), Part(1, 0)), 1) == host.said("planner")[-1]


@pytest.mark.rule("12")
def test_a_free_node_is_composed_from_the_log_once_the_store_has_forgotten(host: StoreHost) -> None:
    host.append(Entry("user", "a"), Entry("eukhe", "b"))
    host.send(WriteTree((FreeNode(Part(0, 0)), node(Part(0, 1), "said b")), 1))
    host.commit()
    host.send(WriteTree((FreeNode(Part(1, 0)),), 1))
    assert node(Part(1, 0), "user: a\nsaid b") == tree_of(host.disk)[-1]


@pytest.mark.rule("12")
def test_a_lost_message_is_a_free_node_that_says_so(host: StoreHost) -> None:
    start = StoreStart(next_id=2)
    host = StoreHost(host.disk, start)
    host.library.lost = {0, 1}
    host.send(WriteTree((FreeNode(Part(0, 0)), FreeNode(Part(0, 1)), FreeNode(Part(1, 0))), 1))
    assert ["(lost)", "(lost)", "(lost)\n(lost)"] == [record.text for record in tree_of(host.disk)]


def test_messages_and_tree_lines_of_one_flush_are_two_writes_messages_first(host: StoreHost) -> None:
    host.append(Entry("user", "a"))
    host.effects.clear()
    host.send(host.order(Entry("user", "b")), WriteTree((FreeNode(Part(0, 0)),), 1))
    assert [
        "store:Flush",
        f"Persist {MAIN}",
        "asker:AppendDone",
        "index:Feed",
        "planner:Logged",
        "store:FlushTree",
        f"Persist {TREE}",
        "index:Feed",
        "planner:Written",
    ] == names(host.effects)


def test_a_line_of_no_bytes_or_too_many_is_a_bug(host: StoreHost) -> None:
    for text in ("", "x" * 513):
        with pytest.raises(AssertionError):
            host.actor.receive(WriteTree((NodeRecord(Part(0, 0), text, len(text)),), 1))


# --- the view ---


@pytest.mark.rule("1", "25", "D1")
def test_the_view_is_pairs_oldest_first_replaced_without_an_fsync(host: StoreHost) -> None:
    host.send(SaveView((Part(3, 0), Part(0, 8))))
    assert Replace("view.json", b"[[3,0],[0,8]]\n", sync=False) == host.effects[-1]
    assert [[3, 0], [0, 8]] == orjson.loads(host.disk.read("view.json"))


@pytest.mark.rule("25")
def test_while_appends_wait_only_the_latest_view_is_kept_and_then_written(host: StoreHost) -> None:
    store = host.actor
    store.receive(host.order(Entry("user", "a")))
    store.receive(SaveView((Part(0, 0),)))
    store.receive(Flush())
    store.receive(host.order(Entry("user", "b")))
    assert [] == store.receive(FlushTree())
    store.receive(SaveView((Part(0, 0), Part(0, 1))))
    store.receive(Flush())
    assert [Replace("view.json", b"[[0,0],[0,1]]\n", sync=False)] == store.receive(FlushTree())


@pytest.mark.rule("25")
@pytest.mark.parametrize("why", [WriteTree((batch(),), 1), Sync("supervisor", 1)], ids=["a batch", "a stop"])
def test_a_batch_and_a_stop_write_the_view_though_appends_wait(host: StoreHost, why: WriteTree | Sync) -> None:
    store = host.actor
    store.receive(host.order(Entry("user", "a")))
    store.receive(SaveView((Part(0, 0),)))
    store.receive(why)
    store.receive(Flush())
    store.receive(host.order(Entry("user", "b")))
    assert Replace("view.json", b"[[0,0]]\n", sync=False) in store.receive(FlushTree())


# --- the checkpoint ---


@pytest.mark.rule("D1", "D8")
def test_a_checkpoint_is_told_after_the_lines_before_it_are_written_with_where_they_end(host: StoreHost) -> None:
    host.append(Entry("user", "a"), Entry("user", "b"))
    host.effects.clear()
    before, after = batch(t=1), batch(t=2)
    host.send(WriteTree((before,), 1), SaveCheckpoint(b"state", 2), WriteTree((after,), 1))
    assert ["store:Flush", f"Persist {TREE}", "index:Feed", "planner:Written", "index:FeedCheckpoint"] == names(
        host.effects
    )
    line = encode(before)
    assert FeedCheckpoint(b"state", 2, TREE, len(line), crc32(line)) == host.said("index")[-1]


def test_a_checkpoint_with_no_new_line_before_it_ends_where_the_log_did(host: StoreHost) -> None:
    start = StoreStart(5, Position("main/2026-10-04.jsonl", 7, 1), Position("tree/2026-10-04.jsonl", 9, 2))
    host = StoreHost(host.disk, start)
    host.send(SaveCheckpoint(b"one", 5))
    host.send(SaveCheckpoint(b"two", 5), WriteTree((batch(),), 1))
    expected = [FeedCheckpoint(state, 5, "tree/2026-10-04.jsonl", 9, 2) for state in (b"one", b"two")]
    assert expected == [message for message in host.said("index") if isinstance(message, FeedCheckpoint)]


def test_of_checkpoints_that_wait_together_the_last_one_is_told(host: StoreHost) -> None:
    host.send(SaveCheckpoint(b"one", 0), WriteTree((batch(),), 1), SaveCheckpoint(b"two", 0))
    [told] = [message for message in host.said("index") if isinstance(message, FeedCheckpoint)]
    assert (b"two", host.disk.length(TREE)) == (told.state, told.tree_offset)
