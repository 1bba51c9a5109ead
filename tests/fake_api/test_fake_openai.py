"""The fake API in OpenAI's form, over plain HTTP."""

import base64
from typing import Any

import httpx
import orjson
import pytest
from fake_acts import Act, Call, Fail, Reset, Think, answer, cut, cut_byte, pings, put, too_long, without
from fake_api import FakeApi

from eukhe.model.talk import Image, Result, Text, Usage, Use
from tests.fake_api.fake_kit import HEADERS, HI, Time, chatted, chunks, deltas, png

ALL = (Think("Let me see."), "I look. ", "Über.", Call("bash", {"a": 1}), Call("read", {"b": "ü"}))
USAGE = {"include_usage": True}
BIG = "word " * 2_000
TOOL: Any = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}


def url(data: bytes, kind: str = "image/png") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{base64.b64encode(data).decode()}"}}


def called(*names: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": "{}"}
    calls = [{"id": name, "type": "function", "function": function} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool(of: str, content: Any = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": of, "content": content}


# --- responses ---


def test_a_stream_says_text_thoughts_and_calls() -> None:
    with FakeApi([answer(*ALL, piece_chars=4)]) as api:
        response = chatted(api, stream=True, stream_options=USAGE)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert "I look. Über." == deltas(response, "content")
    assert "Let me see." == deltas(response, "reasoning_content")
    found: dict[int, list[str]] = {}
    for chunk in chunks(response):
        for call in chunk["choices"][0]["delta"].get("tool_calls", []) if chunk["choices"] else []:
            parts = found.setdefault(call["index"], [call.get("id"), call["function"].get("name"), ""])
            parts[2] += call["function"]["arguments"]
    assert [["bash", {"a": 1}], ["read", {"b": "ü"}]] == [
        [name, orjson.loads(json)] for _, name, json in found.values()
    ]
    assert 2 == len({name for name, _, _ in found.values()})
    *_, last, usage = chunks(response)
    assert "tool_calls" == last["choices"][0]["finish_reason"]
    assert ([], True) == (usage["choices"], usage["usage"]["total_tokens"] > 0)


def test_a_response_in_one_piece_says_the_same() -> None:
    with FakeApi([answer(*ALL), answer(*ALL)]) as api:
        whole = chatted(api).json()
        streamed = chunks(chatted(api, stream=True, stream_options=USAGE))
    message = whole["choices"][0]["message"]
    assert ("I look. Über.", "Let me see.") == (message["content"], message["reasoning_content"])
    assert ['{"a":1}', '{"b":"ü"}'] == [call["function"]["arguments"] for call in message["tool_calls"]]
    assert ("tool_calls", streamed[-1]["usage"]) == (whole["choices"][0]["finish_reason"], whole["usage"])


def test_usage_comes_in_a_stream_only_where_it_is_asked_for() -> None:
    with FakeApi() as api:
        assert all(chunk["usage"] is None for chunk in chunks(chatted(api, stream=True)))


@pytest.mark.parametrize("said", [(), ("",), ("", "abcdefgh"), ("a",), (Think("x" * 99), "y")])
def test_what_is_told_is_what_is_billed(said: tuple[Any, ...]) -> None:
    with FakeApi([answer(*said)] * 2) as api:
        found = [chunks(chatted(api, stream=True, stream_options=USAGE))[-1], chatted(api).json()]
        told = [Usage(each["usage"]["prompt_tokens"], each["usage"]["completion_tokens"]) for each in found]
        assert told == [request.usage for request in api.requests]


def test_its_own_count_is_what_it_told() -> None:
    with FakeApi([answer(*ALL)]) as api:
        told = chunks(chatted(api, stream=True, stream_options=USAGE))[-1]["usage"]
        api.settle()
        assert Usage(input=told["prompt_tokens"], output=told["completion_tokens"]) == api.spent("gpt-5", whole=True)
    assert 0 < told["completion_tokens_details"]["reasoning_tokens"] < told["completion_tokens"]


@pytest.mark.parametrize(
    ("stop", "reason"), [("natural", "stop"), ("length", "length"), ("refusal", "content_filter"), ("none", None)]
)
def test_a_reply_ends_for_the_reason_that_it_is_told(stop: Any, reason: str | None) -> None:
    with FakeApi([answer("hello", stop=stop)] * 2) as api:
        streamed = chunks(chatted(api, stream=True))[-1]["choices"][0]["finish_reason"]
        assert [reason, reason] == [streamed, chatted(api).json()["choices"][0]["finish_reason"]]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_reply_has_no_more_tokens_than_it_may(name: str) -> None:
    with FakeApi([answer("abcd" * 100)]) as api:
        choice = chatted(api, **{name: 10}).json()["choices"][0]
    assert ("abcd" * 10, "length") == (choice["message"]["content"], choice["finish_reason"])


# --- requests ---


def test_a_conversation_is_heard_as_in_the_other_form() -> None:
    messages = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "look"}, url(png())]},
        called("a", "b"),
        tool("a"),
        tool("b", [{"type": "text", "text": "more"}]),
        {"role": "user", "content": "and?"},
    ]
    with FakeApi() as api:
        assert 200 == chatted(api, messages=messages, tools=[TOOL]).status_code
        first, second, third = (speech.blocks for speech in api.requests[0].speeches)
    assert [Text("look"), "image/png"] == [first[0], first[1].type_ if isinstance(first[1], Image) else None]
    assert (Use("a", "bash", "{}"), Use("b", "bash", "{}")) == second
    assert (Result("a", (Text("done"),)), Result("b", (Text("more"),)), Text("and?")) == third


