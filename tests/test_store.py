"""The store's behaviour, one message at a time, on disks in memory and on real ones."""

import hashlib
from datetime import datetime, timedelta
from pathlib import Path
from zlib import crc32

import orjson
import pytest
from store_kit import ZONE, Library, MemoryDisk, StoreHost, folder, messages_of, reopen, tree_of

from eukhe.actors.behaviour import Replace, Tell
from eukhe.actors.messages import (
    AppendDone,
    AppendFailed,
    Entry,
    Failed,
    Feed,
    FeedCheckpoint,
    Flush,
    FlushTree,
    FreeNode,
    Logged,
    Logging,
    Ping,
    Poisoned,
    Pong,
    SaveCheckpoint,
    SaveView,
    Sync,
    Synced,
    Tick,
    WriteTree,
    Written,
)
from eukhe.actors.ports import Position
from eukhe.actors.store import StoreStart
from eukhe.errors import Bug, StoreError
from eukhe.limits import IMAGE_BYTES_MAX, KEY_BYTES_MAX, PIECE_CHARS_MAX, TOOL_RESULT_CHARS_MAX
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, MessageRecord, NodeRecord, encode, node
from eukhe.world.disk import RealDisk

MAIN = "main/2026-10-05.jsonl"
TREE = "tree/2026-10-05.jsonl"
PNG = b"\x89PNG\r\n\x1a\n and so on"
PNG_NAME = f"{hashlib.sha256(PNG).hexdigest()}.png"


@pytest.fixture
def host(tmp_path: Path) -> StoreHost:
    return StoreHost(RealDisk(folder(tmp_path / "chat")))


def batch(*parts: Part, t: int = 2) -> BatchRecord:
    return BatchRecord(parts, False, t)


def names(effects: list[object]) -> list[str]:
    """Effects by what they do."""
    return [
        f"{effect.to}:{type(effect.message).__name__}"
        if isinstance(effect, Tell)
        else f"{type(effect).__name__} {effect.path}"  # type: ignore[attr-defined]
        for effect in effects
    ]


# --- messages ---


@pytest.mark.rule("1", "2", "6", "D2")
def test_a_message_is_a_line_of_plain_json_with_its_keys_in_order(host: StoreHost) -> None:
    answer = host.append(Entry("user", "hé"), Entry("eukhe", "hi", key="k", date="2020-01-02T03:04:05Z"))
    assert (Logging(0, 1, 1), Logging(1, 1, 1)) == answer
    assert (
        '{"i":0,"kind":"user","text":"hé","size":9,"date":"2026-10-05T09:32:11+02:00"}\n'
        '{"i":1,"kind":"eukhe","text":"hi","size":9,"date":"2020-01-02T03:04:05Z","key":"k"}\n'
    ).encode() == host.disk.read(MAIN)


@pytest.mark.rule("6")
def test_a_flush_persists_then_acknowledges_then_tells_the_index_then_the_planner(host: StoreHost) -> None:
    host.send(host.order(Entry("user", "a", images=(PNG,))))
    assert [
        "store:Flush",
        f"Replace images/{PNG_NAME}",
        f"Persist {MAIN}",
        "asker:AppendDone",
        "index:Feed",
        "planner:Logged",
        "store:FlushTree",
    ] == names(host.effects)
    assert [Logged(0, (len("user: a\n[image 012345678901]"),))] == host.said("planner")


@pytest.mark.rule("6")
def test_sixty_four_appends_in_flight_share_one_write_and_one_fsync(host: StoreHost) -> None:
    host.send(*[host.order(Entry("user", f"message {i}")) for i in range(64)])
    assert 1 == len(host.persists())
    assert list(range(64)) == [done.entries[0].first for done in host.answers() if isinstance(done, AppendDone)]
    assert [Logged(0, tuple(len(f"user: message {i}") for i in range(64)))] == host.said("planner")


def test_ids_have_no_gap_over_many_flushes_and_an_opening(host: StoreHost) -> None:
    for i in range(5):
        host.append(Entry("user", str(i)), Entry("eukhe", str(i)))
    again = reopen(host.disk)
    again.append(Entry("note", "more"))
    assert list(range(11)) == [record.i for record in messages_of(host.disk)]


def test_an_append_of_nothing_is_answered_and_writes_nothing(host: StoreHost) -> None:
    assert () == host.append()
    assert [] == host.persists()


