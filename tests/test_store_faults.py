"""What a store does when a write fails: by hand, and on disks that are really full or broken."""

from pathlib import Path

import pytest
from store_kit import MAIN, PNG, Library, MemoryDisk, StoreHost, batch, folder, messages_of

from eukhe.actors.messages import (
    AppendDone,
    AppendFailed,
    Entry,
    Failed,
    Poisoned,
    SaveCheckpoint,
    SaveView,
    Sync,
    Synced,
    WriteTree,
)
from eukhe.actors.store import StoreStart
from eukhe.errors import StoreError
from eukhe.model.part import Part
from eukhe.model.record import MessageRecord
from eukhe.world.disk import RealDisk


@pytest.fixture
def host(tmp_path: Path) -> StoreHost:
    return StoreHost(RealDisk(folder(tmp_path / "chat")))


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
