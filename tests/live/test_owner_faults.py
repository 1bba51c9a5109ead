"""Owners that are killed, stopped and told to end while clients append: nothing acknowledged is lost, or twice."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import orjson
import pytest

from eukhe.actors.archive import Archive
from eukhe.actors.messages import Entry
from eukhe.actors.opening import open_chat
from eukhe.cli import asking, chat_status, service
from eukhe.cli.asking import silent
from eukhe.cli.command import Given
from eukhe.cli.main import run
from eukhe.cli.reading import reading
from eukhe.cli.service import owner_of
from eukhe.errors import ChatLockedError, OwnerSilent
from eukhe.model.chat import ChatLimits
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from eukhe.world.lock import ChatLock
from tests.chat_kit import EUKHE, eukhe, logs, messages, session, talk
from tests.leaks import comes_true, process
from tests.live.live_kit import WAIT_S, Ack, Appending, append, command, heard_of, kill, owner, text_of, verified

STARTUP_S = 0.3  # in which an owner starts, about


# --- what must hold afterwards ---


def assert_whole(home: Path, acks: Sequence[Ack], fresh: Path) -> None:
    """All that was acknowledged is there once, in its place, and the memory is as if nobody had been killed."""
    assert_logged(home, acks)
    assert 0 == command(home, "memory", "build").code
    assert seen(home) == folded(home)
    assert 0 == command(home, "stop").code
    code, said = verified(home)
    assert 0 == code
    # A kill in the midst of a write leaves a line torn, which nobody was told of.
    assert [] == [line for line in said.splitlines() if not line.endswith("; the line is skipped")]
    assert tree(home) == tree(imported(home, fresh))


def assert_logged(home: Path, acks: Sequence[Ack]) -> None:
    logged = messages(home)
    assert list(range(len(logged))) == [message["i"] for message in logged]
    for ack in acks:
        pieces = logged[ack.first : ack.first + ack.count]
        assert text_of(ack.client, ack.n) == "".join(piece["text"] for piece in pieces)
    for client in {ack.client for ack in acks}:
        told = [ack for ack in acks if ack.client == client]
        assert list(range(len(told))) == [ack.n for ack in told]
        assert sorted(ack.first for ack in told) == [ack.first for ack in told]
    assert [] == [text for text, times in Counter(message["text"] for message in logged).items() if times > 1]
    # Besides, each client may have had one text on its way when it was killed.
    assert len(logged) - sum(ack.count for ack in acks) <= 2 * len({ack.client for ack in acks})


def seen(home: Path) -> list[tuple[str, str | None]]:
    """The view that a reader shows."""
    with reading(Given(str(home))) as memory:
        return [(part.name, memory.text(part)) for part in memory.chat.view.parts()]


def folded(home: Path) -> list[tuple[str, str | None]]:
    """The view that the logs alone give, read from their beginning."""
    with closing(RealDisk(home / "chat")) as disk, closing(SqliteIndex(None)) as index:
        opened = open_chat(disk, index, ChatLimits(), owner=False)
        archive = Archive(disk, index)
        return [(part.name, archive.node_text(part)) for part in opened.chat.view.parts()]


def tree(home: Path) -> dict[tuple[int, int], str]:
    nodes = [record for record in map(orjson.loads, logs(home, "tree").splitlines()) if "l" in record]
    return {(node["l"], node["i"]): node["text"] for node in nodes}


def imported(home: Path, fresh: Path) -> Path:
    """A home into which the same messages came, and nobody was killed."""
    export = fresh.with_suffix(".jsonl")
    export.write_text(eukhe(home, "chat", "export").out)
    assert 0 == eukhe(fresh, "chat", "import", "sessions", export).code
    assert 0 == eukhe(fresh, "memory", "build").code
    return fresh


# --- killed ---


def kill_at_random(home: Path, mode: str, kills: int) -> Sequence[Ack]:
    """Kills owners at work and owners that start, while three clients append. What was acknowledged."""
    dice = random.Random(f"{mode} {kills}")
    with Appending(home, mode) as appending:
        for _ in range(kills):
            appending.wait_for(dice.randint(1, 10))
            for wait_s in (0, dice.random() * STARTUP_S)[: dice.randint(1, 2)]:
                time.sleep(wait_s)  # to strike at any moment
                if (pid := kill(home)) is not None:
                    appending.replace(pid)
        appending.wait_for(10)
        appending.end()
    return appending.acks


@pytest.mark.rule("6", "7", "D1", "D2")
@pytest.mark.parametrize("mode", ["background", "here", "mixed"])
def test_of_owners_that_are_killed_nothing_acknowledged_is_lost_or_twice(
    served: Path, tmp_path: Path, mode: str
) -> None:
    assert_whole(served, kill_at_random(served, mode, 12), tmp_path / "fresh")


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.rule("6", "7", "D1", "D2")
@pytest.mark.parametrize("mode", ["background", "here", "mixed"])
def test_of_three_hundred_owners_that_are_killed_nothing_acknowledged_is_lost_or_twice(
    served: Path, tmp_path: Path, mode: str
) -> None:
    assert_whole(served, kill_at_random(served, mode, 300), tmp_path / "fresh")


# --- stopped ---


@pytest.mark.rule("7")
def test_an_owner_that_stands_still_is_waited_for_and_nobody_takes_over(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = heard_of(monkeypatch, asking)
    monkeypatch.setattr(asking, "OWNER_SILENT_S", 0.2)
    with owner_of(Given(str(served))) as owning, ThreadPoolExecutor(1) as pool:
        with standing_still(served) as pid:
            appended = pool.submit(owning.append, Entry("user", "a"))
            assert silent(pid, "waiting") == said.get(timeout=WAIT_S)
            with pytest.raises(ChatLockedError, match=f"owned by pid {pid};"):
                ChatLock(served / "chat", to_own=False)
            assert not appended.done()
        assert 0 == appended.result().first
        assert pid == owner(served)


@pytest.mark.rule("7")
@pytest.mark.parametrize("no_service", [False, True])
def test_who_comes_while_an_owner_stands_still_waits_and_does_not_take_over(
    served: Path, monkeypatch: pytest.MonkeyPatch, no_service: bool
) -> None:
    append(served, "a")
    said = heard_of(monkeypatch, service)
    monkeypatch.setattr(service, "OWNER_SILENT_S", 0.2)
    with ThreadPoolExecutor(1) as pool:
        with standing_still(served) as pid:
            appended = pool.submit(append, served, "b", no_service=no_service)
            assert silent(pid, "waiting") == said.get(timeout=WAIT_S)
        assert 1 == appended.result()
        assert pid == owner(served)


def test_an_owner_that_stands_still_for_too_long_is_given_up(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(served, "a")
    for module in (asking, service):
        monkeypatch.setattr(module, "OWNER_SILENT_S", 0.1)
        monkeypatch.setattr(module, "EDGE_WAIT_S", 0.2)
    with owner_of(Given(str(served))) as owning:
        with standing_still(served) as pid:
            with pytest.raises(OwnerSilent, match=r"may be stopped .*: what was not acknowledged may be missing"):
                owning.append(Entry("user", "b"))
            with pytest.raises(OwnerSilent, match=r"may be stopped .*: nothing was done"):
                append(served, "c")
            assert pid == owner(served)
        monkeypatch.undo()
        assert 2 == owning.append(Entry("user", "d")).first  # b was taken, c was not


def test_an_owner_that_is_killed_while_it_stands_still_is_replaced(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = heard_of(monkeypatch, asking)
    monkeypatch.setattr(asking, "OWNER_SILENT_S", 0.2)
    with owner_of(Given(str(served))) as owning, ThreadPoolExecutor(1) as pool:
        with standing_still(served) as pid:
            appended = pool.submit(owning.append, Entry("user", "a"))
            said.get(timeout=WAIT_S)
            os.kill(pid, signal.SIGKILL)
            assert 0 == appended.result().first
        assert owner(served) not in (None, pid)


def test_stop_waits_for_an_owner_that_stands_still(
    served: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    append(served, "a")
    said = heard_of(monkeypatch, service)
    monkeypatch.setattr(service, "OWNER_SILENT_S", 0.2)
    with ThreadPoolExecutor(1) as pool:
        with standing_still(served) as pid:
            stopped = pool.submit(run, ["--home", str(served), "stop"])
            assert silent(pid, "waiting") == said.get(timeout=WAIT_S)
        assert 0 == stopped.result()
    assert f"pid {pid} has stopped\n" == capfd.readouterr().out


def test_status_of_an_owner_that_stands_still_says_what_it_knows(
    served: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    append(served, "a")
    monkeypatch.setattr(chat_status, "STATUS_WAIT_S", 0.1)
    with standing_still(served) as pid:
        capfd.readouterr()
        assert 0 == run(["--home", str(served), "chat", "status", "--json"])
        printed = capfd.readouterr()
        status = orjson.loads(printed.out)
        assert (1, pid, 0) == (status["messages"], status["owner"], status["running"])
        assert f"{silent(pid, 'what it is at is not known')}\n" == printed.err


@contextmanager
def standing_still(home: Path) -> Iterator[int]:
    """Its owner does nothing while the block runs."""
    pid = owner(home)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    assert comes_true(lambda: (found := process(pid)) is not None and found.state == "T")
    try:
        yield pid
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


# --- told to end ---


def stop_again_and_again(home: Path, stops: int) -> Sequence[Ack]:
    """`eukhe stop` while three clients append, some before the next owner is at work."""
    with Appending(home) as appending:
        appending.wait_for(1)
        for k in range(stops):
            appending.wait_for(k % 5)
            stopped = command(home, "stop")
            assert (0, "") == (stopped.code, stopped.err)
            assert stopped.out.endswith(" has stopped\n") or stopped.out == "no process owns the chat\n"
        appending.wait_for(10)
        appending.end()
    return appending.acks


@pytest.mark.rule("6", "7")
@pytest.mark.parametrize("stops", [5, pytest.param(100, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])])
def test_of_owners_that_are_told_to_end_nothing_is_lost_or_twice(served: Path, tmp_path: Path, stops: int) -> None:
    assert_whole(served, stop_again_and_again(served, stops), tmp_path / "fresh")


def test_when_stop_has_ended_the_chat_is_nobodys(served: Path) -> None:
    for k in range(5):
        assert k == append(served, f"message {k}")
        assert 0 == run(["--home", str(served), "stop"])
        ChatLock(served / "chat", to_own=False).release()


def test_a_client_that_owns_the_chat_ends_when_it_is_told_to_and_says_why(served: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(3_000))
    importing = subprocess.Popen(
        [*EUKHE, "--home", served, "chat", "import", "sessions", "--no-service", path],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert comes_true(lambda: len(logs(served, "main").splitlines()) > 50)
    assert f"pid {importing.pid} has stopped\n" == command(served, "stop").out
    _, err = importing.communicate()
    assert 1 == importing.returncode
    assert err.endswith(
        "eukhe: another eukhe asked this one to end (stop); what was logged stays, run the command again\n"
    )
    assert 0 == command(served, "chat", "verify").code
