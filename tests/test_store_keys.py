"""Keys: the same key is logged once, whatever is sent again and wherever it crashed."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_kit import MemoryDisk, StoreHost, folder, messages_of, reopen

from eukhe.actors.messages import (
    AppendDone,
    AppendFailed,
    Entry,
    FreeNode,
    Logging,
    WriteTree,
)
from eukhe.limits import KEY_BYTES_MAX, PIECE_CHARS_MAX
from eukhe.model.key import piece_of
from eukhe.model.part import Part
from eukhe.model.record import MessageRecord
from eukhe.world.disk import RealDisk
from tests.actor_kit import Runtime, example

pytestmark = pytest.mark.usefixtures("both_runtimes")


@pytest.fixture
def host(both_runtimes: Runtime, tmp_path: Path) -> Iterator[StoreHost]:
    with closing(RealDisk(folder(tmp_path / "chat"))) as disk:
        yield StoreHost(disk)


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
    host.send(WriteTree((FreeNode(Part(0, 0)),), 1))
    recent = host.actor.behaviour._recent
    assert (1, 1, 1) == (len(recent._messages), len(recent._keys), len(recent._nodes))
    host.commit()
    assert (0, 0, 0, 0) == (len(recent._messages), len(recent._keys), len(recent._nodes), len(recent._fed))
    host.append(Entry("user", "a", key="k"))
    assert ["k", "k"] == host.library.asked


@pytest.mark.rule("D2")
def test_pieces_that_an_export_brought_are_found_under_the_whole_texts_key(host: StoreHost) -> None:
    text = "a" * PIECE_CHARS_MAX + "b"
    host.append(Entry("user", text[:PIECE_CHARS_MAX], key="k#1/2"), Entry("user", "b", key="k#2/2"))
    for _ in range(2):
        assert (Logging(0, 2, 0),) == host.append(Entry("user", text, key="k"))
        assert (Logging(0, 2, 0, differs=True),) == host.append(Entry("user", "b", key="k"))
        host.commit()


# --- laws, over any history of appends, resends, commits and crashes ---

KEYS = ("k", "l#", "l#1")
TEXTS = ("", "a", "b", "a" * 45, "b" * 45, "a" * 25, "line\n" * 9)
ENTRIES = st.builds(
    lambda key, text: Entry("user", text, key=key), st.sampled_from([*KEYS, None]), st.sampled_from(TEXTS)
)
APPENDS = st.lists(st.lists(ENTRIES, min_size=1, max_size=3), min_size=1, max_size=3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), APPENDS),
        st.tuples(st.just("crash"), APPENDS, st.integers(0, 700)),
        st.tuples(st.just("commit")),
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def small_pieces() -> Iterator[None]:
    """Pieces so small that a crash can tear anywhere between them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eukhe.model.text.PIECE_CHARS_MAX", 20)
        patch.setattr("eukhe.model.text.PIECE_SEARCH_CHARS", 6)
        yield


def live(steps: list[tuple[Any, ...]]) -> tuple[MemoryDisk, list[tuple[Entry, Logging]]]:
    """A store's life: the disk it leaves, and each entry with its acknowledgement. A crash's appends are sent again."""
    disk = MemoryDisk()
    host = StoreHost(disk)
    acknowledged: list[tuple[Entry, Logging]] = []

    def send(appends: list[list[Entry]]) -> bool:
        orders = [host.order(*entries) for entries in appends]
        host.send(*orders)
        for order, answer in zip(orders, host.answers()[-len(orders) :], strict=True):
            if isinstance(answer, AppendFailed):
                return False
            assert order.ticket == answer.ticket
            acknowledged.extend(zip(order.entries, answer.entries, strict=True))
        return True

    for step in steps:
        if step[0] == "commit":
            host.commit()
        elif step[0] == "append":
            assert send(step[1])
        else:
            disk.fail, disk.kept = disk.writes, step[2]
            done = send(step[1])
            disk.fail = None
            host = reopen(disk)
            assert done or send(step[1])
    return disk, acknowledged


def logged_under(disk: MemoryDisk, key: str) -> list[MessageRecord]:
    """A key's messages, in the order of their pieces."""
    of_key = [record for record in messages_of(disk) if record.key is not None and piece_of(record.key)[0] == key]
    return sorted(of_key, key=lambda record: piece_of(record.key or "")[1])


@pytest.mark.rule("D2")
@pytest.mark.usefixtures("small_pieces")
@given(STEPS)
def test_key_once(steps: list[tuple[Any, ...]]) -> None:
    """However often a key is sent, wherever it crashed: its messages are logged once, and every answer names them."""
    with example():
        disk, acknowledged = live(steps)
    records = messages_of(disk)
    assert list(range(len(records))) == [record.i for record in records]
    keys = [record.key for record in records if record.key is not None]
    assert len(set(keys)) == len(keys)
    assert sum(answer.new for _, answer in acknowledged) <= len(records)
    firsts: dict[str, int] = {}
    for entry, answer in acknowledged:
        if entry.key is not None:
            assert firsts.setdefault(entry.key, answer.first) == answer.first


@pytest.mark.rule("10", "D2")
@pytest.mark.usefixtures("small_pieces")
@given(STEPS)
def test_pieces_whole(steps: list[tuple[Any, ...]]) -> None:
    """What was acknowledged, and not for its key's other text, is in the log, character for character."""
    with example():
        disk, acknowledged = live(steps)
    records = messages_of(disk)
    for entry, answer in acknowledged:
        if entry.key is None:
            pieces = records[answer.first : answer.first + answer.count]
            assert entry.text == "".join(record.text for record in pieces)
        elif not answer.differs:
            pieces = logged_under(disk, entry.key)
            assert answer.first == pieces[0].i
            assert entry.text == "".join(record.text for record in pieces)
