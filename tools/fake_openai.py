"""OpenAI's form of the fake API: POST /v1/chat/completions, as far as any compatible server has it.

Thoughts come as `reasoning_content`, as servers of open models send them; OpenAI's own sends none.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256

import fake_openai_rules as rules
import orjson
from fake_acts import TOO_LONG, Call, Event, Fail, Odd, Said, Stop, Think
from fake_form import Body, Facts, Refusal, call_json, dumped, joined, pieces, tokens_said
from fake_models import OPENAI

from eukhe.limits import CACHE_IMAGE_TOKENS
from eukhe.model.talk import Block as Heard
from eukhe.model.talk import Image, Result, Speech, Text, Usage, Use
from eukhe.sim.prompt_cache import Automatic, Block, tokens_of

ERRORS = {
    400: ("invalid_request_error", None, "Invalid request"),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "unsupported_country", "Country, region, or territory not supported"),
    404: ("invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."),
    413: ("invalid_request_error", None, "Request too large"),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached. Please try again later."),
    500: ("server_error", None, "The server had an error while processing your request."),
    503: ("server_error", None, "The server is currently overloaded. Please try again later."),
}
CONTEXT = "This model's maximum context length is {} tokens. However, your messages resulted in {} tokens."
STOPS = {"end": "stop", "tools": "tool_calls", "length": "length", "refusal": "content_filter", "none": None}
CREATED = 1_767_225_600  # no clock is asked: every response says the same


class OpenAIForm:
    """See `fake_form.Form`."""

    name = "openai"

    def __init__(self) -> None:
        self.cache = Automatic()

    def admit(self, headers: Mapping[str, str], keys: Sequence[str]) -> None:
        key = headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not key:
            raise Refusal("You didn't provide an API key.", 401)
        if keys and key not in keys:
            raise Refusal("Incorrect API key provided.", 401)

    def check(self, body: object, headers: Mapping[str, str]) -> Body:
        if not isinstance(body, dict):
            raise Refusal("We could not parse the JSON body of your request.")
        name = body.get("model")
        if not isinstance(name, str):
            raise Refusal("you must provide a model parameter")
        _check_name(name)
        rules.check(body, OPENAI[name])
        return body

    def models(self, name: str) -> bytes:
        if name:
            _check_name(name)
            return orjson.dumps(_model(name))
        return orjson.dumps({"object": "list", "data": [_model(name) for name in OPENAI]})

    def speeches(self, body: Body) -> tuple[Speech, ...]:
        return joined([_speech(message) for message in body["messages"] if message["role"] not in _SYSTEM])

    def blocks(self, body: Body) -> list[Block]:
        """Its cache knows no blocks; these are what makes images cost what they cost. Tools stand first."""
        found = [_text_block(orjson.dumps(tool)) for tool in body.get("tools") or []]
        for message in body["messages"]:
            content = message.get("content")
            parts = content if isinstance(content, list) else []
            bare = message | {"content": None} if parts else message
            found.append(_text_block(orjson.dumps(bare)))
            found += [_part_block(part) for part in parts]
        return found

    def check_length(self, body: Body, tokens: int) -> None:
        if tokens > (most := OPENAI[body["model"]].context_tokens):
            raise Refusal(CONTEXT.format(most, tokens), kind=TOO_LONG)

    def thinks(self, body: Body) -> bool:
        return str(body.get("reasoning_effort", "none")) != "none"

    def output_tokens(self, body: Body) -> int:
        most = body.get("max_completion_tokens", body.get("max_tokens"))
        return int(most) if most is not None else OPENAI[body["model"]].output_tokens

    def events(self, said: Sequence[Said], stop: Stop, facts: Facts, piece_chars: int) -> list[Event]:
        output = max(1, sum(tokens_said(part) for part in said))
        found = [_chunk(facts, {"role": "assistant", "content": ""}, tokens=1)]
        calls = 0
        for at, part in enumerate(said):
            for number, delta in enumerate(_deltas(part, at, calls, facts, piece_chars)):
                tokens = tokens_said(part) - (at == 0) if number == 0 else 0
                found.append(_chunk(facts, delta, tokens=max(0, tokens)))
            calls += isinstance(part, Call)
        rest = output - sum(event.tokens for event in found)
        found.append(_chunk(facts, {}, STOPS[stop], "finish", rest))
        if (facts.body.get("stream_options") or {}).get("include_usage"):
            usage = {"choices": [], "usage": _usage(facts.usage, said)}
            found.append(Event("usage", _data(_head(facts, "chat.completion.chunk") | usage)))
        return [*found, Event("done", b"data: [DONE]\n\n")]

    def whole(self, said: Sequence[Said], stop: Stop, facts: Facts) -> bytes:
        message: Body = {
            "role": "assistant",
            "content": "".join(part for part in said if isinstance(part, str)) or None,
        }
        if thought := "".join(part.text for part in said if isinstance(part, Think)):
            message["reasoning_content"] = thought
        calls = [
            _call(part.name, call_json(part), _call_id(facts, at))
            for at, part in enumerate(said)
            if isinstance(part, Call)
        ]
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": STOPS[stop]}
        return dumped(_head(facts, "chat.completion") | {"choices": [choice], "usage": _usage(facts.usage, said)})

    def status(self, fail: Fail) -> int:
        """It is overloaded with 503."""
        return 503 if fail.status == 529 else fail.status

    def error(self, fail: Fail, request_id: str) -> bytes:
        kind, code, message = ERRORS.get(self.status(fail), ERRORS[500])
        if fail.kind == TOO_LONG:
            code, message = "context_length_exceeded", CONTEXT.format(32_768, 32_769)
        named = fail.kind if fail.kind and fail.kind != TOO_LONG else kind
        return orjson.dumps({"error": {"message": fail.message or message, "type": named, "param": None, "code": code}})

    def odd(self, what: Odd) -> bytes:
        return {
            "ping": b": keep-alive\n\n",
            "error": _data({"error": {"message": "Overloaded", "type": "server_error", "param": None, "code": None}}),
            "unknown": b'event: weather\ndata: {"object":"weather","sky":"clear"}\n\n',
            "garbage": b'data: {"choices": \xff\xfe\x00}\n\n',
        }[what]

    def headers(self, request_id: str) -> dict[str, str]:
        return {
            "x-request-id": request_id,
            "x-ratelimit-limit-requests": "5000",
            "x-ratelimit-remaining-requests": "4999",
            "x-ratelimit-reset-requests": "12ms",
        }


# --- requests ---

_SYSTEM = ("system", "developer")


def _check_name(name: str) -> None:
    if name not in OPENAI:
        raise Refusal(f"The model `{name}` does not exist or you do not have access to it.", 404)


def _speech(message: Body) -> Speech:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    heard: list[Heard] = [_heard(part) for part in parts]
    if message["role"] == "tool":
        kept = tuple(part for part in heard if isinstance(part, Text | Image))
        return Speech("user", (Result(message["tool_call_id"], kept),))
    calls = ((call["id"], call["function"]) for call in message.get("tool_calls") or [])
    heard += [Use(name, function["name"], function["arguments"]) for name, function in calls]
    return Speech("assistant" if message["role"] == "assistant" else "user", tuple(heard))


def _heard(part: Body) -> Text | Image:
    if part["type"] == "text":
        return Text(part["text"])
    kind, data = rules.image_of(part["image_url"]["url"])
    return Image(kind, data.encode())


def _text_block(data: bytes) -> Block:
    return Block(data, tokens_of(data))


def _part_block(part: Body) -> Block:
    if part["type"] == "image_url":
        return Block(sha256(part["image_url"]["url"].encode()).digest(), CACHE_IMAGE_TOKENS)
    return _text_block(part["text"].encode())


# --- responses ---


def _model(name: str) -> Body:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "fake"}


def _data(value: Body) -> bytes:
    return b"data: %b\n\n" % dumped(value)


def _head(facts: Facts, kind: str) -> Body:
    return {"id": facts.id, "object": kind, "created": CREATED, "model": facts.model}


def _chunk(facts: Facts, delta: Body, stop: str | None = None, name: str = "chunk", tokens: int = 0) -> Event:
    choice = {"index": 0, "delta": delta, "finish_reason": stop}
    return Event(name, _data(_head(facts, "chat.completion.chunk") | {"choices": [choice], "usage": None}), tokens)


def _deltas(part: Said, at: int, calls: int, facts: Facts, chars: int) -> list[Body]:
    if isinstance(part, str):
        return [{"content": piece} for piece in pieces(part, chars)]
    if isinstance(part, Think):
        return [{"reasoning_content": piece} for piece in pieces(part.text, chars)]
    first = {"index": calls} | _call(part.name, "", _call_id(facts, at))
    more = [{"index": calls, "function": {"arguments": piece}} for piece in pieces(call_json(part), chars)]
    return [{"tool_calls": [call]} for call in [first, *more]]


def _call(name: str, arguments: str, call_id: str) -> Body:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _call_id(facts: Facts, at: int) -> str:
    """A call's id: told from its conversation, so that it is the same however often it is asked for."""
    return f"call_{facts.calls:020d}{at:04d}"


def _usage(usage: Usage, said: Sequence[Said]) -> Body:
    prompt = usage.input + usage.cache_read
    output = max(1, sum(tokens_said(part) for part in said))
    thought = sum(tokens_said(part) for part in said if isinstance(part, Think))
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