@pytest.mark.rule("8")
@pytest.mark.parametrize("kind", ["thought", "talk", "", "User"])
def test_a_kind_that_is_none_is_refused_and_nothing_of_its_append_is_logged(host: StoreHost, kind: str) -> None:
    host.send(host.order(Entry("user", "a"), Entry(kind, "b")))
    [failed] = host.answers()
    assert isinstance(failed, AppendFailed)
    assert f"{kind!r} is no kind of message" in failed.why
    assert [] == host.persists()


@pytest.mark.parametrize("date", ["", "yesterday", "2026-10-05", "2026-10-05T09:32:11", "2026-13-05T09:32:11Z"])
def test_a_date_without_its_offset_or_of_no_day_is_refused(host: StoreHost, date: str) -> None:
    host.send(host.order(Entry("user", "a", date=date)))
    [failed] = host.answers()
    assert isinstance(failed, AppendFailed)
    assert f"{date!r} is no date" in failed.why


def test_surrogates_and_nul_are_logged_as_replacement_characters(host: StoreHost) -> None:
    host.append(Entry("user", "a\0b\ud83dc", key="k\udc00"))
    [record] = messages_of(host.disk)
    assert ("a\ufffdb\ufffdc", "k\ufffd") == (record.text, record.key)


def test_line_separators_and_control_characters_in_a_text_stay_in_its_line(host: StoreHost) -> None:
    text = "a\u2028b\u0085c\x1b[31m\u202ed\r\ne"
    host.append(Entry("user", text), Entry("user", "next"))
    assert 2 == host.disk.read(MAIN).count(b"\n")
    assert [text, "next"] == [record.text for record in messages_of(host.disk)]


@pytest.mark.rule("9")
def test_a_long_tool_result_keeps_head_and_tail(host: StoreHost) -> None:
    host.append(Entry("echo", "a" * 20_000 + "b" * 20_000))
    [record] = messages_of(host.disk)
    assert TOOL_RESULT_CHARS_MAX == len(record.text)
    assert record.text.startswith("a" * 14_000)
    assert record.text.endswith("b" * 14_000)
    assert "characters cut]" in record.text


@pytest.mark.rule("10", "55")
def test_another_long_text_becomes_messages_in_a_row_that_are_the_text(host: StoreHost) -> None:
    text = "".join(f"line {i}\n" for i in range(10_000))
    assert (Logging(0, 4, 4), Logging(4, 1, 1)) == host.append(Entry("user", text, key="k"), Entry("user", "b"))
    records = messages_of(host.disk)
    assert text == "".join(record.text for record in records[:4])
    assert ["k#1/4", "k#2/4", "k#3/4", "k#4/4", None] == [record.key for record in records]


# --- day files ---


@pytest.mark.rule("2")
def test_a_new_day_begins_a_new_file_and_the_index_is_told_where_each_line_lies(host: StoreHost) -> None:
    host.append(Entry("user", "before midnight"))
    host.clock.now = datetime(2026, 10, 6, 0, 0, 0, tzinfo=ZONE)
    host.append(Entry("user", "after"), Entry("user", "and after that"))
    assert ["2026-10-05.jsonl", "2026-10-06.jsonl"] == host.disk.names("main")
    rows = [row for message in host.said("index") if isinstance(message, Feed) for row in message.rows]
    assert [encode(row.record) for row in rows] == [
        host.disk.read(row.place.path, row.place.offset, row.place.length) for row in rows
    ]


@pytest.mark.rule("2")
def test_a_clock_that_goes_back_goes_on_in_the_newest_file(host: StoreHost) -> None:
    host.append(Entry("user", "a"))
    host.clock.now -= timedelta(days=3)
    host.append(Entry("user", "b"))
    host.send(WriteTree((batch(),)))
    assert ["2026-10-05.jsonl"] == host.disk.names("main")
    assert "2026-10-02T09:32:11+02:00" == messages_of(host.disk)[1].date
    again = reopen(host.disk)
    again.clock.now -= timedelta(days=3)
    again.append(Entry("user", "c"))
    assert ["2026-10-05.jsonl"] == host.disk.names("main")


def test_a_flush_after_midnight_of_a_message_from_before_it_goes_to_the_new_day(host: StoreHost) -> None:
    host.inbox.append(host.order(Entry("user", "a")))
    host.step()
    host.clock.now = datetime(2026, 10, 6, 0, 0, 0, tzinfo=ZONE)
    host.run()
    assert ["2026-10-06.jsonl"] == host.disk.names("main")
    assert "2026-10-05T09:32:11+02:00" == messages_of(host.disk)[0].date


