"""The runtime on one thread: order, effects, timers, failures, waiting, and that a seed is all there is to a run."""

from collections.abc import Callable, Sequence

import pykka
import pytest

from eukhe.actors.behaviour import Behaviour, CancelTimer, Effect, Persist, SetTimer, StartCall, StopCall, Tell
from eukhe.actors.messages import CallHeard, Failed, Flush, Msg, OwnerFailed, Ping, Pong, Sync, Synced, Tick, ViewDue
from eukhe.actors.ports import Broke, CallEvent, Replied, Request, Responding
from eukhe.errors import Bug
from eukhe.model.part import Part
from eukhe.sim.clock import SimClock
from eukhe.sim.disk import SimDisk
from eukhe.sim.runtime import SimSystem
from eukhe.sim.scheduler import Deadlock, Scheduler
from eukhe.sim.workers import Fate, SimWorkers, replying

LOG = "main/2026-10-05.jsonl"
Answers = Callable[[Msg], Sequence[Effect]]


class Scripted:
    """A behaviour that is up, finishes, and else does what a function says. `got`: what it was told, and when."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.got: list[tuple[float, Msg]] = []

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        match message:
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket):
                return [Tell(reply_to, Synced(ticket))]
        self.got.append((now, message))
        return self.answers(message)


class Stage:
    """A system of scripted actors, begun."""

    def __init__(self, seed: int = 1, fate: Fate | None = None, **actors: Answers) -> None:
        self.clock = SimClock()
        self.disk = SimDisk()
        self.scheduler = Scheduler(seed, self.clock)
        self.workers = SimWorkers(self.scheduler, lambda request, random: fate or replying("a line"))
        self.actors = {name: Scripted(answers) for name, answers in actors.items()}
        makers: dict[str, Callable[[], Behaviour]] = {
            name: lambda actor=actor: actor  # type: ignore[misc]
            for name, actor in self.actors.items()
        }
        self.system = SimSystem(makers, self.disk, self.clock, self.workers, self.scheduler)
        self.system.begin()
        self.scheduler.run()

    def told(self, name: str) -> list[Msg]:
        return [message for _, message in self.actors[name].got]


def quiet(message: Msg) -> Sequence[Effect]:
    return ()


def test_it_begins_and_ends_as_on_threads() -> None:
    stage = Stage(one=quiet, two=quiet)
    refs = list(stage.system.actors.values())
    assert all(ref.is_alive() for ref in refs)
    stage.system.end()
    assert not any(ref.is_alive() for ref in refs)
    assert not stage.scheduler.step()


def test_an_actor_gets_its_messages_in_their_order() -> None:
    stage = Stage(one=quiet)
    sent = [Pong(1), Tick(), Pong(2), Flush()]
    for message in sent:
        stage.system.tell("one", message)
    stage.scheduler.run()
    assert sent == stage.told("one")


def test_a_step_performs_one_effect_and_the_actor_takes_no_message_before_the_last() -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        return [Persist(LOG, b"a"), Persist(LOG, b"b")] if message == Tick() else []

    stage = Stage(one=answers)
    stage.system.tell("one", Tick())
    stage.system.tell("one", Flush())
    seen = []
    while stage.scheduler.step():
        seen.append((stage.disk.length(LOG) or 0, len(stage.told("one"))))
    assert [(0, 1), (1, 1), (2, 1), (2, 2)] == seen


def test_effects_of_two_actors_mix_as_the_seed_says() -> None:
    def writing(letter: bytes) -> Answers:
        return lambda message: [Persist(LOG, letter)] * 4

    written = set()
    for seed in range(10):
        stage = Stage(seed, a=writing(b"a"), b=writing(b"b"))
        for name in ("a", "b"):
            stage.system.tell(name, Tick())
        stage.scheduler.run()
        written.add(stage.disk.read(LOG))
    assert {b"aaaabbbb"} == {bytes(sorted(data)) for data in written}
    assert len(written) > 5


def test_what_follows_an_effect_that_fails_is_dropped_and_the_actor_hears_why() -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        return [Persist(LOG, b"a"), Tell("two", Flush())] if message == Tick() else [Tell("two", Tick())]

    stage = Stage(one=answers, two=quiet)
    stage.disk.fail_at = stage.disk.operations + 2
    stage.system.tell("one", Tick())
    stage.scheduler.run()
    assert [Tick(), Failed(f"{LOG}: Input/output error (errno 5)")] == stage.told("one")
    assert [Tick()] == stage.told("two")


def test_an_actor_that_raises_takes_the_system_down() -> None:
    def breaks(message: Msg) -> Sequence[Effect]:
        raise ZeroDivisionError("by nothing")

    stage = Stage(one=breaks, two=quiet)
    stage.system.tell("one", Tick())
    stage.scheduler.run()
    (said,) = stage.system.heard[1:]
    assert isinstance(said, OwnerFailed)
    assert said.why.startswith("one: ZeroDivisionError: by nothing")
    assert not stage.system.actors["two"].is_alive()
    with pytest.raises(Bug, match="by nothing"):
        stage.system.end()


def test_where_the_code_lies_that_raises_is_no_part_of_what_happened() -> None:
    def here(message: Msg) -> Sequence[Effect]:
        raise ZeroDivisionError("by nothing")

    def there(message: Msg) -> Sequence[Effect]:
        raise ZeroDivisionError("by nothing")

    said, digests = set(), set()
    for breaks in (here, there):
        stage = Stage(one=breaks)
        stage.system.tell("one", Tick())
        with pytest.raises(Bug):
            stage.system.end()
        said |= {message.why for message in stage.system.heard if isinstance(message, OwnerFailed)}
        digests.add(stage.scheduler.digest)
    assert 2 == len(said)
    assert 1 == len(digests)


def test_the_clock_jumps_to_the_next_timer_where_nothing_else_can_run() -> None:
    def answers(message: Msg) -> Sequence[Effect]:
        if message != Flush():
            return []
        return [
            SetTimer("a", 7_200, Tick()),
            SetTimer("b", 60, ViewDue()),
            SetTimer("c", 30, Pong(1)),
            SetTimer("c", 90, Pong(2)),
            SetTimer("d", 10, Pong(3)),
            CancelTimer("d"),
        ]

    stage = Stage(one=answers)
    stage.system.tell("one", Flush())
    stage.scheduler.run()
    assert [(0, Flush()), (60, ViewDue()), (90, Pong(2)), (7_200, Tick())] == stage.actors["one"].got


def calling(message: Msg) -> Sequence[Effect]:
    return [StartCall(1, Request("m", Part(0, 0), ("a",)))] if message == Tick() else []


@pytest.mark.parametrize(
    ("fate", "events"),
    [
        (replying("a line"), [(0, Responding()), (0, Replied("a line"))]),
        (Fate(((3_600, Broke("it broke")),)), [(3_600, Broke("it broke"))]),
        (Fate(((5, Replied("a line")), (5, Replied("a line")))), [(5, Replied("a line"))] * 2),
        (Fate(), []),
    ],
)
def test_a_call_ends_as_it_is_fated_to(fate: Fate, events: list[tuple[float, CallEvent]]) -> None:
    stage = Stage(fate=fate, one=calling)
    stage.system.tell("one", Tick())
    stage.scheduler.run()
    assert [(0, Tick()), *((now, CallHeard(1, event)) for now, event in events)] == stage.actors["one"].got


def test_a_call_that_was_stopped_runs_no_more() -> None:
    stage = Stage(fate=Fate(), one=lambda message: [*calling(message), StopCall(1)] if message == Tick() else [])
    stage.system.tell("one", Tick())
    stage.scheduler.run()
    assert {} == stage.workers.running
    assert 1 == stage.workers.most


def test_who_waits_for_a_future_makes_the_others_go_on() -> None:
    stage = Stage(one=lambda message: [Persist(LOG, b"a")])
    future = stage.system.actors["one"].ask(Tick(), block=False)
    assert future.get() is None
    assert [Tick()] == stage.told("one")
    assert stage.system.actors["one"].stop()
    assert not stage.system.actors["one"].stop()
    with pytest.raises(pykka.ActorDeadError):
        stage.system.actors["one"].ask(Tick())


def test_a_failure_reaches_who_asked() -> None:
    def breaks(message: Msg) -> Sequence[Effect]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Stage(one=breaks).system.actors["one"].ask(Tick())


def test_to_wait_for_what_never_comes_is_a_deadlock() -> None:
    stage = Stage(one=quiet)
    with pytest.raises(Deadlock):
        stage.scheduler.until(lambda: bool(stage.disk.length(LOG)))


def test_to_wait_within_a_step_is_a_bug() -> None:
    def waits(message: Msg) -> Sequence[Effect]:
        stage.system.actors["two"].ask(Tick())
        raise AssertionError("it waited")

    stage = Stage(one=waits, two=quiet)
    with pytest.raises(Bug, match="can't wait"):
        stage.system.actors["one"].ask(Tick())


def test_after_a_crash_nothing_goes_on() -> None:
    stage = Stage(fate=replying("a line", 5), one=lambda message: [*calling(message), SetTimer("a", 1, Flush())])
    stage.system.tell("one", Tick())
    for _ in range(2):
        stage.scheduler.step()
    registered = len(pykka.ActorRegistry.get_all())
    stage.system.crash()
    stage.workers.crash()
    assert len(pykka.ActorRegistry.get_all()) == registered - len(stage.system.actors)
    assert not stage.scheduler.step()


def test_a_failure_tells_the_seed_and_the_last_steps() -> None:
    stage = Stage(812, one=quiet)
    stage.system.tell("one", Tick())
    with pytest.raises(AssertionError) as failure, stage.scheduler.telling():
        stage.scheduler.run()
        raise AssertionError("not as it should be")
    (note,) = failure.value.__notes__
    assert note.startswith("seed 812, the last ")
    assert note.endswith(" one: Tick()")
    assert len(note.splitlines()) <= 31
