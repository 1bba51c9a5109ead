"""Worker processes: what is heard of a call, whatever its worker does."""

import sys
from pathlib import Path

import pytest

from eukhe.actors.ports import Broke, CallEvent, Key, Outage, Replied, Request, Responding
from eukhe.errors import SettingsError
from eukhe.limits import REPLY_CHARS_MAX, SCRIPTED_LONG_BYTES, WHY_CHARS_MAX
from eukhe.model.extract import extract
from eukhe.model.part import Part
from eukhe.world.config import store
from eukhe.world.process_workers import ProcessWorkers
from eukhe.world.providers.registry import SCRIPT_VARIABLE
from eukhe.world.worker_wire import Order, Report, WorkerFailed, encode, event_of
from eukhe.world.workers import OfflineWorkers, workers_for
from tests.leaks import comes_true, is_running, no_leaks
from tests.worker_kit import SOURCES, Ear, Script, process_workers, script, scripted

__all__ = ["no_leaks", "script"]  # fixtures

pytestmark = [
    pytest.mark.usefixtures("no_leaks"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc"),
]

LINE = extract(Part(0, 0), SOURCES)
DIED = Broke("its worker process died")


# --- keys ---


def test_a_key_is_news_once_and_a_client_that_has_none_takes_none_away() -> None:
    here, there = "http://localhost:1", "http://localhost:2"
    with process_workers() as workers:
        told = [Key("openai", "sk-1", here), Key("openai", "sk-1", here), Key("openai", "", here)]
        assert [True, False, False] == [workers.keep((key,)) for key in told]
        assert not workers.keep((Key("openai", "sk-1", here),))  # it is still there
        told = [Key("openai", "sk-2", here), Key("openai", "", there), Key("anthropic", "sk-1")]
        assert [True, True, True] == [workers.keep((key,)) for key in told]


# --- what is heard of a call ---


def test_the_offline_writer_says_the_same_in_a_process_as_in_the_owner() -> None:
    here, there = Ear(), Ear()
    OfflineWorkers().start(1, Request("builtin/extract", Part(0, 0), SOURCES), here)
    with process_workers() as workers:
        workers.start(1, Request("builtin/extract", Part(0, 0), SOURCES), there)
        assert [Responding(), here.next()] == [there.next(), there.next()]


def test_the_offline_writer_stays_in_the_owner_and_all_else_does_not() -> None:
    assert isinstance(workers_for("builtin/extract"), OfflineWorkers)
    others = workers_for("scripted/any")
    assert isinstance(others, ProcessWorkers)
    others.close()


@pytest.mark.parametrize(
    ("act", "heard"),
    [
        ("reply", Replied(LINE)),
        ("thoughts", Replied(None)),
        ("empty", Replied(" ")),
        ("surrogate", Replied("half of one: \ufffd")),
        (f"chars {REPLY_CHARS_MAX}", Replied("x" * REPLY_CHARS_MAX)),
        ("break", Broke("the stream broke")),
        ("raise", Broke("ValueError: the script says so")),
        ("half", Broke("the response had no end")),
        ("out 7.5", Outage("529 overloaded", 7.5)),
        ("out", Outage("529 overloaded")),
        ("key", Outage("401 this key is not known", key=True)),
    ],
)
def test_a_call_ends_as_its_model_does_and_its_worker_makes_the_next(
    script: Script, act: str, heard: CallEvent
) -> None:
    script.write(any=[act, "reply"])
    with process_workers() as workers:
        for call, expected in enumerate([heard, Replied(LINE)]):
            ear = Ear()
            workers.start(call, scripted(0), ear)
            assert expected == ear.end()
        assert 1 == len({made.pid for made in script.made()})


@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("kill", "its worker process died"),
        ("end", "its worker process died"),
        ("garbage", "a worker sent bytes that are no report"),
        ("wild", "a worker sent bytes that are no report"),
        ("nothing", "a worker sent bytes that are no report"),
        ("huge", "a worker sent an event of more than 1,000,000 bytes"),
        ("other-call", "a worker that makes call 1 for 3+1 told of another, 2"),
        ("other-node", "a worker that makes call 1 for 3+1 told of another, 1"),
        (f"chars {REPLY_CHARS_MAX + 1}", "a reply of 100,001 characters; 100,000 is the most for a line"),
    ],
)
def test_a_worker_that_does_what_none_may_breaks_its_call_and_is_killed(script: Script, act: str, why: str) -> None:
    script.write(n3=[act])
    with process_workers() as workers:
        rogue, honest = Ear(), Ear()
        workers.start(1, scripted(3), rogue)
        assert Broke(why) == rogue.end()
        workers.start(2, scripted(0), honest)
        assert Replied(LINE) == honest.end()
        pid = script.made()[0].pid
        assert comes_true(lambda: not is_running(pid))
        assert pid != script.made()[1].pid
        assert [] == rogue.rest()


