"""Providers' calls through real worker processes: what they load, what reaches them, what is heard of them."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from fake_acts import Call, Fail, Gate, answer, pings

from eukhe.actors.ports import Broke, CallEvent, Delta, Key, Outage, Replied, Request, Responding, TurnRequest
from eukhe.limits import REPLY_CHARS_MAX, TURN_REPORT_BYTES_MAX
from eukhe.model.part import Part
from eukhe.model.talk import NO_USAGE, Reply, Text, Usage
from eukhe.world.environment import of_workers
from eukhe.world.process_workers import ProcessWorkers
from eukhe.world.worker_wire import Order, Report, WorkerFailed, cleaned, encode, event_of
from eukhe.world.workers import workers_for
from tests.leaks import comes_true, descendants, no_leaks
from tests.providers.provider_kit import BASH, FORMS, FormName, fake, streamed, talk
from tests.worker_kit import Ear, Script, process_workers, script

__all__ = ["no_leaks", "script"]  # fixtures

pytestmark = [
    pytest.mark.usefixtures("no_leaks"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc"),
]


def all_of(ear: Ear) -> list[CallEvent]:
    """All that is heard of a call, to its end."""
    events = [ear.next()]
    while isinstance(events[-1], Responding | Delta):
        events.append(ear.next())
    return events


@pytest.mark.parametrize("form", FORMS)
def test_a_turns_call_is_heard_piece_by_piece_and_then_whole(form: FormName) -> None:
    with fake(form, [answer("I look. " * 20, Call("bash", {"command": "ls"}))]) as api, process_workers() as workers:
        workers.keep((api.key,))
        ear = Ear()
        workers.start(1, api.turn(tools=[BASH]).request, ear)
        events = all_of(ear)
        billed = api.fake.requests[0].usage
    last = events[-1]
    assert isinstance(last, Replied) and last.reply is not None, last
    assert isinstance(events[0], Responding)
    assert ("I look. " * 20, '{"command":"ls"}') == (streamed(events, "text"), streamed(events, "use"))
    assert ("tools", billed) == (last.reply.stop, last.usage)


@pytest.mark.parametrize("form", FORMS)
def test_a_lines_call_is_told_its_text_and_its_cost(form: FormName) -> None:
    with fake(form, [answer("a line")]) as api, process_workers() as workers:
        workers.keep((api.key,))
        ear = Ear()
        workers.start(1, Request(api.model, Part(0, 7), ("user: hi",), (), talk()), ear)
        events = all_of(ear)
        assert Replied("a line", None, api.fake.requests[0].usage) == events[-1]


@pytest.mark.rule("39", "D5")
@pytest.mark.parametrize("form", FORMS)
def test_a_call_is_stopped_at_once_in_the_midst_of_its_stream(form: FormName) -> None:
    gate = Gate()
    with fake(form, [answer("x" * 400, pings(5, gate))]) as api, process_workers() as workers:
        workers.keep((api.key,))
        ear = Ear()
        workers.start(1, api.turn().request, ear)
        assert isinstance(ear.next(), Responding)
        workers.stop(1)
        ear.rest()
        api.fake.settle()
        assert [] == ear.rest()


@pytest.mark.parametrize("form", FORMS)
def test_what_a_failed_call_says_does_not_hold_the_key_whoever_said_it(form: FormName) -> None:
    with fake(form, [Fail(401, "no such key: sk-one")]) as api, process_workers() as workers:
        workers.keep((api.key,))
        ear = Ear()
        workers.start(1, api.turn().request, ear)
        last = ear.end()
    assert isinstance(last, Outage)
    assert "no such key: [key]" in last.why


@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_needs_what_it_is_to_be_sent_and_has_it_not_is_a_failed_call(form: FormName) -> None:
    with process_workers() as workers:
        workers.keep((Key(form, "k"),))
        ear = Ear()
        workers.start(1, Request(f"{form}/any", Part(0, 0), ("user: hi",)), ear)
        assert "was asked for a line without what it is to be sent" in str(ear.end())


def test_recall_answers_a_turn_in_a_worker() -> None:
    with process_workers() as workers:
        ear = Ear()
        workers.start(1, TurnRequest("builtin/recall", talk(Text("<chat>\n</chat>"), Text("Where is it built?"))), ear)
        events = all_of(ear)
    last = events[-1]
    assert isinstance(last, Replied) and last.reply is not None
    assert ("end", NO_USAGE) == (last.reply.stop, last.usage)
    assert last.text == streamed(events, "text")


def test_a_model_that_writes_lines_alone_answers_no_turn() -> None:
    with process_workers() as workers:
        ear = Ear()
        workers.start(1, TurnRequest("builtin/extract", talk()), ear)
        assert "builtin/extract writes lines, and answers no turn" in str(ear.end())


# --- what a worker has ---


LOADED = """
import json, sys
sys.path[:] = {path!r}
import eukhe.world.providers.calls as calls
for model in {models!r}:
    calls.prepare(model)
