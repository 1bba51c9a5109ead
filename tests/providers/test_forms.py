"""Requests: every model and effort is asked as it takes it, the same talk gives the same bytes, marks stand right."""

from collections.abc import Iterator

import pytest
from fake_acts import Call, Fail, Think, answer, without
from fake_api import FakeApi
from fake_models import ANTHROPIC
from msgspec.structs import replace

from eukhe.actors.ports import Broke, Key, Replied, TurnRequest
from eukhe.model.talk import Effort, Image, Result, Speech, Text, Thought, Use
from eukhe.world.providers.anthropic_form import body
from eukhe.world.providers.efforts import LEVELS, claude, gpt, nearest
from eukhe.world.worker_wire import Order
from tests.fake_api.fake_kit import png
from tests.providers.provider_kit import BASH, FORMS, FormName, end, fake, heard, talk

MARK = {"type": "ephemeral"}
SHOWN = {"type": "adaptive", "display": "summarized"}


def budget(tokens: int) -> dict[str, object]:
    return {"type": "enabled", "budget_tokens": tokens}


@pytest.fixture(scope="module")
def api() -> Iterator[FakeApi]:
    with FakeApi() as api:
        yield api


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the package's, of older ones
@pytest.mark.parametrize("model", [*ANTHROPIC, "claude-fable-5-2"])
@pytest.mark.parametrize("effort", LEVELS)
def test_every_model_takes_what_it_is_asked_at_every_effort(api: FakeApi, model: str, effort: Effort) -> None:
    for tokens_max in (200_000, 1_000):
        said = replace(talk(effort=effort), tokens_max=tokens_max)
        last = end(Order(1, TurnRequest(f"anthropic/{model}", said), Key("anthropic", "k", api.base_url)))
        assert isinstance(last, Replied), last


