"""Actors on threads: mailboxes, timers, crashes, and the order of starting and stopping."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pykka
import pytest

from eukhe.actors.behaviour import EDGE, Behaviour, CancelTimer, Effect, Persist, SetTimer, Tell
from eukhe.actors.messages import (
    Append,
    AppendFailed,
    Entry,
    Failed,
    Flush,
    Leaving,
    Msg,
    Ping,
    Pong,
    SaveView,
    Sync,
    Synced,
    Tick,
)
from eukhe.actors.threads import ThreadHost, Threads
from eukhe.errors import Bug, IndexFailed
from eukhe.limits import CRASH_MESSAGE_CHARS_MAX
from eukhe.model.part import Part
from eukhe.world.clock import RealClock
from eukhe.world.disk import RealDisk
from eukhe.world.workers import OfflineWorkers

Answers = Callable[[Msg], Sequence[Effect]]


class Scripted:
    """A behaviour that is up, finishes, and else does what a function says."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        match message:
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket) if reply_to != EDGE:
                return [Tell(reply_to, Synced(ticket))]
        return self.answers(message)


def system(folder: Path, **actors: Answers) -> Threads:
    makers: dict[str, Callable[[], Behaviour]] = {
        name: lambda answers=answers: Scripted(answers)  # type: ignore[misc]
        for name, answers in actors.items()
    }
    return Threads(makers, RealDisk(folder), RealClock(), OfflineWorkers())


def answer_sync(message: Msg) -> Sequence[Effect]:
    assert isinstance(message, Sync)
    return [Tell(message.reply_to, Synced(message.ticket))]


def test_the_edge_asks_and_gets_its_answer_by_its_ticket(tmp_path: Path) -> None:
    threads = system(tmp_path, one=answer_sync)
    threads.begin()
    first, second = threads.edge.ticket(), threads.edge.ticket()
    for ticket in (first, second):
        threads.tell("one", Sync(EDGE, ticket))
    assert Synced(second) == threads.edge.answer(second)
    assert Synced(first) == threads.edge.answer(first)
    threads.end()


def test_an_answer_that_does_not_come_is_a_timeout(tmp_path: Path) -> None:
    threads = system(tmp_path, one=lambda message: [])
    threads.begin()
    with pytest.raises(TimeoutError):
        threads.edge.ask("one", Sync, 0)
    threads.end()