# --- keys ---


@pytest.mark.rule("D2")
def test_the_same_key_is_logged_once_in_one_append_in_one_flush_and_after_both(host: StoreHost) -> None:
    entry = Entry("user", "a", key="k")
    host.send(host.order(entry, entry), host.order(entry))
    host.commit()
    last = host.append(entry)
    again = reopen(host.disk).append(entry)
    first, second = host.answers()[:2]
    assert isinstance(first, AppendDone)
    assert isinstance(second, AppendDone)
    there = Logging(0, 1, 0)
    assert ((Logging(0, 1, 1), there), (there,), (there,), (there,)) == (first.entries, second.entries, last, again)
    assert 1 == len(messages_of(host.disk))


@pytest.mark.rule("D2")
@pytest.mark.parametrize("committed", [False, True])
def test_the_same_key_with_another_text_leaves_the_first_and_says_so(host: StoreHost, committed: bool) -> None:
    long = "a" * (PIECE_CHARS_MAX + 1)
    host.append(Entry("user", "a", key="short"), Entry("user", long, key="long"))
    if committed:
        host.commit()
    for text in ("b", long, "b" * 2 * PIECE_CHARS_MAX):
        assert (Logging(0, 1, 0, differs=True),) == host.append(Entry("user", text, key="short"))
    for text in ("b", "b" * (PIECE_CHARS_MAX + 1), "b" * (2 * PIECE_CHARS_MAX + 1)):
        assert (Logging(1, 2, 0, differs=True),) == host.append(Entry("user", text, key="long"))
    assert 3 == len(messages_of(host.disk))


@pytest.mark.rule("D2")
def test_of_a_text_whose_last_pieces_were_torn_off_only_those_are_logged_again() -> None:
    text = "a" * PIECE_CHARS_MAX + "b" * PIECE_CHARS_MAX + "c"
    disk = MemoryDisk()
    host = StoreHost(disk)
    disk.fail, disk.kept = 0, 2 * PIECE_CHARS_MAX + 220
    host.send(host.order(Entry("user", text, key="k")))
    assert isinstance(host.answers()[0], AppendFailed)
    disk.fail = None
    again = reopen(disk)
    assert (Logging(2, 1, 1),) == again.append(Entry("user", "someone else's"))
    assert (Logging(0, 3, 1),) == again.append(Entry("user", text, key="k"))
    assert [0, 1, 2, 3] == [record.i for record in messages_of(disk)]
    assert ["k#1/3", "k#2/3", None, "k#3/3"] == [record.key for record in messages_of(disk)]
    assert (Logging(0, 3, 0),) == again.append(Entry("user", text, key="k"))


@pytest.mark.rule("D2")
def test_pieces_that_were_torn_off_are_not_made_up_from_another_text() -> None:
    text = "a" * PIECE_CHARS_MAX + "b"
    disk = MemoryDisk()
    host = StoreHost(disk)
    disk.fail, disk.kept = 0, PIECE_CHARS_MAX + 120
    host.send(host.order(Entry("user", text, key="k")))
    disk.fail = None
    again = reopen(disk)
    assert (Logging(0, 1, 0, differs=True),) == again.append(Entry("user", "x" + text[1:], key="k"))
    assert 1 == len(messages_of(disk))


