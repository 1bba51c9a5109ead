"""What a store does when a write fails: by hand, and on disks that are really full or broken."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import orjson
import pytest
from store_kit import MAIN, PNG, Library, MemoryDisk, StoreHost, batch, folder, messages_of, reopen

from eukhe.actors.messages import (
    AppendDone,
    AppendFailed,
    Entry,
    Failed,
    FreeNode,
    IndexAstray,
    Logging,
    Poisoned,
    SaveCheckpoint,
    SaveView,
    Sync,
    Synced,
    WriteTree,
)
from eukhe.actors.store import StoreStart
from eukhe.errors import IndexFailed, StoreError
from eukhe.model.part import Part
from eukhe.model.record import MessageRecord
from eukhe.world.disk import RealDisk
from tests.actor_kit import Runtime

MADE_ANEW = "`eukhe doctor` makes it anew from the logs"

pytestmark = pytest.mark.usefixtures("both_runtimes")


@pytest.fixture
def host(both_runtimes: Runtime, tmp_path: Path) -> Iterator[StoreHost]:
    with closing(RealDisk(folder(tmp_path / "chat"))) as disk:
        yield StoreHost(disk)


@pytest.mark.rule("6")
def test_a_failed_write_acknowledges_nothing_and_fails_all_that_wait_or_come() -> None:
    disk = MemoryDisk()
    host = StoreHost(disk)
    host.append(Entry("user", "a"))
    disk.fail, disk.kept = 1, 30
    host.send(host.order(Entry("user", "b")), host.order(Entry("user", "c")), Sync("cli", 1))
    host.send(host.order(Entry("user", "d")), WriteTree((batch(),), 1), SaveView(()), SaveCheckpoint(b"", 1))
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
    host.inbox.extend([host.order(Entry("user", "a")), WriteTree((batch(),), 1)])
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


@pytest.mark.parametrize("part", [Part(0, 0), Part(1, 0)])
def test_a_line_whose_source_the_index_does_not_have_poisons_the_store_and_is_not_made_up(part: Part) -> None:
    disk = MemoryDisk()
    host = StoreHost(disk, StoreStart(next_id=2))
    host.send(WriteTree((batch(), FreeNode(part)), 1))
    (poisoned,) = host.said("planner")
    assert isinstance(poisoned, Poisoned)
    assert poisoned.why == f"index.db: does not have 0+1; {MADE_ANEW}"
    assert 0 == disk.writes


def test_a_second_failure_changes_nothing(host: StoreHost) -> None:
    assert 1 == len(host.actor.receive(Failed("first")))
    assert [] == host.actor.receive(Failed("second"))
    host.send(host.order(Entry("user", "a")))
    assert [AppendFailed(1, "first")] == host.answers()


def test_a_chat_open_for_reading_only_logs_nothing_and_says_why() -> None:
    disk = MemoryDisk()
    host = StoreHost(disk, StoreStart(3, closed="main:4: ids 2 to 2 are missing"))
    host.send(host.order(Entry("user", "a")), WriteTree((batch(),), 1), SaveView(()), Sync("cli", 1))
    assert [AppendFailed(1, "main:4: ids 2 to 2 are missing")] == host.answers()
    assert [Synced(1)] == host.said("cli")
    assert 0 == disk.writes


@pytest.mark.parametrize("broken", ["id_of_key", "message"])
def test_a_key_that_cant_be_looked_up_fails_the_append_and_the_store(broken: str) -> None:
    error = (
        IndexFailed("index.db", "disk I/O error")
        if broken == "id_of_key"
        else StoreError(MAIN, 5, "Input/output error")
    )

    class Broken(Library):
        def id_of_key(self, key: str) -> int | None:
            if broken == "id_of_key":
                raise error
            return 0

        def message(self, i: int) -> MessageRecord | None:
            raise error

    host = StoreHost(MemoryDisk(), StoreStart(1), Broken())
    host.send(host.order(Entry("user", "a")), host.order(Entry("user", "b"), Entry("user", "c", key="k")))
    assert [AppendFailed(2, str(error)), AppendFailed(1, str(error))] == host.answers()
    assert [Poisoned(str(error))] == host.said("planner")
    astray = [message for message in host.said("index") if isinstance(message, IndexAstray)]
    assert ([IndexAstray(str(error))] if broken == "id_of_key" else []) == astray
    assert [] == messages_of(host.disk)


def test_an_index_without_what_a_free_node_is_made_of_is_told_so_and_nothing_is_written() -> None:
    host = StoreHost(MemoryDisk())
    host.send(WriteTree((FreeNode(Part(1, 0)),), 1))
    (poisoned,) = host.said("planner")
    assert isinstance(poisoned, Poisoned)
    assert [IndexAstray(poisoned.why)] == host.said("index")
    assert [] == host.disk.names("tree")


# --- on real disks, in processes of their own ---

HERE = f"{Path(__file__).parent}{os.pathsep}{Path(__file__).parent.parent}"
FILLING = """
import json, sys
from pathlib import Path
from store_kit import StoreHost
from eukhe.actors.messages import AppendDone, Entry
from eukhe.world.disk import RealDisk
from tests.actor_kit import on
{limit}
with on(sys.argv[2]):
    host = StoreHost(RealDisk(Path(sys.argv[1])))
    for i in range(1000):
        host.send(host.order(Entry("user", f"message {{i}} " + "x" * 500)))
