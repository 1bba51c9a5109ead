"""What the fake API refuses in Anthropic's form, in the real one's words; and that it refuses nothing else."""

from typing import Any

import orjson
import pytest
from fake_api import FakeApi

from tests.fake_api.fake_kit import (
    BASH,
    HEADERS,
    HI,
    MARK,
    asking,
    assistant,
    image,
    png,
    posted,
    result,
    text,
    use,
    user,
)

CALLED = [user(text("hi")), assistant(use("a"))]
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "forged"}
BUDGET = {"type": "enabled", "budget_tokens": 2_000}
HAIKU, OPUS_5, SONNET_46, FABLE = "claude-haiku-4-5", "claude-opus-5", "claude-sonnet-4-6", "claude-fable-5"


@pytest.fixture(scope="module")
def api() -> Any:
    with FakeApi() as api:
        yield api


def refusal(api: FakeApi, request: dict[str, Any]) -> str:
    """The words of a 400."""
    response = posted(api, {name: value for name, value in asking(request).items() if value is not None})
    assert (400, "invalid_request_error") == (response.status_code, response.json()["error"]["type"]), response.text
    return str(response.json()["error"]["message"])


REFUSED: list[tuple[dict[str, Any], str]] = [
    # numbers and fields
    ({"max_tokens": None}, "max_tokens: Field required"),
    ({"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
    ({"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
    ({"max_tokens": 128_001}, "max_tokens: 128001 > 128000, which is the maximum allowed"),
    ({"model": None}, "model: Field required"),
    ({"nonsense": 1}, "nonsense: Extra inputs are not permitted"),
    ({"stream": "yes"}, "stream: Input should be a valid boolean"),
    # messages
    ({"messages": None}, "messages: Field required"),
    ({"messages": []}, "messages: at least one message is required"),
    ({"messages": [assistant(text("hi"))]}, 'messages: first message must use the "user" role'),
    ({"messages": [{"role": "system", "content": "x"}]}, "messages.0.role: Input should be 'user' or 'assistant'"),
    ({"messages": [*HI, assistant(text("I"))]}, "does not support assistant message prefill"),
    ({"messages": [user()]}, "messages.0: all messages must have non-empty content"),
    ({"messages": [{"role": "user", "content": ""}]}, "messages.0: all messages must have non-empty content"),
    ({"messages": [{"role": "user", "content": " \n"}]}, "text content blocks must contain non-whitespace text"),
    ({"messages": [user(text(""))]}, "messages: text content blocks must be non-empty"),
    ({"messages": [user(text("", mark=True))]}, "cache_control cannot be set for empty text blocks"),
    ({"messages": [user(text(" "))]}, "text content blocks must contain non-whitespace text"),
    ({"messages": [user({"type": "video"})]}, "messages.0.content.0: Input tag 'video' found using 'type'"),
    ({"messages": [user(use("a"))]}, "messages.0.content.0: Input tag 'tool_use' found using 'type'"),
    ({"messages": [HI[0] | {"name": "Bob"}]}, "messages.0.name: Extra inputs are not permitted"),
    ({"system": [text("")]}, "system: text content blocks must be non-empty"),
    ({"system": [image(png())]}, "system.0.type: Input should be 'text'"),
    # tools' calls and results
    ({"messages": [*CALLED, user(text("so?"))]}, "messages.1: `tool_use` ids were found without `tool_result` blocks"),
    ({"messages": [*CALLED, user(text("so?"), result("a"))]}, "immediately after: a. Each `tool_use` block must have"),
    ({"messages": [*CALLED, user(result("b"))]}, "immediately after: a."),
    ({"messages": [*CALLED, user(result("a"), result("b"))]}, "messages.2.content.1: unexpected `tool_use_id` found"),
    ({"messages": [user(result("a"))]}, "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks"),
    ({"messages": [*CALLED, user(result("a"), result("a"))]}, "each tool_use must have a single result"),
    ({"messages": [user(text("x")), assistant(use("a"), use("a")), user(result("a"))]}, "ids must be unique"),
    (
        {"messages": [*CALLED, user(result("a")), assistant(use("a")), user(result("a"))]},
        "messages.3.content: `tool_use` ids must be unique",
    ),
    ({"messages": [user(text("x")), assistant(use("a b")), user(result("a b"))]}, "tool_use.id: String should match"),
    ({"messages": [*CALLED[:1], assistant(use("a") | {"input": "ls"})]}, "input: Input should be a valid dictionary"),
    ({"messages": [*CALLED, user(result("a", [use("b")]))]}, "tool_result.content.0: Input tag 'tool_use'"),
    ({"messages": CALLED, "model": HAIKU}, "messages.1: `tool_use` ids were found without `tool_result` blocks"),
    # tools
    ({"tools": [BASH | {"name": "my tool"}]}, "tools.0.custom.name: String should match pattern"),
    ({"tools": [BASH, BASH]}, "tools: Tool names must be unique."),
    ({"tools": [{"name": "x"}]}, "tools.0.custom.input_schema: Field required"),
    ({"tools": [BASH | {"input_schema": {}}]}, "tools.0.custom.input_schema.type: Input should be 'object'"),
    # marks
    (
        {"messages": [user(*(text(word, mark=True) for word in "abcde"))]},
        "A maximum of 4 blocks with cache_control may",
    ),
    (
        {
            "tools": [BASH | {"cache_control": MARK}],
            "system": [text("s", mark=True)],
            "messages": [user(*(text(word, mark=True) for word in "abc"))],
        },
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    ({"messages": [user(text("a") | {"cache_control": {"type": "x"}})]}, "cache_control.type: Input should be"),
    (
        {"messages": [*HI, assistant(THOUGHT | {"cache_control": MARK}), *HI]},
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    ),
    # thoughts
    (
        {"messages": [*HI, assistant(THOUGHT, text("x")), *HI]},
        "messages.1.content.0: Invalid `signature` in `thinking`",
    ),
    ({"messages": [*HI, assistant({"type": "thinking", "thinking": "x"}), *HI]}, "thinking.signature: Field required"),
    ({"thinking": {"type": "some"}}, "thinking: Input tag 'some' found using 'type'"),
    ({"thinking": BUDGET}, '"thinking.type.enabled" is not supported for this model.'),
    ({"thinking": {"type": "adaptive"}, "model": HAIKU}, "adaptive thinking is not supported on this model"),
    ({"thinking": {"type": "disabled"}, "model": FABLE}, '"thinking.type.disabled" is not supported for this model.'),
    ({"thinking": {"type": "disabled"}, "model": "claude-opus-5-5"}, 'Use "thinking.type.adaptive" and "output_config'),
    ({"thinking": {"type": "disabled"}, "model": "claude-sonnet-5-5"}, '"thinking.type.disabled" is not supported'),
    ({"thinking": {"type": "between_tools"}}, '"thinking.type.between_tools" is not supported for this model.'),
    ({"thinking": {"type": "enabled"}, "model": HAIKU}, "thinking.enabled.budget_tokens: Field required"),
    ({"thinking": BUDGET | {"budget_tokens": 1_023}, "model": HAIKU}, "greater than or equal to 1024"),
    ({"thinking": BUDGET, "model": HAIKU, "max_tokens": 2_000}, "`max_tokens` must be greater than `thinking.budget_"),
    (
        {"thinking": BUDGET, "model": HAIKU, "messages": [*CALLED, user(result("a"))]},
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
    ),
    ({"output_config": {"effort": "minimal"}}, "output_config.effort: Input should be 'low', 'medium', 'high'"),
    ({"output_config": {"effort": "low"}, "model": HAIKU}, "This model does not support the effort parameter."),
    ({"output_config": {"effort": "xhigh"}, "model": SONNET_46}, "does not support effort level 'xhigh'"),
    ({"output_config": {"effort": "max"}, "thinking": {"type": "disabled"}, "model": OPUS_5}, "cannot be disabled"),
    # images
    ({"messages": [user(image(png(), "image/tiff"))]}, "source.base64.media_type: Input should be 'image/jpeg'"),
    ({"messages": [user(image(png(), "image/jpeg"))]}, "the image appears to be a image/png image"),
    ({"messages": [user(image(b"no picture"))]}, "Could not process image"),
    (
        {"messages": [user(image(png(4_000_000)))]},
        "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum",
    ),
    (
        {"messages": [user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "?"}})]},
        "invalid base64 data",
    ),
]


@pytest.mark.parametrize(("request_", "words"), REFUSED, ids=[words[:60] for _, words in REFUSED])
def test_it_is_refused_with_the_words_of_the_real_one(api: FakeApi, request_: dict[str, Any], words: str) -> None:
    assert words in refusal(api, request_)


TAKEN: list[dict[str, Any]] = [
    {},
    {"max_tokens": 128_000, "stream": True, "system": "be kind", "metadata": {"user_id": "u"}},
    {"messages": [*HI, *HI, assistant(text("a")), assistant(text("b")), *HI]},  # in a row they count as one
    {"messages": [*HI, assistant(text("I"))], "model": HAIKU},
    {"messages": [*CALLED, user(result("a"), text("and by the way"))]},
    {"messages": [*CALLED, user(result("a")), user(text("and by the way"))]},
    {"messages": [*CALLED, assistant(use("b")), user(result("a")), user(result("b"))]},
    {"messages": [user(text("x")), assistant(text("y"), use("a"), use("b")), user(result("b"), result("a", []))]},
    {"messages": [*CALLED, user(result("a", [text("t"), image(png())]))], "tools": [BASH]},
    {"messages": [user(*(text(word, mark=True) for word in "abcd"))]},
    {"messages": [user(image(png()) | {"cache_control": MARK}, text("?"))]},
    {"thinking": {"type": "adaptive", "display": "omitted"}, "output_config": {"effort": "max"}},
    {"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}, "model": OPUS_5},
    {"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}},
    {"thinking": {"type": "between_tools"}, "model": "claude-sonnet-5-5"},
    {"thinking": BUDGET, "model": HAIKU},
    {"thinking": BUDGET, "model": "claude-opus-4-5", "output_config": {"effort": "low"}},
    {"tools": [BASH | {"type": "custom", "cache_control": MARK}], "tool_choice": {"type": "none"}},
]


@pytest.mark.parametrize("request_", TAKEN, ids=range(len(TAKEN)))
def test_what_is_right_is_taken(api: FakeApi, request_: dict[str, Any]) -> None:
    response = posted(api, asking(request_))
    assert 200 == response.status_code, response.text


@pytest.mark.parametrize("field", ["temperature", "top_p", "top_k"])
def test_the_version_of_the_api_decides_about_sampling(api: FakeApi, field: str) -> None:
    body = asking({field: 1})
    statuses = [
        posted(api, body, HEADERS | {"anthropic-version": version}).status_code
        for version in ("2023-06-01", "2026-10-21")
    ]
    assert [200, 400] == statuses


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({}, 401, "authentication_error"),
        ({"x-api-key": "", "anthropic-version": "2023-06-01"}, 401, "authentication_error"),
        ({"x-api-key": "k"}, 400, "invalid_request_error"),
        ({"x-api-key": "k", "anthropic-version": "tomorrow"}, 400, "invalid_request_error"),
        ({"authorization": "Bearer k", "anthropic-version": "2026-10-21"}, 200, None),
    ],
)
def test_a_key_and_a_version_are_asked_for(api: FakeApi, headers: dict[str, str], status: int, kind: Any) -> None:
    response = posted(api, asking({}), headers)
    assert (status, kind) == (response.status_code, response.json().get("error", {}).get("type"))


def test_only_keys_that_are_known_are_let_in_where_some_are_named() -> None:
    with FakeApi(keys=["good"]) as api:
        found = [posted(api, asking({}), HEADERS | {"x-api-key": key}).status_code for key in ("good", "bad")]
    assert [200, 401] == found


def test_a_model_that_there_is_not_is_not_found(api: FakeApi) -> None:
    response = posted(api, asking({"model": "claude-9"}))
    assert (404, "not_found_error", "model: claude-9") == (
        response.status_code,
        response.json()["error"]["type"],
        response.json()["error"]["message"],
    )


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'"text"', b'{"messages": "\\ud83d"}', b"\xff"])
def test_what_is_no_json_object_is_refused(api: FakeApi, data: bytes) -> None:
    response = posted(api, data)
    assert 400 == response.status_code
    assert "not valid JSON" in response.json()["error"]["message"]


def test_a_refused_request_is_kept_and_costs_nothing() -> None:
    with FakeApi() as api:
        posted(api, asking({"max_tokens": 0}))
        (received,) = api.requests
        assert (400, 0, 0) == (received.status, received.body["max_tokens"], api.spent().input)
        assert orjson.loads(received.raw) == received.body
