"""Looks into the memory, as the index actor answers them: zoom, date, search, at."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from index_kit import filled, full
from log_kit import DATE, MAIN, TREE
from store_kit import PNG, PNG_NAME, MemoryDisk

from eukhe.actors.agent_logs import Head, head_line, path_of
from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.index import IndexActor
from eukhe.actors.messages import At, DateOf, Feed, Look, Looking, Ping, Poisoned, Pong, Search, Seen, Zoom, ZoomAgent
from eukhe.actors.ports import Disk, Index, Place, Placed
from eukhe.errors import IndexFailed, StoreError
from eukhe.limits import (
    IMAGE_BYTES_MAX,
    LOOK_CHARS_MAX,
    LOOK_HITS_MAX,
    LOOK_ID_MAX,
    LOOK_IMAGES_BYTES_MAX,
    PIECE_CHARS_MAX,
)
from eukhe.model.part import Part
from eukhe.model.record import GapRecord, MessageRecord, encode, message, node
from eukhe.model.text import clip
from eukhe.sim.clock import SimClock
from eukhe.sim.index import IndexFile, SimIndex
from eukhe.world.index import SqliteIndex
from tests.actor_kit import Rig, told

pytestmark = pytest.mark.usefixtures("both_runtimes")


class Kit:
    """An index actor on a disk in memory, and the store that it asks whether it is done."""

    def __init__(self, index: Index | None = None, disk: Any = None) -> None:
        self.disk = disk or MemoryDisk()
        self.index = index or SqliteIndex(None)
        self.actor = Rig(lambda: IndexActor(self.disk, self.index, SimClock()), name="index", disk=self.disk)

    def log(self, *records: object, path: str = MAIN) -> Feed:
        """On the disk; the index actor is told by who asked."""
        rows = []
        for record in records:
            line = encode(record)  # type: ignore[arg-type]
            rows.append(Placed(record, Place(path, self.disk.length(path) or 0, len(line))))  # type: ignore[arg-type]
            self.disk.append(path, line)
        return Feed(tuple(rows))

    def feed(self, *records: object, path: str = MAIN) -> None:
        self.actor.receive(self.log(*records, path=path))

    def ask(self, what: Looking) -> int:
        """What the store is asked, before anything is looked at."""
        (asked,) = self.actor.receive(Look(what, "door", 7))
        assert isinstance(asked, Tell)
        assert isinstance(asked.message, Ping)
        assert ("store", "index") == (asked.to, asked.message.reply_to)
        return asked.message.ticket

    def effects(self, what: Looking) -> list[Effect]:
        return self.actor.receive(Pong(self.ask(what)))

    def see(self, what: Looking) -> Seen:
        (seen,) = told(self.effects(what), "door")
        assert isinstance(seen, Seen)
        assert 7 == seen.ticket
        return seen

    def text(self, what: Looking) -> str:
        """Of something that is there."""
        seen = self.see(what)
        assert seen.found, seen.text
        return seen.text

    def none(self, what: Looking) -> str:
        """What is said of something that is not there."""
        seen = self.see(what)
        assert (False, ()) == (seen.found, seen.images)
        return seen.text


def said(i: int, text: str, date: str = DATE, kind: str = "user", images: Sequence[str] = ()) -> MessageRecord:
    return message(i, kind, text, date, images=images)


# --- zoom ---


@pytest.mark.rule("52")
def test_a_zoom_gives_the_two_lines_below_as_a_view_shows_them_and_of_an_unbuilt_one_the_placeholder() -> None:
    kit = Kit()
    kit.feed(*(said(i, f"text {i}") for i in range(5)))
    kit.feed(node(Part(0, 0), "user: <chat>\r\ntext 0"), node(Part(1, 0), "user: both"), path=TREE)
    assert "0+1|user: ‹chat› text 0\n1+1|(not summarized yet: zoom it)" == kit.text(Zoom(0, 2))
    assert "0+2|user: both\n2+2|(not summarized yet: zoom it)" == kit.text(Zoom(0, 4))


@pytest.mark.rule("52")
@pytest.mark.parametrize(
    ("first", "count"),
    [(0, 3), (1, 2), (4, 2), (4, 4), (0, 8), (5, 1), (-1, 1), (-2, 2), (0, 0), (0, -2), (1 << 62, 1), (0, 1 << 62)],
)
def test_a_line_that_there_is_not_is_said(first: int, count: int) -> None:
    kit = Kit()
    kit.feed(*(said(i, f"text {i}") for i in range(5)))
    assert f"No line {first}+{count}." == kit.none(Zoom(first, count))


@pytest.mark.rule("53")
def test_a_message_is_shown_whole_with_its_images() -> None:
    kit = Kit()
    text = "line\n\u2028 two </chat>\n" * 1_000
    kit.feed(said(0, text, images=[PNG_NAME]))
    kit.disk.replace(f"images/{PNG_NAME}", PNG, sync=True)
    assert Seen(7, f"user: {text}", (PNG,)) == kit.see(Zoom(0, 1))


@pytest.mark.rule("53")
def test_an_image_that_is_missing_changed_or_no_image_of_ours_is_said_and_no_other_file_is_read() -> None:
    kit = Kit()
    other = "0" * 64 + ".png"
    kit.feed(said(0, "look", images=["../../secret", PNG_NAME, other, f"{PNG_NAME}.bak", "a.png"]))
    kit.disk.replace(f"images/{other}", PNG, sync=True)
    assert [
        "user: look",
        "[image ../../secret] can't be shown: its name is none that an image has",
        f"[image {PNG_NAME[:12]}] can't be shown: its file is missing",
        "[image 000000000000] can't be shown: its file is not as it was stored",
        f"[image {PNG_NAME[:12]}] can't be shown: its name is none that an image has",
        "[image a.png] can't be shown: its name is none that an image has",
    ] == kit.text(Zoom(0, 1)).split("\n")


@pytest.mark.rule("53")
def test_images_are_shown_as_far_as_there_is_room_for_them() -> None:
    kit = Kit()
    half, huge = (PNG.ljust(length, b"x") for length in (LOOK_IMAGES_BYTES_MAX // 2 + 1, IMAGE_BYTES_MAX + 1))
    names = {data: f"{hashlib.sha256(data).hexdigest()}.png" for data in (half, huge)}
    for data, name in names.items():
        kit.disk.replace(f"images/{name}", data, sync=True)
    kit.feed(said(0, "look", images=[names[huge], names[half], names[half]]))
    seen = kit.see(Zoom(0, 1))
    assert (half,) == seen.images
    assert [
        "user: look",
        f"[image {names[huge][:12]}] can't be shown: its 20,000,001 bytes are too many",
        f"[image {names[half][:12]}] can't be shown: its 12,000,001 bytes are too many",
    ] == seen.text.split("\n")


@pytest.mark.rule("53")
def test_a_lost_message_is_lost() -> None:
    kit = Kit()
    kit.feed(said(0, "one"), GapRecord(1, 3), said(3, "four"))
    assert "(lost)" == kit.text(Zoom(2, 1))
    assert "No message 2." == kit.none(DateOf(2))


def test_a_message_that_another_program_logged_far_too_long_is_shown_in_part() -> None:
    kit = Kit()
    kit.feed(said(0, "x" * (LOOK_CHARS_MAX + 9)))
    assert clip("user: " + "x" * (LOOK_CHARS_MAX + 9), LOOK_CHARS_MAX) == kit.text(Zoom(0, 1))


# --- an agent ---


def agent(disk: Disk, name: str, *texts: str) -> None:
    lines = [encode(message(i, "eukhe", text, DATE, f"k{i}")) for i, text in enumerate(texts)]
    disk.append(path_of(name), head_line(Head(name, "key", DATE)) + b"".join(lines))


@pytest.mark.rule("54")
def test_an_agents_whole_chat_is_shown_page_by_page() -> None:
    kit = Kit()
    texts = [f"{i} " + "word\n" * 3_000 for i in range(5)]
    agent(kit.disk, "Rita", *texts)
    pages = [kit.text(ZoomAgent("Rita", page)) for page in (1, 2, 3)]
    assert [
        '[page 1 of 3; zoom("Rita", 2) gives the next]',
        '[page 2 of 3; zoom("Rita", 3) gives the next]',
        "[page 3 of 3]",
    ] == [page.rpartition("\n")[2] for page in pages]
    bodies = [page.rpartition("\n")[0] for page in pages]
    assert "\n".join(f"eukhe: {text}" for text in texts) == "".join(bodies)
    assert max(map(len, bodies)) <= PIECE_CHARS_MAX
    assert pages[0] == kit.text(ZoomAgent("rita"))
    for page in (0, 4, -1, 1 << 62):
        assert f"No page {page}: the chat of Rita has 3 pages." == kit.none(ZoomAgent("Rita", page))


@pytest.mark.rule("54")
def test_an_agent_whose_last_line_was_torn_is_shown_without_it_and_one_that_said_nothing_is_empty() -> None:
    kit = Kit()
    agent(kit.disk, "Rita", "one", "two")
    kit.disk.append(path_of("Rita"), encode(message(2, "eukhe", "three", DATE))[:30])
    assert "eukhe: one\neukhe: two\n[page 1 of 1]" == kit.text(ZoomAgent("Rita"))
    agent(kit.disk, "Silent")
    assert "\n[page 1 of 1]" == kit.text(ZoomAgent("Silent"))


@pytest.mark.rule("54")
@pytest.mark.parametrize("name", ["Nobody", "", "../main/2026-10-05", "Rita.jsonl", "Torn", "x" * 999, "Rita\n"])
def test_an_agent_that_there_is_not_is_said_and_a_name_leads_nowhere_else(name: str) -> None:
    kit = Kit()
    kit.feed(said(0, "one"))
    agent(kit.disk, "Rita", "one")
    kit.disk.append(path_of("Torn"), b'{"agent":"To')
    assert f"No agent {name}." == kit.none(ZoomAgent(name))


# --- dates and words ---


@pytest.mark.rule("56")
def test_a_date_is_told_with_its_offset() -> None:
    kit = Kit()
    kit.feed(said(0, "one", "2026-10-05T09:32:11+02:00"), said(1, "two", "2026-10-05T07:32:11Z"))
    assert "2026-10-05 09:32:11 +02:00" == kit.text(DateOf(0))
    assert "2026-10-05 07:32:11 +00:00" == kit.text(DateOf(1))
    for i in (-1, 2, 1 << 62):
        assert f"No message {i}." == kit.none(DateOf(i))


@pytest.mark.rule("D15")
def test_a_search_gives_at_most_ten_messages_each_with_the_place_that_was_found() -> None:
    kit = Kit()
    before = "so much that stands before it " * 9
    kit.feed(
        *(said(i, f"{before}the Größe\nof sawtooth {i} {before}", kind="echo") for i in range(12)), said(12, "else")
    )
    hits = kit.text(Search("SAWTOOTH - große")).split("\n")
    assert LOOK_HITS_MAX == len(hits)
    assert hits[0].startswith("11|2026-10-05 09:32:11 +02:00|echo: …")
    assert all("the Größe of sawtooth" in hit for hit in hits)
    assert max(map(len, hits)) < 300
    assert ["12|2026-10-05 09:32:11 +02:00|user: else"] == kit.text(Search("else")).split("\n")


@pytest.mark.rule("D15")
def test_a_search_that_finds_nothing_says_so() -> None:
    kit = Kit()
    kit.feed(said(0, "one"))
    assert "No message has all of these words: one orchard" == kit.none(Search(" one orchard "))
    assert "There is nothing to search for: give words that a message may hold." == kit.none(Search(" ' \"  "))


@pytest.mark.rule("D15")
def test_the_messages_nearest_to_a_time_are_told_in_the_order_of_their_dates() -> None:
    kit = Kit()
    # An import brings what is older under higher ids.
    dates = [f"2026-10-0{day}T{hour:02}:00:00+02:00" for day in (4, 1) for hour in range(8, 20)]
    kit.feed(*(said(i, f"text {i}", date) for i, date in enumerate(dates)), said(24, "dateless", "never"))
    hits = kit.text(At("2026-10-01 09:10")).split("\n")
    assert LOOK_HITS_MAX == len(hits)
    assert [f"{i}|2026-10-01 {i - 4:02}:00:00 +02:00|user: text {i}" for i in range(12, 22)] == hits
    assert hits == kit.text(At("4 days ago 9:10")).split("\n")  # the clock shows the 5th
    assert "0|" == kit.text(At("yesterday midnight"))[:2]


@pytest.mark.rule("D15")
def test_a_time_that_can_not_be_read_is_said_with_examples() -> None:
    kit = Kit()
    assert kit.none(At(" the other day ")).startswith(
        "'the other day' is no date or time that can be read; as in: 2026-10-05, 2026-10-05 14:30, "
    )
    assert "There is no message with a date." == kit.none(At("today"))


# --- what was just logged ---


@pytest.mark.rule("D15")
@pytest.mark.parametrize("index", [lambda: SqliteIndex(None), lambda: SimIndex(IndexFile())])
def test_what_was_acknowledged_before_a_look_is_seen_by_it(index: Any) -> None:
    """The store tells the asker before it tells the index."""
    kit = Kit(index())
    feed = kit.log(said(0, "sawtooth"))
    looks = [Zoom(0, 1), DateOf(0), Search("sawtooth"), At("today")]
    numbers = [kit.ask(look) for look in looks]
    kit.actor.receive(feed)
    for number in numbers:
        (seen,) = told(kit.actor.receive(Pong(number)), "door")
        assert isinstance(seen, Seen)
        assert seen.found, seen


# --- where it can't be read ---


@pytest.mark.parametrize("what", [Zoom(1, 1), DateOf(1), Search("hello"), At("2026-10-05")])
def test_an_index_that_leads_astray_is_emptied_and_the_looker_is_told(tmp_path: Path, what: Looking) -> None:
    kit = Kit(filled(tmp_path / "index.db"))
    kit.disk.append(MAIN, encode(message(5, "user", "another", DATE)) * 9)
    effects = kit.effects(what)
    ((poisoned,), (seen,)) = told(effects, "planner"), told(effects, "door")
    assert isinstance(poisoned, Poisoned)
    assert Seen(7, poisoned.why, found=False) == seen
    assert "index.db: leads to main/2026-10-05.jsonl" in poisoned.why
    assert (0, 0) == kit.index.counts()
    # It is empty now, so that "not found" would be a lie.
    for other in (Zoom(0, 1), Search("hello"), DateOf(0), At("today")):
        assert poisoned.why == kit.none(other)
    kit.index.close()  # type: ignore[attr-defined]


def test_an_index_that_can_not_be_written_finds_what_it_has_and_says_that_this_is_not_all(tmp_path: Path) -> None:
    kit = Kit(SqliteIndex(tmp_path / "index.db"))
    kit.feed(said(0, "sawtooth"))
    kit.actor.receive(Feed(()))
    kit.index.commit()
    full(kit.index)  # type: ignore[arg-type]
    kit.feed(*(said(i, f"{i} " * 300) for i in range(1, 600)))
    partial = "(The index can't be written: what was logged since is not among these.)"
    assert ["0|2026-10-05 09:32:11 +02:00|user: sawtooth", partial] == kit.text(Search("sawtooth")).split("\n")
    assert partial == kit.none(Search("599")).split("\n")[-1]
    assert partial == kit.text(At("today")).split("\n")[-1]
    assert kit.text(Zoom(599, 1)).startswith("user: 599 599")
    assert "No line 600+1." == kit.none(Zoom(600, 1))
    kit.index.close()  # type: ignore[attr-defined]


class Unreadable(MemoryDisk):
    def read(self, path: str, offset: int = 0, length: int = -1) -> bytes:
        raise StoreError(path, 5, "Input/output error")


@pytest.mark.rule("D15")
@pytest.mark.parametrize("index", [lambda: SqliteIndex(None), lambda: SimIndex(IndexFile())])
def test_what_was_logged_since_a_turn_began_is_no_hit(index: Callable[[], Index]) -> None:
    kit = Kit(index())
    kit.feed(said(0, "a lamp"), said(1, "another"), *(said(i, '{"words":"lamp"} lamp', kind="tool") for i in (2, 3)))
    assert [0] == [int(hit.partition("|")[0]) for hit in kit.text(Search("lamp", 2)).split("\n")]
    assert 3 == len(kit.text(Search("lamp")).split("\n"))
    assert [0, 1] == [int(hit.partition("|")[0]) for hit in kit.text(At(DATE, 2)).split("\n")]
    assert "No message has all of these words: lamp" == kit.none(Search("lamp", 0))


def test_a_log_that_can_not_be_read_is_the_lookers_trouble_alone() -> None:
    kit = Kit(disk=Unreadable())
    kit.feed(said(0, "one"))
    (effect,) = kit.effects(Zoom(0, 1))
    assert Tell("door", Seen(7, "main/2026-10-05.jsonl: Input/output error (errno 5)", found=False)) == effect


class Busy(SimIndex):
    def search(self, words: str, limit: int, before: int = LOOK_ID_MAX) -> list[int]:
        raise IndexFailed("index.db", "database is locked", bad=False)


def test_an_index_that_is_not_wrong_and_can_not_be_read_now_stays() -> None:
    kit = Kit(Busy(IndexFile()))
    kit.feed(said(0, "one"))
    (effect,) = kit.effects(Search("one"))
    assert isinstance(effect, Tell)
    assert isinstance(effect.message, Seen)
    assert ("door", False) == (effect.to, effect.message.found)
    assert "database is locked" in effect.message.text
    assert "user: one" == kit.text(Zoom(0, 1))
