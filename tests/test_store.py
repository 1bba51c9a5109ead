"""The store, one message at a time: messages, day files, images, sync."""

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from store_kit import MAIN, PNG, PNG_NAME, ZONE, StoreHost, batch, folder, messages_of, names, reopen

from eukhe.actors.behaviour import Replace
from eukhe.actors.messages import (
    AppendDone,
    AppendFailed,
    Entry,
    Feed,
    Logged,
    Logging,
    Ping,
    Pong,
    Sync,
    Synced,
    Tick,
    WriteTree,
)
from eukhe.errors import Bug
from eukhe.limits import IMAGE_BYTES_MAX, PIECE_CHARS_MAX, TOOL_RESULT_CHARS_MAX
from eukhe.model.record import encode
from eukhe.world.disk import RealDisk
from tests.actor_kit import Runtime

pytestmark = pytest.mark.usefixtures("both_runtimes")


@pytest.fixture
def host(both_runtimes: Runtime, tmp_path: Path) -> Iterator[StoreHost]:
    with closing(RealDisk(folder(tmp_path / "chat"))) as disk:
        yield StoreHost(disk)


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


def test_surrogates_and_nul_are_logged_as_replacement_characters(host: StoreHost, both_runtimes: Runtime) -> None:
    high, low = ("\ud83d", "\udc00") if both_runtimes.name == "threads" else "\0\0"  # no bytes stand for a surrogate
    host.append(Entry("user", f"a\0b{high}c", key=f"k{low}"))
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
    host.send(WriteTree((batch(),), 1))
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


# --- sync, ping ---


def test_a_sync_is_answered_after_all_before_it_and_not_before(host: StoreHost) -> None:
    host.send(host.order(Entry("user", "a")), WriteTree((batch(),), 1), Sync("cli", 7))
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


def test_every_sync_is_answered_once(host: StoreHost) -> None:
    host.send(Sync("cli", 1))
    host.send(Sync("cli", 2), host.order(Entry("user", "a")), Sync("cli", 3))
    host.append(Entry("user", "b"))
    assert [Synced(1), Synced(2), Synced(3)] == host.said("cli")


def test_a_ping_is_answered_at_once(host: StoreHost) -> None:
    host.send(Ping("supervisor", 3))
    assert [("supervisor", Pong(3))] == host.told


def test_a_message_that_is_not_the_stores_is_a_bug(host: StoreHost) -> None:
    with pytest.raises(Bug):
        host.actor.receive(Tick())
