"""What the fake API says, in Anthropic's form, heard by Anthropic's own package."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import orjson
import pytest
from fake_acts import Call, Gate, Think, answer, hold, without
from fake_api import FakeApi
from fake_script import Agent, Rule

from eukhe.model.talk import Image, Result, Speech, Text, Usage
from tests.fake_api.fake_kit import (
    BASH,
    MODEL,
    SHOWN,
    Time,
    asking,
    assistant,
    created,
    png,
    posted,
    result,
    sdk,
    streamed,
    use,
)
from tests.fake_api.fake_kit import image as image_block
from tests.fake_api.fake_kit import text as text_block
from tests.fake_api.fake_kit import user as user_says

ALL = (Think("Let me see."), "I look. It's über den Wölken.", Call("bash", {"command": "ls -la", "n": [1, 2]}))
BIG = "word " * 2_000  # 2,500 tokens


@pytest.mark.parametrize("heard", [streamed, created])
def test_the_package_hears_a_text_a_thought_and_a_call(heard: Any) -> None:
    with FakeApi([answer(*ALL)]) as api:
        message = heard(api, thinking=SHOWN, tools=[BASH])
    thought, said, call = message.content
    assert ("thinking", "Let me see.") == (thought.type, thought.thinking)
    assert ("text", "I look. It's über den Wölken.") == (said.type, said.text)
    assert ("tool_use", "bash", {"command": "ls -la", "n": [1, 2]}) == (call.type, call.name, call.input)
    assert ("tool_use", "assistant", MODEL) == (message.stop_reason, message.role, message.model)


def test_a_stream_and_a_response_in_one_piece_say_and_cost_the_same() -> None:
    with FakeApi([answer(*ALL), answer(*ALL)]) as api:
        one, other = (heard(api, thinking=SHOWN).model_dump() for heard in (streamed, created))
        usages = {request.usage for request in api.requests}
    for message in (one, other):
        message.pop("id")
    assert other["usage"] == {name: one["usage"][name] for name in other["usage"]}
    assert [block["type"] for block in other["content"]] == [block["type"] for block in one["content"]]
    assert 1 == len(usages)


def test_events_stand_in_the_documented_order() -> None:
    with FakeApi([answer("hello", Call("bash", {"a": 1}), piece_chars=3)]) as api:
        lines = posted(api, asking({"stream": True})).text.split("\n")
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    data = [orjson.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    block = ["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"]
    expected = ["message_start", block[0], "ping", *block[1:], block[0], *["content_block_delta"] * 4, block[3]]
    assert [*expected, "message_delta", "message_stop"] == names
    assert names == [event["type"] for event in data]
    assert ["", '{"a', '":1', "}"] == [
        event["delta"]["partial_json"] for event in data if event.get("delta", {}).get("type") == "input_json_delta"
    ]


def test_thoughts_that_are_left_out_come_as_a_signature_alone_and_go_back_so() -> None:
    omitted = {"type": "adaptive", "display": "omitted"}
    with FakeApi([answer(Think("secret"), Call("bash", {}))]) as api:
        thought, call = streamed(api, thinking=omitted, tools=[BASH]).content
        assert "" == thought.thinking and thought.signature
        messages = [user_says(text_block("hi")), {"role": "assistant", "content": [thought, call]}]
        again = [*messages, user_says(result(call.id))]
        assert "end_turn" == streamed(api, thinking=omitted, tools=[BASH], messages=again).stop_reason


@pytest.mark.parametrize(
    ("model", "thinking", "shown"),
    [
        ("claude-opus-4-8", {"type": "adaptive"}, False),
        ("claude-opus-4-8", SHOWN, True),
        ("claude-opus-4-6", {"type": "adaptive"}, True),
        ("claude-opus-5-5", None, False),
    ],
)
def test_whether_thoughts_are_shown_is_the_models_where_nothing_is_said_of_it(
    model: str, thinking: Any, shown: bool
) -> None:
    with FakeApi([answer(Think("secret"), "hello")]) as api:
        thought, _ = streamed(api, model=model, **({"thinking": thinking} if thinking else {})).content
    assert ("secret" if shown else "") == thought.thinking


@pytest.mark.parametrize(
    ("model", "thinking", "kinds"),
    [
        ("claude-opus-5-5", SHOWN, ["thinking", "tool_use"]),
        ("claude-sonnet-5-5", SHOWN, ["thinking", "tool_use"]),
        ("claude-sonnet-5-5", {"type": "between_tools"}, ["text", "tool_use"]),
        ("claude-opus-5", SHOWN, ["text", "tool_use"]),
    ],
)
@pytest.mark.parametrize("heard", [streamed, created])
def test_some_models_say_as_a_thought_what_they_say_between_two_calls(
    heard: Any, model: str, thinking: Any, kinds: list[str]
) -> None:
    messages = [user_says(text_block("look")), assistant(use("a")), user_says(result("a"))]
    with FakeApi([answer("And now?", Call("bash", {})), answer("Done.")]) as api:
        asked = {"model": model, "thinking": thinking, "messages": messages, "tools": [BASH]}
        between, last = heard(api, **asked).content, heard(api, **asked).content
    assert kinds == [block.type for block in between]
    assert "And now?" == getattr(between[0], "thinking", getattr(between[0], "text", None))
    assert ["text"] == [block.type for block in last]


def test_what_is_said_before_the_first_call_is_a_text_of_every_model() -> None:
    with FakeApi([answer("I look.", Call("bash", {}))]) as api:
        content = streamed(api, model="claude-opus-5-5", thinking=SHOWN, tools=[BASH]).content
    assert ["text", "tool_use"] == [block.type for block in content]


@pytest.mark.parametrize(
    ("model", "thinking", "kinds"),
    [
        ("claude-opus-5", None, ["thinking", "text"]),
        ("claude-opus-5", {"type": "disabled"}, ["text"]),
        ("claude-opus-4-8", None, ["text"]),
        ("claude-opus-4-8", {"type": "adaptive"}, ["thinking", "text"]),
    ],
)
def test_an_agent_thinks_where_its_model_would(model: str, thinking: Any, kinds: list[str]) -> None:
    with FakeApi(agent=Agent([Rule("hi", [[Think("hm"), "hello"]])])) as api:
        content = streamed(api, model=model, **({"thinking": thinking} if thinking else {})).content
    assert kinds == [block.type for block in content]


def test_usage_stands_at_the_beginning_and_all_of_it_at_the_end() -> None:
    with FakeApi([answer("four" * 10)]) as api:
        with sdk(api) as client, client.messages.stream(**asking({})) as stream:
            events: dict[str, Any] = {event.type: event for event in stream}
        usage = api.requests[0].usage
    assert (1, 1) == (
        events["message_start"].message.usage.input_tokens,
        events["message_start"].message.usage.output_tokens,
    )
    assert (1, 10) == (events["message_delta"].usage.input_tokens, events["message_delta"].usage.output_tokens)
    assert Usage(input=1, output=10) == usage


@pytest.mark.parametrize("said", [(), ("",), ("", "abcdefgh"), ("a",), ALL, (Think("x" * 99), "y")])
@pytest.mark.parametrize("heard", [streamed, created])
def test_what_is_told_is_what_is_billed(heard: Any, said: tuple[Any, ...]) -> None:
    with FakeApi([answer(*said)]) as api:
        told = heard(api).usage
        assert Usage(told.input_tokens, told.output_tokens) == api.spent()


@pytest.mark.parametrize(
    ("stop", "reason"),
    [("natural", "end_turn"), ("length", "max_tokens"), ("refusal", "refusal"), ("tools", "tool_use"), ("none", None)],
)
def test_a_reply_ends_for_the_reason_that_it_is_told(stop: Any, reason: str | None) -> None:
    with FakeApi([answer("hello", stop=stop)] * 2) as api:
        assert [reason, reason] == [heard(api).stop_reason for heard in (streamed, created)]


def test_a_refusal_says_what_for() -> None:
    with FakeApi([answer("I", stop="refusal")]) as api:
        details = created(api).stop_details
    assert details is not None and "refusal" == details.type


def test_a_reply_has_no_more_tokens_than_it_may() -> None:
    with FakeApi([answer("abcd" * 100)]) as api:
        message = streamed(api, max_tokens=10)
    assert ("abcd" * 10, "max_tokens", 10) == (
        message.content[0].text,
        message.stop_reason,
        message.usage.output_tokens,
    )


def test_an_image_is_heard_and_costs_tokens() -> None:
    with FakeApi() as api:
        message = streamed(api, messages=[user_says(image_block(png()), text_block("what is it?"))])
        picture, words = api.requests[0].speeches[0].blocks
    assert isinstance(picture, Image) and "image/png" == picture.type_
    assert Text("what is it?") == words
    assert 1_600 < message.usage.input_tokens


def test_an_image_in_a_tools_result_is_heard_too() -> None:
    messages = [
        user_says(text_block("look")),
        assistant({"type": "tool_use", "id": "a", "name": "bash", "input": {}}),
        user_says(result("a", [text_block("here"), image_block(png())])),
    ]
    with FakeApi() as api:
        created(api, messages=messages, tools=[BASH])
        (heard,) = api.requests[0].speeches[2].blocks
    assert isinstance(heard, Result) and [Text, Image] == [type(part) for part in heard.content]


# --- the cache ---


def test_what_was_marked_is_read_by_the_next_request() -> None:
    system = [text_block(BIG, mark=True)]
    with FakeApi() as api:
        first, second = (streamed(api, system=system).usage for _ in range(2))
        assert Usage(input=2, output=first.output_tokens * 2, cache_read=2_500, cache_write=2_500) == api.spent()
    assert (2_500, 0, 1) == (first.cache_creation_input_tokens, first.cache_read_input_tokens, first.input_tokens)
    assert (0, 2_500, 1) == (second.cache_creation_input_tokens, second.cache_read_input_tokens, second.input_tokens)


def test_the_cache_lives_by_the_clock_that_is_handed_in() -> None:
    clock = Time()
    with FakeApi(now=clock) as api:
        reads = []
        for seconds in (0, 300, 301):
            clock.now_s += seconds
            reads.append(streamed(api, system=[text_block(BIG, mark=True)]).usage.cache_read_input_tokens)
    assert [0, 2_500, 0] == reads


def test_a_string_and_a_block_of_text_are_the_same_prompt() -> None:
    with FakeApi() as api:
        created(api, messages=[user_says(text_block(BIG, mark=True))])
        more = [{"role": "user", "content": BIG}, assistant(text_block("yes")), user_says(text_block("x", mark=True))]
        assert 2_500 == created(api, messages=more).usage.cache_read_input_tokens


TOOL = BASH | {"description": BIG, "cache_control": {"type": "ephemeral"}}
MARKED = {"tools": [TOOL], "system": [text_block(BIG, mark=True)], "messages": [user_says(text_block(BIG, mark=True))]}
ADAPTIVE = {"type": "adaptive"}
BUDGET = {"type": "enabled", "budget_tokens": 2_000}


@pytest.mark.parametrize(
    ("change", "levels"),
    [
        ({}, 3),
        ({"max_tokens": 77}, 3),
        ({"output_config": {"effort": "high"}}, 3),  # the default
        ({"output_config": {"effort": "low"}}, 2),
        ({"thinking": ADAPTIVE}, 2),
        ({"tool_choice": {"type": "auto"}}, 2),
        ({"messages": [user_says(text_block(BIG + "!", mark=True))]}, 2),
        ({"system": [text_block(BIG + "!", mark=True)]}, 1),
        ({"tools": [TOOL | {"name": "other"}]}, 0),
        ({"model": "claude-opus-5"}, 0),
    ],
)
def test_a_change_empties_the_cache_from_where_it_stands(change: dict[str, Any], levels: int) -> None:
    """Tools, system prompt, messages: each level falls with those before it."""
    with FakeApi() as api:
        streamed(api, **MARKED)
        read = streamed(api, **(MARKED | change)).usage.cache_read_input_tokens
    assert read is not None and levels == read // 2_500


@pytest.mark.parametrize(("model", "kind", "read"), [(MODEL, ADAPTIVE, True), ("claude-haiku-4-5", BUDGET, False)])
def test_old_thoughts_leave_the_prompt_of_models_that_do_not_keep_them(model: str, kind: Any, read: bool) -> None:
    with FakeApi([answer(Think("hm"), Call("bash", {}))]) as api:
        said = created(api, model=model, thinking=kind, tools=[BASH]).content
        turn = [*asking({})["messages"], {"role": "assistant", "content": said}]
        turn.append(user_says(result(said[1].id, BIG * 2) | {"cache_control": {"type": "ephemeral"}}))
        created(api, model=model, thinking=kind, tools=[BASH], messages=turn)
        later = [*turn, assistant(text_block("done")), user_says(text_block("more", mark=True))]
        usage = created(api, model=model, thinking=kind, tools=[BASH], messages=later).usage
    assert read == bool(usage.cache_read_input_tokens)


def test_a_request_costs_nothing_and_writes_nothing_until_its_response_begins() -> None:
    gate = Gate()
    system = [text_block(BIG, mark=True)]
    with FakeApi([answer("late", wait=gate)]) as api, ThreadPoolExecutor(1) as pool:
        late = pool.submit(streamed, api, system=system)
        assert gate.reached.wait(30)
        assert Usage() == api.spent()
        assert [0, 2_500] == [created(api, system=system).usage.cache_read_input_tokens for _ in range(2)]
        gate.open()
        usage = late.result().usage
    assert (2_500, 0) == (usage.cache_creation_input_tokens, usage.cache_read_input_tokens)


def test_a_response_has_begun_once_its_first_byte_is_there() -> None:
    gate = Gate()
    system = [text_block(BIG, mark=True)]
    with (
        FakeApi([answer("slow", hold("message_stop", gate))]) as api,
        sdk(api) as client,
        client.messages.stream(**asking({"system": system})) as stream,
    ):
        next(iter(stream))
        assert 2_500 == created(api, system=system).usage.cache_read_input_tokens
        gate.open()
        stream.until_done()


# --- what it remembers ---


def test_requests_are_kept_with_what_became_of_them() -> None:
    with FakeApi([answer("hello"), answer("hello", without("message_stop"))]) as api:
        streamed(api)
        first = api.requests[0]
        assert first.done.wait(30)
    assert ("anthropic", "/v1/messages", MODEL, 200, True) == (
        first.form,
        first.path,
        first.model,
        first.status,
        first.whole,
    )
    assert "Bearer k" == first.headers["authorization"]  # as the package sends its key
    assert (Speech("user", (Text("hi"),)),) == first.speeches
    assert first.body == orjson.loads(first.raw)


def test_what_is_spent_is_told_by_model() -> None:
    with FakeApi() as api:
        created(api)
        created(api, model="claude-opus-5")
        assert [1, 1, 2, 0] == [api.spent(model).input for model in (MODEL, "claude-opus-5", "", "claude-haiku-4-5")]


def test_the_package_lists_the_models() -> None:
    with FakeApi() as api, sdk(api) as client:
        found = {model.id: model.max_input_tokens for model in client.models.list()}
        one = client.models.retrieve("claude-haiku-4-5")
        with pytest.raises(anthropic.NotFoundError):
            client.models.retrieve("claude-9")
    assert (1_000_000, 200_000, 200_000) == (found[MODEL], found["claude-haiku-4-5"], one.max_input_tokens)


def test_the_package_is_told_that_its_key_is_not_known_when_it_asks_for_models() -> None:
    with FakeApi(keys=["other"]) as api, sdk(api) as client, pytest.raises(anthropic.AuthenticationError):
        client.models.list()


def test_bodies_are_kept_only_where_they_are_wanted() -> None:
    with FakeApi(keep_bodies=False) as api:
        created(api)
        (received,) = api.requests
        assert received.done.wait(30)
        assert (b"", None, (), MODEL, 1) == (
            received.raw,
            received.body,
            received.speeches,
            received.model,
            api.spent(MODEL).input,
        )


def test_every_response_has_the_headers_of_the_real_one() -> None:
    with FakeApi() as api:
        headers = posted(api, asking({})).headers
    assert headers["request-id"].startswith("req_")
    assert {"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-tokens-limit"} <= set(headers)
