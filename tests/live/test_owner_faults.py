"""Owners that are killed, stopped and told to end while clients append: nothing acknowledged is lost, or twice."""

import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from eukhe.actors.archive import Archive
from eukhe.actors.opening import open_chat
from eukhe.cli.command import Given
from eukhe.cli.reading import reading
from eukhe.model.chat import ChatLimits
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from tests.chat_kit import eukhe, logs, messages
from tests.live.live_kit import Ack, Appending, command, kill, text_of

STARTUP_S = 0.3  # in which an owner starts, about


# --- what must hold afterwards ---


def assert_whole(home: Path, acks: Sequence[Ack], fresh: Path) -> None:
    """All that was acknowledged is there once, in its place, and the memory is as if nobody had been killed."""
    assert_logged(home, acks)
    assert 0 == command(home, "memory", "build").code
    assert seen(home) == folded(home)
    assert 0 == command(home, "stop").code
    verified = command(home, "chat", "verify")
    assert (0, "") == (verified.code, verified.err)
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
    appending = Appending(home, mode)
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