@pytest.mark.parametrize(
    ("model", "effort", "fields"),
    [
        ("claude-opus-5-5", "off", {"output_config": {"effort": "low"}, "thinking": SHOWN}),
        ("claude-opus-9", "xhigh", {"output_config": {"effort": "xhigh"}, "thinking": SHOWN}),
        ("claude-opus-5", "off", {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-5-5", "off", {"thinking": {"type": "between_tools"}}),
        ("claude-haiku-5-5", "minimal", {"output_config": {"effort": "low"}, "thinking": SHOWN}),
        ("claude-opus-4-6", "xhigh", {"output_config": {"effort": "high"}, "thinking": {"type": "adaptive"}}),
        ("claude-opus-4-5-20251101", "max", {"output_config": {"effort": "high"}, "thinking": budget(32_768)}),
        ("claude-haiku-4-5", "medium", {"thinking": budget(10_240)}),
        ("claude-haiku-4-5", "off", {"thinking": {"type": "disabled"}}),
        ("glm-5", "high", {}),
    ],
)  # fmt: skip
def test_how_hard_a_model_is_to_think(model: str, effort: Effort, fields: dict[str, object]) -> None:
    assert {"max_tokens": 60_000, **fields} == claude(model, effort, 60_000)


def test_no_model_is_asked_for_more_tokens_than_it_can_give() -> None:
    assert 64_000 == claude("claude-haiku-4-5", "low", 128_000)["max_tokens"]
    assert 128_000 == claude("claude-opus-5-5", "low", 200_000)["max_tokens"]


def test_a_budget_leaves_tokens_for_the_reply_and_is_none_where_it_would_be_too_small() -> None:
    assert 8_000 == claude("claude-haiku-4-5", "max", 10_000)["thinking"]["budget_tokens"]
    assert "thinking" not in claude("claude-haiku-4-5", "max", 1_200)


@pytest.mark.parametrize(
    ("model", "effort", "own", "sent"),
    [
        ("gpt-5.1", "off", False, "none"),
        ("gpt-5.1", "max", False, "high"),
        ("gpt-5.4", "xhigh", False, "xhigh"),
        ("gpt-5-mini", "off", False, "minimal"),
        ("o3", "minimal", False, "low"),
        ("gpt-4o", "high", False, None),
        ("gpt-5", "medium", False, "medium"),
        ("qwen3", "medium", True, None),
        ("qwen3", "off", True, None),
        ("qwen3", "high", True, "high"),
    ],
)
def test_the_effort_of_openais_form(model: str, effort: Effort, own: bool, sent: str | None) -> None:
    fields = gpt(model, effort, 60_000, own_server=own)
    assert sent == fields.get("reasoning_effort")
    assert own == ("max_completion_tokens" not in fields)


def test_a_server_that_takes_no_effort_says_so_with_what_to_do() -> None:
    with fake("openai", [Fail(400, "Unsupported parameter: reasoning_effort")]) as api:
        last = end(api.turn(model="openai/local", effort="xhigh"))
    assert isinstance(last, Broke)
    assert "set thinking (memory.thinking) to medium" in last.why


def test_the_nearest_level_is_the_next_below_or_the_lowest() -> None:
    assert ["low", "low", "low", "medium", "medium", "medium", "max"] == [
        nearest(level, ("low", "medium", "max")) for level in LEVELS
    ]


@pytest.mark.rule("26", "31")
@pytest.mark.parametrize("form", FORMS)
def test_the_same_talk_gives_the_same_bytes(form: FormName) -> None:
    said = (Speech("user", (Text("a", mark=True), Image("image/png", png()))), Speech("assistant", (Text("b"),)))
    with fake(form) as api:
        for _ in range(2):
            heard(api.turn(*said, Text("c"), tools=[BASH]))
        first, second = api.fake.requests
    assert first.raw == second.raw


@pytest.mark.rule("29", "31")
def test_marks_stand_at_their_blocks_and_have_no_lifetime_of_their_own() -> None:
    uses = Speech("assistant", (Use("a", "bash", "{}"),))
    results = Speech("user", (Result("a", (Text("done"),), mark=True), Image("image/png", png(), mark=True)))
    sent = body("claude-opus-4-8", talk(Text("view", mark=True), uses, results, tools=[BASH], marked=True))
    view, _, last = sent["messages"]
    assert [MARK] * 4 == [block["cache_control"] for block in (sent["system"][0], view["content"][0], *last["content"])]
    assert 4 == str(sent).count("cache_control")


@pytest.mark.rule("31")
def test_without_marks_there_are_none() -> None:
    assert "cache_control" not in str(body("claude-opus-4-8", talk(Text("view"), tools=[BASH])))


def test_thoughts_go_back_as_they_came_with_their_signature_before_the_call_that_they_led_to() -> None:
    with fake("anthropic", [answer(Think("hm"), Call("bash", {"command": "ls"})), answer("done")]) as api:
        first = end(api.turn(effort="high", tools=[BASH]))
        assert isinstance(first, Replied) and first.reply is not None
        (use,) = first.reply.uses
        steps = (Speech("assistant", first.reply.blocks), Speech("user", (Result(use.id, (Text("a b"),)),)))
        assert isinstance(end(api.turn(Speech("user", (Text("hi"),)), *steps, effort="high", tools=[BASH])), Replied)
        thought, call = api.fake.requests[1].body["messages"][1]["content"]
    assert ("thinking", "tool_use") == (thought["type"], call["type"])
    assert thought["signature"]


@pytest.mark.rule("D13")
def test_a_stream_that_lacks_its_last_event_alone_is_a_failed_call() -> None:
    with fake("anthropic", [answer("A story.", without("message_stop"))]) as api:
        last = end(api.turn())
        billed = api.fake.requests[0].usage
    assert Broke("anthropic: the stream ended without message_stop", billed) == last


def test_thoughts_that_are_hidden_go_back_and_those_of_other_providers_do_not() -> None:
    hidden = Thought("anthropic", '{"type":"redacted_thinking","data":"abc"}')
    said = Speech("assistant", (hidden, Thought("other", '{"x":1}'), Text("so")))
    sent = body("claude-opus-4-8", talk(said))
    assert [{"type": "redacted_thinking", "data": "abc"}, {"type": "text", "text": "so"}] == sent["messages"][0][
        "content"
    ]


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the package's, of older ones
@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-8"])
def test_a_model_that_wanted_a_tool_without_a_thought_goes_on_without(api: FakeApi, model: str) -> None:
    asked = Speech("assistant", (Text("I look."), Use("u1", "bash", '{"command":"ls"}')))
    brought = Speech("user", (Result("u1", (Text("a.txt"),)),))
    said = talk(Text("Look."), asked, brought, effort="medium", tools=(BASH,))
    last = end(Order(1, TurnRequest(f"anthropic/{model}", said), Key("anthropic", "k", api.base_url)))
    assert isinstance(last, Replied), last