def test_a_prefix_is_read_from_the_cache_without_a_mark() -> None:
    clock = Time()
    messages = [{"role": "system", "content": BIG}, *HI]
    with FakeApi(now=clock) as api:
        found = [chatted(api, messages=messages).json()["usage"]]
        clock.now_s += 300
        found.append(chatted(api, messages=[*messages, {"role": "assistant", "content": "x"}, *HI]).json()["usage"])
        clock.now_s += 301
        found.append(chatted(api, messages=messages).json()["usage"])
    assert [0, 2_432, 0] == [usage["prompt_tokens_details"]["cached_tokens"] for usage in found]
    assert found[0]["prompt_tokens"] == found[2]["prompt_tokens"] < found[1]["prompt_tokens"]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"model": None}, "you must provide a model parameter"),
    ({"nonsense": 1}, "Unrecognized request argument supplied: nonsense"),
    ({"stream_options": USAGE}, "only allowed when 'stream' is enabled"),
    ({"max_tokens": 0}, "integer below minimum value"),
    ({"max_tokens": 128_001}, "max_tokens is too large: 128001"),
    ({"reasoning_effort": "huge"}, "Invalid value: 'huge'"),
    ({"messages": None}, "Missing required parameter: 'messages'."),
    ({"messages": []}, "Invalid 'messages': empty array"),
    ({"messages": [{"role": "robot", "content": "x"}]}, "Invalid value: 'robot'"),
    ({"messages": [{"role": "user", "content": None}]}, "expected a string or an array"),
    ({"messages": [{"role": "assistant", "content": None}]}, "expected a string, got null"),
    ({"messages": [*HI, called()]}, "tool_calls': empty array"),
    ({"messages": [*HI, called("a"), *HI]}, "did not have response messages: a"),
    ({"messages": [*HI, called("a", "b"), tool("b"), *HI]}, "did not have response messages: a"),
    ({"messages": [*HI, called("a")]}, "must be followed by tool messages"),
    ({"messages": [*HI, tool("a")]}, "must be a response to a preceeding message with 'tool_calls'"),
    ({"messages": [*HI, called("a"), tool("a", [url(png())])]}, "Invalid value: 'image_url'"),
    ({"messages": [{"role": "user", "content": [url(b"no")]}]}, "unsupported image"),
    ({"messages": [{"role": "user", "content": [url(png(), "image/jpeg")]}]}, "unsupported image"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "data URLs"),
    ({"tools": []}, "Invalid 'tools': empty array"),
    ({"tools": [{"type": "function"}]}, "Missing required parameter: 'tools[0].function'."),
    ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "does not match pattern"),
]