print(json.dumps([name for name in ("anthropic", "httpx", "httpx2", "pydantic") if name in sys.modules]))
"""


@pytest.mark.parametrize(
    ("models", "loaded"),
    [
        ([], []),
        (["builtin/extract", "scripted/any"], []),
        (["openai/gpt-5"], ["httpx"]),
        (["anthropic/claude-opus-5-5"], ["anthropic", "httpx2", "pydantic"]),
    ],
)
def test_a_chat_pays_for_its_own_providers_package_alone(models: list[str], loaded: list[str]) -> None:
    source = LOADED.format(path=sys.path, models=models)
    done = subprocess.run([sys.executable, "-I", "-c", source], capture_output=True, text=True, check=True)
    assert loaded == json.loads(done.stdout)


def test_the_command_line_loads_no_providers_package() -> None:
    source = (
        "import sys, eukhe.cli.owner, eukhe.cli.service; print([m for m in ('anthropic', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout


def test_the_fork_server_loads_what_its_workers_will_need() -> None:
    with fake("anthropic", [answer("yes")]) as api:
        workers = workers_for(api.model, (api.key,))
        assert isinstance(workers, ProcessWorkers)
        try:
            ear = Ear()
            workers.start(1, api.turn().request, ear)
            assert isinstance(ear.end(), Replied | Delta)
            maps = [Path(f"/proc/{pid}/maps").read_text() for pid in descendants()]
            assert 2 == len(maps)
            assert all("pydantic_core" in mapped for mapped in maps)
        finally:
            workers.close()
        assert comes_true(lambda: not descendants())


def test_no_address_and_no_key_reach_a_worker_by_its_environment() -> None:
    given = {
        "PATH": "/bin",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://localhost:1",
        "OPENAI_BASE_URL": "http://localhost:2",
    }
    assert {"PATH": "/bin"} == of_workers(given | {"ANTHROPIC_CUSTOM_HEADERS": "a: b", "openai_proxy": "z"})


# --- what is said between the owner and a worker ---


TURN = Order(1, TurnRequest("openai/any", talk()))
LINE = Order(1, Request("openai/any", Part(0, 0), ("x",), (), talk()))
REPLY = Reply((Text("x"),), "end")


@pytest.mark.parametrize(
    "event",
    [
        Responding(Usage(1, 2, 3, 4)),
        Delta("text", "x"),
        Replied("x" * (REPLY_CHARS_MAX + 1), REPLY, Usage(1)),
        Broke("why", Usage(1, 2), final=True),
        Outage("why", 1.5, key=True),
    ],
)
def test_what_is_said_of_a_turn_comes_over_as_it_was(event: CallEvent) -> None:
    assert event == event_of(encode(Report(1, None, cleaned(event))), TURN)


@pytest.mark.parametrize(
    ("order", "event", "why"),
    [
        (TURN, Replied("x"), "a worker gave a turn no reply"),
        (LINE, Replied("x", REPLY), "or a line a turn's"),
        (LINE, Delta("text", "x"), "piece by piece"),
        (LINE, Replied("x" * (REPLY_CHARS_MAX + 1)), "the most for a line"),
    ],
)
def test_what_none_may_say_breaks_the_call(order: Order, event: CallEvent, why: str) -> None:
    with pytest.raises(WorkerFailed, match=why):
        event_of(encode(Report(1, order.part, event)), order)


def test_a_turns_report_may_be_larger_than_a_lines() -> None:
    assert (TURN_REPORT_BYTES_MAX, True) == (TURN.report_bytes_max, LINE.report_bytes_max < TURN.report_bytes_max)
    with fake("openai", [answer("x" * 1_500_000, piece_chars=50_000)]) as api, process_workers() as workers:
        workers.keep((api.key,))
        ear = Ear()
        said = msgspec.structs.replace(talk(), tokens_max=10**6)
        workers.start(1, TurnRequest("openai/gpt-5", said), ear)
        last = all_of(ear)[-1]
    assert isinstance(last, Replied), last
    assert 400_000 < len(last.text or "")


# --- the scripted model's turns ---


def test_a_scripted_model_answers_turns_by_its_script(script: Script) -> None:
    script.path.write_text(json.dumps({"turn": ['use bash {"command":"ls"}', "say All is well.", "reply", "key"]}))
    with process_workers() as workers:
        heard = []
        for call in range(4):
            ear = Ear()
            workers.start(call, TurnRequest("scripted/any", talk(Text("hello"))), ear)
            heard.append(all_of(ear))
    wants, says, echoes, fails = heard
    assert isinstance(wants[-1], Replied) and wants[-1].reply is not None
    assert [("bash", '{"command":"ls"}')] == [(use.name, use.input) for use in wants[-1].reply.uses]
    assert ("All is well.", "You said: hello") == (streamed(says, "text"), streamed(echoes, "text"))
    assert isinstance(says[-1], Replied) and "All is well." == says[-1].text
    assert isinstance(fails[-1], Outage)
    assert ["turn"] * 4 == [made.node for made in script.made()]
