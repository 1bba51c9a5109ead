"""Servers that speak OpenAI's form each in its own way."""

from typing import Any

import httpx
import orjson
import pytest

from eukhe.actors.ports import Broke, CallEvent, Key, Outage, Replied, Responding, TurnRequest
from eukhe.model.talk import Result, Speech, Text, Usage, Use
from eukhe.world.providers.openai import call
from eukhe.world.worker_wire import Order
from tests.providers.provider_kit import BASH, streamed, talk

HERE = Key("openai", "", "http://localhost:1/v1")
CALL = {"name": "bash", "arguments": '{"command":"ls"}'}


def said(body: bytes, kind: str = "text/event-stream", *speeches: Speech) -> list[CallEvent]:
    """What is heard of a call that a server answers so."""
    order = Order(1, TurnRequest("openai/any", talk(*speeches, tools=[BASH])), HERE)
    answers = httpx.MockTransport(lambda request: httpx.Response(200, content=body, headers={"content-type": kind}))
    return list(call(order, answers))


def stream(*chunks: Any, done: bool = True) -> bytes:
    return b"".join(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks) + (b"data: [DONE]\n\n" * done)


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def replied(events: list[CallEvent]) -> Replied:
    last = events[-1]
    assert isinstance(last, Replied), last
    return last


def test_no_usage_and_no_done_are_no_fault() -> None:
    last = replied(said(stream(delta(content="yes"), delta("stop"), done=False)))
    assert ("yes", None) == (last.text, last.usage)


def test_an_end_without_its_last_newline_counts() -> None:
    assert "yes" == replied(said(stream(delta(content="yes"), delta("stop"), done=False) + b"data: [DONE]")).text


def test_neither_done_nor_a_reason_to_finish_is_a_failed_call() -> None:
    for done in (True, False):
        last = said(stream(delta(content="yes"), done=done))[-1]
        assert Broke("openai: the stream ended without a reason to finish") == last


WHOLE = {"function": CALL}
PIECES = [
    {"id": "a", "function": {"name": "bash"}},
    {"function": {"arguments": '{"command"'}},
    {"function": {"arguments": ':"ls"}'}},
]
AGAIN = [{"index": 0, "id": "a", "function": {"name": "bash", "arguments": text}} for text in ("", CALL["arguments"])]
OBJECT = {"index": 0, "id": None, "function": {"name": "bash", "arguments": {"command": "ls"}}}


@pytest.mark.parametrize("calls", [[WHOLE | {"index": 0, "id": "a"}], [WHOLE], PIECES, AGAIN, [OBJECT]])
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
def test_a_tool_call_comes_whole_or_in_pieces_with_or_without_index_and_id(calls: list[Any], finish: str) -> None:
    last = replied(said(stream(*(delta(tool_calls=[call]) for call in calls), delta(finish))))
    assert last.reply is not None
    (use,) = last.reply.uses
    assert ("tools", "bash", '{"command":"ls"}') == (last.reply.stop, use.name, use.input)
    assert use.id


def test_calls_without_index_and_id_are_told_apart_by_their_names() -> None:
    last = replied(said(stream(delta(tool_calls=[{"function": CALL}, {"function": CALL}]), delta("tool_calls"))))
    assert last.reply is not None
    assert ["call_0", "call_1"] == [use.id for use in last.reply.uses]


def test_an_id_that_was_there_before_in_the_conversation_is_given_anew() -> None:
    before = (
        Speech("assistant", (Use("a", "bash", "{}"), Use("call_0", "bash", "{}"))),
        Speech("user", (Result("a", (Text("x"),)), Result("call_0", (Text("x"),)))),
    )
    found = replied(
        said(stream(delta("tool_calls", tool_calls=[{"id": "a", "function": CALL}])), "text/plain", *before)
    )
    assert found.reply is not None
    assert ["call_1"] == [use.id for use in found.reply.uses]


def test_a_reply_in_one_piece_is_taken_too() -> None:
    whole = {
        "choices": [{"message": {"content": "yes", "tool_calls": None}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None},
    }
    for indent in (0, orjson.OPT_INDENT_2):
        events = said(orjson.dumps(whole, option=indent), "application/json; charset=utf-8")
        assert ("yes", Usage(9, 2)) == (replied(events).text, replied(events).usage)
        assert isinstance(events[0], Responding)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_what_is_reasoned_is_told_and_is_no_part_of_the_reply(name: str) -> None:
    events = said(stream(delta(**{name: "hm"}), delta(content="yes"), delta("stop")))
    assert ("hm", "yes") == (streamed(events, "thought"), streamed(events, "text"))
    assert replied(events).reply == replied(said(stream(delta(content="yes"), delta("stop")))).reply


def test_usage_is_the_last_one_and_tells_what_was_cached() -> None:
    figures = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}
    last = replied(
        said(
            stream(
                delta(content="x") | {"usage": {"prompt_tokens": 1}}, delta("stop"), {"choices": [], "usage": figures}
            )
        )
    )
    assert Usage(36, 5, 64) == last.usage
    other = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_cache_hit_tokens": 64}
    assert (
        Usage(36, 5, 64) == replied(said(stream(delta("stop", content="x"), {"choices": None, "usage": other}))).usage
    )


def test_text_as_parts_and_a_refusal_are_text() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "yes"}]
    assert "yes" == replied(said(stream(delta("stop", content=parts)))).text
    refused = replied(said(stream(delta(refusal="I won't."), delta("content_filter"))))
    assert refused.reply is not None
    assert ("refusal", "I won't.") == (refused.reply.stop, refused.text)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"error": {"message": "overloaded", "code": 503}}, Outage),
        ({"error": {"message": "no more quota", "code": 401}}, Outage),
        ({"error": "out of memory"}, Outage),
        ({"error": {"message": "bad grammar", "code": 400}}, Broke),
    ],
)
def test_an_error_in_the_stream_is_one_of_the_call_or_of_the_provider(error: Any, kind: type[CallEvent]) -> None:
    (last,) = said(stream(error))
    assert isinstance(last, kind)
    after = said(stream(delta(content="so"), error))[-1]
    assert isinstance(after, Broke)
    assert "the response broke off: " in after.why


NONE = [b"<html>hello</html>", b"", b"null", b"data: 5\n\n", b'data: {"choices":5}\n\n', b"data: [1]\n\n"]


@pytest.mark.parametrize("body", NONE)
@pytest.mark.parametrize("kind", ["text/html", "application/json", "text/event-stream"])
def test_what_is_no_response_at_all_is_a_failed_call(body: bytes, kind: str) -> None:
    last = said(body, kind)[-1]
    assert isinstance(last, Broke)
    assert last.why.startswith("openai: ")


def test_a_line_without_an_end_is_given_up() -> None:
    last = said(b"data: " + b"x" * 9_000_000)[-1]
    assert isinstance(last, Broke)
    assert "LineTooLong" in last.why
