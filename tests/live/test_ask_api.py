"""`eukhe -p` against the fake of the providers' APIs: both forms, what a turn costs, servers that fail."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from fake_acts import Act, Call, Fail, Gate, Reset, Think, answer, cut, hold, put, too_long
from fake_api import FakeApi
from fake_script import Agent, Rule

from eukhe.model.prices import Prices
from eukhe.model.talk import Usage
from tests.ask_kit import WAIT_S, Played, events
from tests.chat_kit import messages
from tests.live.live_kit import verified

KEY = "a-key-of-a-test"
ANTHROPIC, OPENAI = "anthropic/claude-sonnet-4-5", "openai/gpt-5"
PNG = b"\x89PNG\r\n\x1a\n..."
PLAY = Agent(
    [
        Rule("^look", [[Think("Where?"), "I look.", Call("bash", {"command": "echo found"})], ["It says: {result}"]]),
        Rule("^both", [[Think("Two."), "Two.", Call("date", {"id": 0}), Call("zoom", {"id": 0, "n": 1})], ["Seen."]]),
        Rule(
            "^let Ann", [[Think("Ann can."), Call("agent", {"name": "Ann", "task": "count the files"})], ["I let her."]]
        ),
        Rule("^count the files", [["There are three."]]),
    ]
)


class Asking(Played):
    """Whose model is the fake's."""

    def __init__(self, home: Path, folder: Path, api: FakeApi, model: str) -> None:
        super().__init__(home, folder)
        self.api = api
        form = model.partition("/")[0]
        base_url = api.base_url if form == "anthropic" else api.openai_url
        settings = {"memory": {"model": "builtin/extract"}, form: {"baseUrl": base_url}}
        (home / "settings.json").write_text(json.dumps(settings))
        self.environment = {"EUKHE_MODEL": model, f"{form.upper()}_API_KEY": KEY}

    def log(self) -> list[tuple[str, str]]:
        return [(message["kind"], message["text"]) for message in messages(self.home)]


Asks = Callable[[str], Asking]


@pytest.fixture
def asks(tmp_path: Path) -> Iterator[Asks]:
    """Makes homes, each with a fake of its own, by the model's name."""
    with ExitStack() as stack:

        def make(model: str) -> Asking:
            api = stack.enter_context(FakeApi((), PLAY, keys=[KEY]))
            folder = tmp_path / model.partition("/")[0]
            folder.mkdir()
            return Asking(folder / "home", folder, api, model)

        yield make


# --- a conversation ---


@pytest.mark.rule("8", "48")
def test_the_same_conversation_in_both_forms_leaves_the_same_log(asks: Asks) -> None:
    logs = []
    for model in (ANTHROPIC, OPENAI):
        it = asks(model)
        for words in ("look there", "both, please", "hello"):
            ran = it.says("-p", words, "--allow", "bash:echo *")
            assert (0, "") == (ran.code, ran.err), model
        logs.append([(kind, text) for kind, text in it.log() if not text.startswith("20")])  # dates differ
        assert (0, "") == verified(it.home)
    assert logs[0] == logs[1]
    assert [
        ("user", "look there"),
        ("eukhe", "I look."),
        ("tool", 'bash {"command":"echo found"}'),
        ("echo", "found\n"),
    ] == logs[0][:4]
    assert ("echo", "user: look there") in logs[0]
    assert ("eukhe", "You said: hello") == logs[0][-1]


@pytest.mark.rule("29")
def test_what_a_turn_says_that_it_cost_is_what_its_provider_counted(asks: Asks) -> None:
    it = asks(ANTHROPIC)
    told = it.says("-p", "look there", "--allow", "bash", "--output-format", "json").json
    spent = it.api.spent()
    usage = told["usage"]
    assert spent == Usage(usage["input"], usage["output"], usage["cacheRead"], usage["cacheWrite"])
    assert spent.cache_read > 0
    assert Prices().usd(ANTHROPIC, spent) == pytest.approx(told["costUsd"])


@pytest.mark.rule("57", "58")
def test_a_subagent_is_waited_for_and_its_report_begins_another_turn(asks: Asks) -> None:
    it = asks(ANTHROPIC)
    ran = it.says("-p", "let Ann count", "--output-format", "stream-json")
    assert (0, "") == (ran.code, ran.err), ran
    assert ("work", "[Ann] There are three.") in it.log()
    types = [event["type"] for event in events(ran.out)]
    assert {"agent", "report"} <= set(types)
    (chat,) = (it.home / "chat" / "agents").glob("*.jsonl")
    assert "Ann" == chat.stem
    zoomed = it.says("chat", "zoom", "Ann")
    assert "There are three." in zoomed.out