@pytest.mark.rule("D2")
def test_a_key_may_have_200_bytes_and_no_more(host: StoreHost) -> None:
    host.append(Entry("user", "a", key="k" * KEY_BYTES_MAX))
    # A piece's key as an export has it: the limit is for what a caller gives.
    host.append(Entry("user", "piece", key="p" * KEY_BYTES_MAX + "#1/2"))
    host.send(host.order(Entry("user", "b"), Entry("user", "c", key="ö" * (KEY_BYTES_MAX // 2) + "x")))
    failed = host.answers()[-1]
    assert isinstance(failed, AppendFailed)
    assert "more than 200 bytes" in failed.why
    assert 2 == len(messages_of(host.disk))


def test_what_the_index_has_committed_is_forgotten_and_found_through_it(host: StoreHost) -> None:
    host.append(Entry("user", "a", key="k"))
    assert ["k"] == host.library.asked
    host.append(Entry("user", "a", key="k"))
    assert ["k"] == host.library.asked, "the store still knows it"
    host.send(WriteTree((FreeNode(Part(0, 0)),)))
    recent = host.store._recent
    assert (1, 1, 1) == (len(recent._messages), len(recent._keys), len(recent._nodes))
    host.commit()
    assert (0, 0, 0, 0) == (len(recent._messages), len(recent._keys), len(recent._nodes), len(recent._fed))
    host.append(Entry("user", "a", key="k"))
    assert ["k", "k"] == host.library.asked


# --- images ---


@pytest.mark.rule("53")
def test_an_image_is_stored_under_its_hash_before_the_line_that_names_it(host: StoreHost) -> None:
    host.append(Entry("user", "look", images=(PNG, PNG)), Entry("user", "", images=(PNG,)))
    first, second = messages_of(host.disk)
    mark = f"[image {PNG_NAME[:12]}]"
    assert (f"look\n{mark}\n{mark}", (PNG_NAME,)) == (first.text, first.images)
    assert (mark, (PNG_NAME,)) == (second.text, second.images)
    assert PNG == host.disk.read(f"images/{PNG_NAME}")
    assert [Replace(f"images/{PNG_NAME}", PNG, sync=True)] == [
        effect for effect in host.effects if isinstance(effect, Replace)
    ]


def test_an_image_sent_again_with_its_key_is_not_written_again(host: StoreHost) -> None:
    entry = Entry("user", "look", key="k", images=(PNG,))
    host.append(entry)
    assert (Logging(0, 1, 0),) == host.append(entry)
    assert 1 == sum(isinstance(effect, Replace) for effect in host.effects)


def test_what_is_no_image_or_too_large_leaves_a_note_in_its_place(host: StoreHost) -> None:
    big = PNG + b"\0" * IMAGE_BYTES_MAX
    host.append(Entry("user", "look", images=(b"<svg/>", big, PNG)))
    [record] = messages_of(host.disk)
    assert [
        "look",
        "[image left out: it is no PNG, JPEG, GIF or WebP]",
        f"[image left out: its {len(big)} bytes are more than {IMAGE_BYTES_MAX}]",
        f"[image {PNG_NAME[:12]}]",
    ] == record.text.split("\n")
    assert [PNG_NAME] == host.disk.names("images")


@pytest.mark.rule("53")
def test_of_a_split_text_the_piece_with_the_mark_carries_the_image(host: StoreHost) -> None:
    host.append(Entry("user", "a" * PIECE_CHARS_MAX, images=(PNG,)))
    assert [(), (PNG_NAME,)] == [record.images for record in messages_of(host.disk)]
    assert f"\n[image {PNG_NAME[:12]}]" == messages_of(host.disk)[1].text


# --- the tree ---


@pytest.mark.rule("1", "12", "13", "D1")
def test_tree_lines_are_written_as_ordered_and_free_nodes_get_their_text(host: StoreHost) -> None:
    host.append(Entry("user", "a"), Entry("eukhe", "b"))
    lines = (FreeNode(Part(0, 0)), FreeNode(Part(0, 1)), FreeNode(Part(1, 0)), batch(Part(1, 0)))
    host.effects.clear()
    host.send(WriteTree(lines))
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
    host.send(WriteTree((FreeNode(Part(0, 0)), node(Part(0, 1), "said b"))))
    host.commit()
    host.send(WriteTree((FreeNode(Part(1, 0)),)))
    assert node(Part(1, 0), "user: a\nsaid b") == tree_of(host.disk)[-1]


@pytest.mark.rule("12")
def test_a_lost_message_is_a_free_node_that_says_so(host: StoreHost) -> None:
    start = StoreStart(next_id=2)
    host = StoreHost(host.disk, start)
    host.send(WriteTree((FreeNode(Part(0, 0)), FreeNode(Part(0, 1)), FreeNode(Part(1, 0)))))
    assert ["(lost)", "(lost)", "(lost)\n(lost)"] == [record.text for record in tree_of(host.disk)]


def test_messages_and_tree_lines_of_one_flush_are_two_writes_messages_first(host: StoreHost) -> None:
    host.append(Entry("user", "a"))
    host.effects.clear()
    host.send(host.order(Entry("user", "b")), WriteTree((FreeNode(Part(0, 0)),)))
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
            host.store.receive(WriteTree((NodeRecord(Part(0, 0), text, len(text)),)), 0.0)


# --- the view ---


@pytest.mark.rule("1", "25", "D1")
def test_the_view_is_pairs_oldest_first_replaced_without_an_fsync(host: StoreHost) -> None:
    host.send(SaveView((Part(3, 0), Part(0, 8))))
    assert Replace("view.json", b"[[3,0],[0,8]]\n", sync=False) == host.effects[-1]
    assert [[3, 0], [0, 8]] == orjson.loads(host.disk.read("view.json"))


@pytest.mark.rule("25")
def test_while_appends_wait_only_the_latest_view_is_kept_and_then_written(host: StoreHost) -> None:
    store = host.store
    store.receive(host.order(Entry("user", "a")), 0.0)
    store.receive(SaveView((Part(0, 0),)), 0.0)
    store.receive(Flush(), 0.0)
    store.receive(host.order(Entry("user", "b")), 0.0)
    assert [] == list(store.receive(FlushTree(), 0.0))
    store.receive(SaveView((Part(0, 0), Part(0, 1))), 0.0)
    store.receive(Flush(), 0.0)
    assert [Replace("view.json", b"[[0,0],[0,1]]\n", sync=False)] == list(store.receive(FlushTree(), 0.0))


@pytest.mark.rule("25")
@pytest.mark.parametrize("why", [WriteTree((batch(),)), Sync("supervisor", 1)], ids=["a batch", "a stop"])
def test_a_batch_and_a_stop_write_the_view_though_appends_wait(host: StoreHost, why: WriteTree | Sync) -> None:
    store = host.store
    store.receive(host.order(Entry("user", "a")), 0.0)
    store.receive(SaveView((Part(0, 0),)), 0.0)
    store.receive(why, 0.0)
    store.receive(Flush(), 0.0)
    store.receive(host.order(Entry("user", "b")), 0.0)
    assert Replace("view.json", b"[[0,0]]\n", sync=False) in store.receive(FlushTree(), 0.0)


# --- the checkpoint ---


@pytest.mark.rule("D1", "D8")
def test_a_checkpoint_is_told_after_the_lines_before_it_are_written_with_where_they_end(host: StoreHost) -> None:
    host.append(Entry("user", "a"), Entry("user", "b"))
    host.effects.clear()
    before, after = batch(t=1), batch(t=2)
    host.send(WriteTree((before,)), SaveCheckpoint(b"state", 2), WriteTree((after,)))
    assert ["store:Flush", f"Persist {TREE}", "index:Feed", "planner:Written", "index:FeedCheckpoint"] == names(
        host.effects
    )
    line = encode(before)
    assert FeedCheckpoint(b"state", 2, TREE, len(line), crc32(line)) == host.said("index")[-1]


def test_a_checkpoint_with_no_new_line_before_it_ends_where_the_log_did(host: StoreHost) -> None:
    start = StoreStart(5, Position("main/2026-10-04.jsonl", 7, 1), Position("tree/2026-10-04.jsonl", 9, 2))
    host = StoreHost(host.disk, start)
    host.send(SaveCheckpoint(b"one", 5))
    host.send(SaveCheckpoint(b"two", 5), WriteTree((batch(),)))
    expected = [FeedCheckpoint(state, 5, "tree/2026-10-04.jsonl", 9, 2) for state in (b"one", b"two")]
    assert expected == [message for message in host.said("index") if isinstance(message, FeedCheckpoint)]


def test_of_checkpoints_that_wait_together_the_last_one_is_told(host: StoreHost) -> None:
    host.send(SaveCheckpoint(b"one", 0), WriteTree((batch(),)), SaveCheckpoint(b"two", 0))
    [told] = [message for message in host.said("index") if isinstance(message, FeedCheckpoint)]
    assert (b"two", host.disk.length(TREE)) == (told.state, told.tree_offset)


# --- sync, ping ---


def test_a_sync_is_answered_after_all_before_it_and_not_before(host: StoreHost) -> None:
    host.send(host.order(Entry("user", "a")), WriteTree((batch(),)), Sync("cli", 7))
    assert ["asker:AppendDone", "index:Feed", "planner:Logged", "index:Feed", "planner:Written", "cli:Synced"] == [
        f"{to}:{type(message).__name__}" for to, message in host.told
    ]
    assert [Synced(7)] == host.said("cli")


def test_a_sync_between_the_steps_of_a_flush_waits_for_the_append_before_it(host: StoreHost) -> None:
    host.inbox.append(host.order(Entry("user", "a")))
    host.step()
    host.step()  # the flush's first step; its second one waits
    host.inbox.extendleft([Sync("cli", 1), host.order(Entry("user", "b"))])
    host.run()
    told = [f"{to}:{type(message).__name__}" for to, message in host.told]
    assert ["asker:AppendDone", "asker:AppendDone", "cli:Synced"] == [
        line for line in told if line.startswith(("asker", "cli"))
    ]


def test_a_ping_is_answered_at_once(host: StoreHost) -> None:
    host.send(Ping("supervisor", 3))
    assert [("supervisor", Pong(3))] == host.told


def test_a_message_that_is_not_the_stores_is_a_bug(host: StoreHost) -> None:
    with pytest.raises(Bug):
        host.store.receive(Tick(), 0.0)


# --- poisoning ---


@pytest.mark.rule("6")
def test_a_failed_write_acknowledges_nothing_and_fails_all_that_wait_or_come() -> None:
    disk = MemoryDisk()
    host = StoreHost(disk)
    host.append(Entry("user", "a"))
    disk.fail, disk.kept = 1, 30
    host.send(host.order(Entry("user", "b")), host.order(Entry("user", "c")), Sync("cli", 1))
    host.send(host.order(Entry("user", "d")), WriteTree((batch(),)), SaveView(()), SaveCheckpoint(b"", 1))
    why = str(StoreError(MAIN, 5, "Input/output error"))
    assert [AppendFailed(ticket, why) for ticket in (2, 3, 4)] == host.answers()[1:]
    assert [Poisoned(why)] == [message for message in host.said("planner") if isinstance(message, Poisoned)]
    assert [Synced(1)] == host.said("cli")
    assert 2 == disk.writes, "nothing is tried again"
    assert [0] == [record.i for record in messages_of(disk)]


@pytest.mark.rule("6")
def test_when_the_trees_write_fails_what_was_acknowledged_is_not_failed() -> None:
    disk = MemoryDisk()
    host = StoreHost(disk)
    disk.fail = 1
    host.inbox.extend([host.order(Entry("user", "a")), WriteTree((batch(),))])
    for _ in range(3):
        host.step()  # both, then the flush's first step
    host.inbox.appendleft(host.order(Entry("user", "b")))
    host.run()
    assert [(1, AppendDone), (2, AppendFailed)] == [(answer.ticket, type(answer)) for answer in host.answers()]


@pytest.mark.rule("6")
@pytest.mark.parametrize(
    "order", [Entry("user", "a", images=(PNG,)), SaveView((Part(0, 0),))], ids=["an image", "view.json"]
)
def test_a_failed_replace_poisons_too(order: Entry | SaveView) -> None:
    disk = MemoryDisk()
    host = StoreHost(disk)
    disk.fail = 0
    host.send(host.order(order) if isinstance(order, Entry) else order)
    host.send(host.order(Entry("user", "b")))
    assert isinstance(host.answers()[-1], AppendFailed)
    assert [] == messages_of(disk)


def test_a_second_failure_changes_nothing(host: StoreHost) -> None:
    assert 1 == len(host.store.receive(Failed("first"), 0.0))
    assert () == host.store.receive(Failed("second"), 0.0)
    host.send(host.order(Entry("user", "a")))
    assert [AppendFailed(1, "first")] == host.answers()


def test_a_chat_open_for_reading_only_logs_nothing_and_says_why() -> None:
    disk = MemoryDisk()
    host = StoreHost(disk, StoreStart(3, closed="main:4: ids 2 to 2 are missing"))
    host.send(host.order(Entry("user", "a")), WriteTree((batch(),)), SaveView(()), Sync("cli", 1))
    assert [AppendFailed(1, "main:4: ids 2 to 2 are missing")] == host.answers()
    assert [Synced(1)] == host.said("cli")
    assert 0 == disk.writes


def test_a_message_that_cant_be_read_for_its_key_fails_the_append_and_the_store() -> None:
    class Broken(Library):
        def message(self, i: int) -> MessageRecord | None:
            raise StoreError("main/x.jsonl", 5, "Input/output error")

    library = Broken()
    library.keys["k"] = 0
    host = StoreHost(MemoryDisk(), StoreStart(1), library)
    host.send(host.order(Entry("user", "a")), host.order(Entry("user", "b", key="k")))
    assert [AppendFailed, AppendFailed] == [type(answer) for answer in host.answers()]
    assert [2, 1] == [answer.ticket for answer in host.answers()]