def test_a_reply_that_comes_twice_is_not_taken_for_the_next_calls(script: Script) -> None:
    script.write(n0=["twice"])
    with process_workers() as workers:
        ears = [Ear(), Ear()]
        workers.start(1, scripted(0), ears[0])
        assert Replied("the first") == ears[0].end()
        workers.start(2, scripted(1), ears[1])
        told_of_another = Broke("a worker that makes call 2 for 1+1 told of another, 1")
        assert ears[1].end() in (Replied(LINE), told_of_another)  # it was seen before the call, or after
        assert [] == ears[0].rest()


def test_a_line_that_is_too_long_is_asked_for_again_with_what_was_said(script: Script) -> None:
    script.write(any=["long"])
    replies: tuple[str, ...] = ()
    with process_workers() as workers:
        for call in range(5):
            ear = Ear()
            workers.start(call, scripted(0, replies), ear)
            reply = ear.end()
            assert isinstance(reply, Replied)
            assert reply.text is not None
            replies = (*replies, reply.text)
    lengths = [len(reply) for reply in replies]
    assert [SCRIPTED_LONG_BYTES - 5 * k for k in range(5)] == lengths


def test_a_model_that_nobody_has_and_a_call_that_cannot_be_sent_are_failed_calls() -> None:
    with process_workers() as workers:
        for call, (request, why) in enumerate(
            [
                (Request("nobody/none", Part(0, 0), SOURCES), "Bug: no provider has the model nobody/none"),
                (Request("builtin/extract", Part(0, 0), ("\ud83d",)), "the call can't be sent: .*surrogates"),
            ]
        ):
            ear = Ear()
            workers.start(call, request, ear)
            with pytest.raises(AssertionError, match=why):
                raise AssertionError(ear.end())


@pytest.mark.parametrize("retry_after_s", [float("nan"), float("inf"), None])
def test_a_time_that_is_none_is_left_out_and_a_long_complaint_is_clipped(retry_after_s: float | None) -> None:
    order = Order(1, scripted(0))
    event = event_of(encode(Report(1, Part(0, 0), Outage("x" * 9_999, retry_after_s, key=True))), order)
    assert isinstance(event, Outage)
    assert (None, True, WHY_CHARS_MAX) == (event.retry_after_s, event.key, len(event.why))


def test_bytes_that_nest_too_deep_are_no_report() -> None:
    with pytest.raises(WorkerFailed, match="no report"):
        event_of(b"\x91" * 100_000, Order(1, scripted(0)))


# --- the scripted model ---


def test_a_scripted_model_writes_lines_only_where_a_script_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SCRIPT_VARIABLE, raising=False)
    with pytest.raises(SettingsError, match=r"memory\.model is .scripted/any. .*; allowed: anthropic/NAME"):
        store(tmp_path / "home", "memory.model", "scripted/any")
    monkeypatch.setenv(SCRIPT_VARIABLE, str(tmp_path / "script.json"))
    assert "scripted/any" == store(tmp_path / "home", "memory.model", "scripted/any")


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ('{"*": ["dance"]}', "SettingsError: EUKHE_SCRIPTED: no act dance; there are reply, silent, "),
        ("{", "JSONDecodeError: "),
    ],
)
def test_a_script_that_makes_no_sense_is_a_failed_call(script: Script, written: str, why: str) -> None:
    script.path.write_text(written)
    with process_workers() as workers:
        ear = Ear()
        workers.start(1, scripted(0), ear)
        end = ear.end()
        assert isinstance(end, Broke)
        assert why == end.why[: len(why)]