answers = host.answers()
done = [answer.entries[0].first for answer in answers if isinstance(answer, AppendDone)]
whys = sorted({{answer.why for answer in answers if not isinstance(answer, AppendDone)}})
print(json.dumps([done, len(answers), whys]))
"""
# Python ignores SIGXFSZ already; said here all the same, since everything hangs on it.
FILE_LIMIT = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_123, 50_123))
"""


def fill(
    chat: Path, runtime: Runtime, limit: str = "", before: tuple[str, ...] = ()
) -> tuple[list[int], int, list[str]]:
    """Appends until it fails and then some: the ids acknowledged, the number of answers, the reasons given."""
    command = [*before, sys.executable, "-c", FILLING.format(limit=limit), str(chat), runtime.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": HERE})
    assert not done.returncode, done.stderr
    ids, answers, whys = orjson.loads(done.stdout.splitlines()[-1])
    return ids, answers, whys


@pytest.mark.rule("6")
def test_a_file_at_its_size_limit_poisons_and_a_new_opening_goes_on(both_runtimes: Runtime, tmp_path: Path) -> None:
    chat = folder(tmp_path / "chat")
    ids, answers, whys = fill(chat, both_runtimes, FILE_LIMIT)
    assert 1000 == answers, "everyone is answered"
    assert [str(StoreError(str(next((chat / "main").iterdir())), errno.EFBIG, os.strerror(errno.EFBIG)))] == whys
    with closing(RealDisk(chat)) as disk:
        assert ids == [record.i for record in messages_of(disk)], "what was acknowledged is there, and nothing else"
        assert 50_123 == disk.length(f"main/{disk.names('main')[0]}"), "a short write left a torn line"
        again = reopen(disk)
        assert (Logging(len(ids), 1, 1),) == again.append(Entry("user", "goes on"))
        assert "goes on" == messages_of(disk)[-1].text


@pytest.mark.rule("6")
def test_a_full_disk_poisons_and_what_was_acknowledged_is_on_it(both_runtimes: Runtime, tmp_path: Path) -> None:
    chat = tmp_path / "chat"
    chat.mkdir()
    copy = tmp_path / "copy"
    script = f'mount -t tmpfs -o size=128k none "{chat}" && mkdir "{chat}/main" && "$@" && cp -r "{chat}" "{copy}"'
    inside = ("unshare", "-m", "sh", "-c", script, "sh")
    if not shutil.which("unshare") or subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    shutil.rmtree(copy)
    ids, answers, whys = fill(chat, both_runtimes, before=inside)
    assert 1000 == answers
    assert 1 == len(whys)
    assert f"{os.strerror(errno.ENOSPC)} (errno {errno.ENOSPC})" in whys[0]
    assert len(ids) > 100
    with closing(RealDisk(copy)) as disk:
        assert ids == [record.i for record in messages_of(disk)]
        assert (Logging(len(ids), 1, 1),) == reopen(disk).append(Entry("user", "goes on"))