def test_nothing_is_left_after_the_end(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    threads = system(tmp_path, one=lambda message: [SetTimer("later", 3600, Tick())], two=answer_sync)
    threads.begin()
    threads.tell("one", Tick())
    threads.edge.ask("two", Sync)
    threads.end()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert before == set(threading.enumerate())
    assert [] == pykka.ActorRegistry.get_by_class(ThreadHost)


def test_timers_tell_in_their_order_and_one_that_is_set_again_or_taken_back_does_not(tmp_path: Path) -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        if isinstance(message, Tick):
            return [
                SetTimer("again", 3_600, Synced(101)),
                SetTimer("again", 0.02, Synced(102)),
                SetTimer("back", 3_600, Synced(103)),
                CancelTimer("back"),
                SetTimer("last", 0.04, Synced(104)),
            ]
        assert isinstance(message, Synced)
        return [Tell(EDGE, message)]

    threads = system(tmp_path, one=answers)
    threads.begin()
    threads.tell("one", Tick())
    assert Synced(104) == threads.edge.answer(104)
    assert {102: Synced(102)} == threads.edge.early
    assert {} == threads.timers.current
    threads.end()


@pytest.mark.parametrize("far_s", [1e10, 1e300, float("inf")])
def test_a_timer_that_is_too_far_away_for_a_thread_to_wait_for_keeps_no_other_from_its_time(
    tmp_path: Path, far_s: float
) -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        if isinstance(message, Tick):
            return [SetTimer("far", far_s, Synced(101)), SetTimer("near", 0.02, Synced(102))]
        assert isinstance(message, Synced)
        return [SetTimer("next", 0.02, Synced(message.ticket + 1)), Tell(EDGE, message)]

    threads = system(tmp_path, one=answers)
    threads.begin()
    threads.tell("one", Tick())
    assert [Synced(102), Synced(103)] == [threads.edge.answer(ticket) for ticket in (102, 103)]
    threads.end()


@pytest.mark.rule("6")
def test_a_failed_effect_drops_what_stands_after_it_and_is_told_to_the_behaviour(tmp_path: Path) -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        match message:
            case Flush():
                return [Persist("no/such/folder", b"line\n"), Tell(EDGE, Synced(1))]
            case Failed(why):
                return [Tell(EDGE, AppendFailed(2, why))]
        raise AssertionError(message)

    threads = system(tmp_path, one=answers)
    threads.begin()
    threads.tell("one", Flush())
    failed = threads.edge.answer(2)
    assert isinstance(failed, AppendFailed)
    assert failed.why.startswith(f"{tmp_path}/no/such/folder: No such file or directory (errno 2)")
    assert {} == threads.edge.early
    threads.end()


def test_an_index_that_fails_a_behaviour_is_told_to_it_and_is_no_crash(tmp_path: Path) -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        match message:
            case Failed(why):
                return [Tell(EDGE, AppendFailed(2, why))]
        raise IndexFailed("index.db", "disk image is malformed")

    threads = system(tmp_path, one=answers)
    threads.begin()
    threads.tell("one", Tick())
    assert AppendFailed(2, str(IndexFailed("index.db", "disk image is malformed"))) == threads.edge.answer(2)
    threads.end()


def test_a_behaviour_that_raises_ends_the_system_with_its_last_messages(tmp_path: Path) -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        raise KeyError("nothing here")

    threads = system(tmp_path, one=answers, two=answer_sync)
    threads.begin()
    threads.tell("one", Tick())
    with pytest.raises(Bug, match="one: KeyError: 'nothing here'") as raised:
        threads.edge.ask("two", Sync)
        threads.edge.answer(-1)
    assert "Traceback" in raised.value.told
    assert raised.value.told.endswith("last messages:\n  Ping(reply_to='supervisor', ticket=1)\n  Tick()")
    with pytest.raises(Bug):
        threads.end()


def test_a_crash_tells_little_of_large_messages_and_keeps_none_but_the_last(tmp_path: Path) -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        if isinstance(message, Append) and message.ticket == 2:
            raise KeyError("nothing here")
        return []

    threads = system(tmp_path, one=answers)
    threads.begin()
    threads.tell("one", SaveView((Part(0, 0), Part(0, 1))))
    for ticket in (1, 2):
        threads.tell("one", Append((Entry("user", "x" * 10_000),), EDGE, ticket))
    with pytest.raises(Bug) as raised:
        threads.edge.hear(None)
    _, _, last = raised.value.told.rpartition("last messages:\n")
    lines = last.split("\n")
    assert ["  Ping(reply_to='supervisor', ticket=1)", "  SaveView(…)", "  Append(…)"] == lines[:3]
    assert (4, CRASH_MESSAGE_CHARS_MAX) == (len(lines), len(lines[3]))
    assert lines[3].startswith("  Append(entries=(Entry(kind='user', text='xxx")
    with pytest.raises(Bug):
        threads.end()


def test_a_behaviour_that_can_not_be_made_ends_the_start(tmp_path: Path) -> None:
    def make() -> Behaviour:
        raise ValueError("no chat")

    threads = Threads({"one": make}, RealDisk(tmp_path), RealClock(), OfflineWorkers())
    with pytest.raises(Bug, match="one: ValueError: no chat"):
        threads.begin()
    with pytest.raises(Bug):
        threads.end()


def test_a_message_to_an_actor_that_has_stopped_is_dropped(tmp_path: Path) -> None:
    threads = system(tmp_path, one=answer_sync)
    threads.begin()
    threads.end()
    threads.tell("one", Tick())
    assert threads.edge.mail.empty()


# --- the edge hears what it did not ask for ---


def test_what_nobody_asked_for_does_not_get_in_the_way_of_an_answer(tmp_path: Path) -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        return [Tell(EDGE, Leaving("stop")), *answer_sync(message)]

    threads = system(tmp_path, one=answers)
    threads.begin()
    assert isinstance(threads.edge.ask("one", Sync), Synced)
    assert Leaving("stop") == threads.edge.hear(0)
    with pytest.raises(TimeoutError):
        threads.edge.hear(0)
    threads.tell("one", Sync(EDGE, 7))
    assert [Leaving("stop"), Synced(7)] == [threads.edge.hear(None) for _ in range(2)]
    threads.end()


def test_a_system_that_goes_down_is_heard(tmp_path: Path) -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        raise KeyError("nothing here")

    threads = system(tmp_path, one=answers)
    threads.begin()
    threads.tell("one", Tick())
    with pytest.raises(Bug, match="one: KeyError: 'nothing here'"):
        threads.edge.hear(None)
    with pytest.raises(Bug):
        threads.end()