@pytest.mark.parametrize(("request_", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_it_is_refused_in_its_own_form(request_: dict[str, Any], words: str) -> None:
    body = {name: value for name, value in ({"model": "gpt-5", "messages": HI} | request_).items() if value is not None}
    with FakeApi() as api:
        response = httpx.post(f"{api.openai_url}/chat/completions", json=body, headers={"authorization": "Bearer k"})
    error = response.json()["error"]
    assert (400, "invalid_request_error") == (response.status_code, error["type"])
    assert words in error["message"]


@pytest.mark.parametrize(
    ("act", "status", "kind", "code"),
    [
        (Fail(401), 401, "invalid_request_error", "invalid_api_key"),
        (Fail(404), 404, "invalid_request_error", "model_not_found"),
        (Fail(429, retry_after=2), 429, "requests", "rate_limit_exceeded"),
        (Fail(500), 500, "server_error", None),
        (Fail(529), 503, "server_error", None),
        (too_long(), 400, "invalid_request_error", "context_length_exceeded"),
    ],
)
def test_an_error_has_its_form(act: Fail, status: int, kind: str, code: str | None) -> None:
    with FakeApi([act]) as api:
        response = chatted(api)
    error = response.json()["error"]
    assert (status, kind, code) == (response.status_code, error["type"], error["code"])
    assert (act.retry_after is None) == ("retry-after" not in response.headers)


def test_a_prompt_that_is_really_too_long_is_refused_without_being_told_to() -> None:
    with FakeApi() as api:
        error = chatted(api, model="local", messages=[{"role": "user", "content": "x" * 4 * 32_768}]).json()["error"]
    assert "context_length_exceeded" == error["code"] and "32768 tokens" in error["message"]


@pytest.mark.parametrize(("key", "status"), [("", 401), ("Bearer bad", 401), ("Bearer good", 200)])
def test_a_key_is_asked_for(key: str, status: int) -> None:
    with FakeApi(keys=["good"]) as api:
        response = httpx.post(
            f"{api.base_url}/v1/chat/completions",
            json={"model": "gpt-5", "messages": HI},
            headers={"authorization": key} if key else {},
        )
    assert status == response.status_code


def test_the_list_of_models_is_told_in_the_form_that_is_asked() -> None:
    bearer = {"authorization": "Bearer k"}
    with FakeApi() as api:
        ours = httpx.get(f"{api.openai_url}/models", headers=bearer).json()
        one = httpx.get(f"{api.openai_url}/models/local", headers=bearer).json()
        theirs = httpx.get(f"{api.base_url}/v1/models?limit=9", headers=HEADERS).json()
        urls = [f"{api.openai_url}/models/nobody", f"{api.base_url}/v1/weather", f"{api.base_url}/v1/models/gpt-5/x"]
        assert [404] * 3 == [httpx.get(url, headers=bearer).status_code for url in urls]
        assert 401 == httpx.get(f"{api.openai_url}/models").status_code
    assert ("list", "gpt-5", "local") == (ours["object"], ours["data"][0]["id"], one["id"])
    assert ("model", False) == (theirs["data"][0]["type"], theirs["has_more"])


# --- faults ---


@pytest.mark.parametrize("how", ["reset", "drop"])
def test_a_connection_may_end_before_there_is_a_response(how: Any) -> None:
    with FakeApi([Reset(how)]) as api, pytest.raises(httpx.TransportError):
        chatted(api)


@pytest.mark.parametrize(
    "act",
    [
        answer("hello " * 20, cut("finish")),
        answer("hello " * 20, cut("finish", "reset")),
        answer("hello " * 20, cut_byte(300)),
    ],
)
def test_a_stream_may_be_cut(act: Act) -> None:
    with FakeApi([act]) as api, pytest.raises(httpx.TransportError):
        chatted(api, stream=True)


@pytest.mark.parametrize("twist", [without("done"), cut("done", "end"), cut("finish", "end")])
def test_a_stream_may_just_end(twist: Any) -> None:
    with FakeApi([answer("hello", twist)]) as api:
        response = chatted(api, stream=True)
    assert 200 == response.status_code and "[DONE]" not in response.text


@pytest.mark.parametrize(
    ("what", "shown"),
    [("error", b'"server_error"'), ("garbage", b"\xff\xfe"), ("unknown", b"weather"), ("ping", b": ")],
)
def test_a_stream_may_hold_what_does_not_belong_there(what: Any, shown: bytes) -> None:
    with FakeApi([answer("hello", put("finish", what))]) as api:
        assert shown in chatted(api, stream=True).content


def test_pings_are_comments() -> None:
    with FakeApi([answer("hello", pings("finish"))]) as api:
        body = {"model": "gpt-5", "messages": HI, "stream": True}
        request: Any = {"json": body, "headers": {"authorization": "Bearer k"}}
        with httpx.stream("POST", f"{api.openai_url}/chat/completions", **request) as response:
            lines = response.iter_lines()
            assert 3 == len([next(line for line in lines if line == ": keep-alive") for _ in range(3)])
        assert api.requests[0].done.wait(30) and not api.requests[0].whole