def test_an_image_is_sent_in_both_forms(asks: Asks, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(bytes.fromhex(SMALL_PNG))
    for model in (ANTHROPIC, OPENAI):
        it = asks(model)
        ran = it.says("-p", "what is it?", "--image", picture)
        assert (0, "") == (ran.code, ran.err), ran
        assert '"image' in json.dumps(it.api.requests[-1].body["messages"])


# --- servers that fail ---

ONCE: dict[str, Act] = {
    "overloaded": Fail(529),
    "500": Fail(500),
    "429": Fail(429, retry_after=1),
    "reset": Reset(),
    "dropped": Reset("drop"),
    "cut": answer("half a word", cut(4)),
    "garbage": answer("half a word", put(4, "garbage")),
    "error": answer("half a word", put(4, "error")),
    "no stop": answer("half a word", stop="none"),
}
FOR_GOOD: dict[str, tuple[Act, str, str]] = {
    "401": (Fail(401), "401", ""),
    "403": (Fail(403), "403", ""),
    "too long": (too_long(), "too long", ""),
    "refusal": (answer(stop="refusal"), "refused", ""),
    "length": (answer("I beg", stop="length"), "no tokens left", "I beg\n"),
    "empty": (answer(), "said nothing", ""),
}
"""With a word of what is said, and what is printed all the same."""


@pytest.mark.rule("D13")
@pytest.mark.parametrize("model", [ANTHROPIC, OPENAI])
@pytest.mark.parametrize("failure", ONCE)
def test_a_server_that_fails_once_is_asked_again(failure: str, model: str, asks: Asks) -> None:
    it = asks(model)
    it.api.act(ONCE[failure])
    ran = it.says("-p", "hello")
    assert (0, "You said: hello\n", "") == ran
    assert [("user", "hello"), ("eukhe", "You said: hello")] == it.log()


@pytest.mark.parametrize("model", [ANTHROPIC, OPENAI])
@pytest.mark.parametrize("failure", FOR_GOOD)
def test_what_is_of_no_use_to_try_again_is_one_line_and_exit_1(failure: str, model: str, asks: Asks) -> None:
    it = asks(model)
    act, word, kept = FOR_GOOD[failure]
    it.api.act(act)
    ran = it.says("-p", "hello")
    assert (1, kept) == (ran.code, ran.out)
    assert word in ran.err
    assert 1 == ran.err.count("\n")
    assert 1 == len(it.api.requests)
    assert (0, "You said: hello\n", "") == it.says("-p", "hello")


def test_a_wrong_key_and_none_are_each_one_line(asks: Asks) -> None:
    it = asks(ANTHROPIC)
    for key in ("another", ""):
        ran = it.says("-p", "hello", ANTHROPIC_API_KEY=key)
        assert (1, "") == (ran.code, ran.out)
        assert 1 == ran.err.count("\n")
        assert "ANTHROPIC_API_KEY" in ran.err or "401" in ran.err


@pytest.mark.slow
def test_a_dead_server_is_one_line_after_so_many_tries(asks: Asks) -> None:
    it = asks(OPENAI)
    it.api.go_down()
    ran = it.says("-p", "hello")
    assert (1, "") == (ran.code, ran.out)
    assert "5 tries were made" in ran.err
    assert 1 == ran.err.count("\n")
    assert [("user", "hello")] == it.log()


@pytest.mark.rule("D13")
def test_that_the_memory_stands_still_is_said_in_a_pipe_too_and_the_turn_goes_on(asks: Asks) -> None:
    it, dead = asks(OPENAI), asks(ANTHROPIC)
    dead.api.go_down()
    memory = {"memory": {"model": ANTHROPIC}, "anthropic": {"baseUrl": dead.api.base_url}}
    (it.home / "settings.json").write_text(json.dumps({**memory, "openai": {"baseUrl": it.api.openai_url}}))
    it.environment["ANTHROPIC_API_KEY"] = KEY
    it.says("-p", "a long word " * 50)
    ran = it.says("-p", "hello")
    assert (0, "You said: hello\n", 1) == (ran.code, ran.out, ran.err.count("\n"))
    assert "of the memory not built, shown by their beginning: anthropic: no response" in ran.err
    assert "…" not in ran.err


# --- stopped in mid-stream ---


@pytest.mark.rule("48")
@pytest.mark.parametrize("model", [ANTHROPIC, OPENAI])
def test_ctrl_c_in_mid_stream_keeps_what_was_said_marked(model: str, asks: Asks) -> None:
    it = asks(model)
    gate = Gate()
    it.api.act(answer("a first half and a second half", hold(5, gate), piece_chars=8))
    with it.running("-p", "hello", "--output-format", "stream-json") as child:
        assert child.stdout is not None
        heard = ""
        while "first" not in heard:
            line = json.loads(child.stdout.readline())
            heard += line["text"] if line["type"] == "said" else ""
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=WAIT_S)
    gate.open()
    assert (130, "eukhe: interrupted\n") == (child.returncode, err)
    over = events(out)[-1]
    assert over["stopped"]
    assert over["reply"].startswith("a first")
    assert over["reply"].endswith(" [stopped]")
    assert [("user", "hello"), ("eukhe", over["reply"])] == it.log()


SMALL_PNG = (
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
