"""Anthropic's form of the fake API: POST /v1/messages, as its pages on messages, streaming and errors have it."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import fake_anthropic_rules as rules
import orjson
from fake_acts import TOO_LONG, Call, Event, Fail, Odd, Said, Stop, Think
from fake_form import Body, Facts, Refusal, call_json, dumped, joined, pieces, tokens_said
from fake_models import ANTHROPIC

from eukhe.limits import CACHE_IMAGE_TOKENS
from eukhe.model.talk import Block as Heard
from eukhe.model.talk import Image, Result, Speech, Text, Thought, Usage, Use
from eukhe.sim.prompt_cache import Block, Kind, PromptCache, tokens_of

ERRORS = {
    400: ("invalid_request_error", "Invalid request"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your account has a billing problem"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "Not Found"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit"),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Request timed out"),
    529: ("overloaded_error", "Overloaded"),
}
STOPS = {
    "end": "end_turn",
    "tools": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "none": None,
}
KINDS: dict[str, Kind] = {
    "tool_use": "use",
    "tool_result": "result",
    "thinking": "thought",
    "redacted_thinking": "thought",
}
SHOWN_BYTES = 64  # of what identifies a thought, in its signature


class AnthropicForm:
    """See `fake_form.Form`."""

    name = "anthropic"

    def __init__(self) -> None:
        self.cache = PromptCache()

    def admit(self, headers: Mapping[str, str], keys: Sequence[str]) -> None:
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if not key:
            raise Refusal("x-api-key header is required", 401)
        if keys and key not in keys:
            raise Refusal("invalid x-api-key", 401)

    def check(self, body: object, headers: Mapping[str, str]) -> Body:
        if not isinstance(body, dict):
            raise Refusal("The request body is not valid JSON")
        name = body.get("model")
        if not isinstance(name, str):
            raise Refusal("model: Field required")
        if name not in ANTHROPIC:
            raise Refusal(f"model: {name}", 404)
        rules.check(body, ANTHROPIC[name], headers.get("anthropic-version", ""))
        _check_signatures(body)
        return body

    def models(self, name: str) -> bytes:
        if name and name not in ANTHROPIC:
            raise Refusal(f"model: {name}", 404)
        if name:
            return orjson.dumps(_model(name))
        found = [_model(name) for name in ANTHROPIC]
        ends = {"first_id": found[0]["id"], "last_id": found[-1]["id"]}
        return orjson.dumps({"data": found, "has_more": False} | ends)

    def speeches(self, body: Body) -> tuple[Speech, ...]:
        return joined(
            [
                Speech(message["role"], tuple(_heard(block) for block in rules.content_of(message)))
                for message in body["messages"]
            ]
        )

    def blocks(self, body: Body) -> list[Block]:
        system = body.get("system") or []
        rows = [{"type": "text", "text": system}] if isinstance(system, str) else system
        found = [_block("tool", tool) for tool in body.get("tools") or []]
        found += [_block("system", block) for block in rows]
        return found + _message_blocks(body)

    def check_length(self, body: Body, tokens: int) -> None:
        if tokens > (most := ANTHROPIC[body["model"]].context_tokens):
            raise Refusal(f"prompt is too long: {tokens} tokens > {most} maximum", kind=TOO_LONG)

    def thinks(self, body: Body) -> bool:
        asked = (body.get("thinking") or {}).get("type")
        return asked in ("enabled", "adaptive") if asked else ANTHROPIC[body["model"]].thinks

    def output_tokens(self, body: Body) -> int:
        return int(body["max_tokens"])

    def events(self, said: Sequence[Said], stop: Stop, facts: Facts, piece_chars: int) -> list[Event]:
        said = self._noted(said, facts)
        message = _message(facts, [], None) | {"usage": _usage(facts.usage, 1)}
        found = [_event("message_start", {"message": message}, 1)]
        for at, part in enumerate(said):
            found += self._block_events(at, part, facts, piece_chars)
            if at == 0:
                found.insert(2, _event("ping", {}))
        output = max(1, sum(tokens_said(part) for part in said))
        ending = {"stop_reason": STOPS[stop], "stop_sequence": None} | _details(stop)
        rest = output - sum(event.tokens for event in found)
        found.append(_event("message_delta", {"delta": ending, "usage": _usage(facts.usage, output)}, rest))
        found.append(_event("message_stop", {}))
        return found

    def whole(self, said: Sequence[Said], stop: Stop, facts: Facts) -> bytes:
        content = [_content(part, at, facts) for at, part in enumerate(self._noted(said, facts))]
        output = max(1, sum(tokens_said(part) for part in said))
        return dumped(_message(facts, content, STOPS[stop]) | _details(stop) | {"usage": _usage(facts.usage, output)})

    def status(self, fail: Fail) -> int:
        return fail.status

    def error(self, fail: Fail, request_id: str) -> bytes:
        kind, message = ERRORS.get(fail.status, ERRORS[500])
        if fail.kind == TOO_LONG:
            message = "prompt is too long: 1000001 tokens > 1000000 maximum"
        named = fail.kind if fail.kind and fail.kind != TOO_LONG else kind
        error = {"type": named, "message": fail.message or message}
        return orjson.dumps({"type": "error", "error": error, "request_id": request_id})

    def odd(self, what: Odd) -> bytes:
        overloaded = {"error": {"type": "overloaded_error", "message": "Overloaded"}}
        return {
            "ping": _event("ping", {}).data,
            "error": _event("error", overloaded).data,
            "unknown": _event("message_weather", {"sky": "clear"}).data,
            "garbage": b'event: content_block_delta\ndata: {"type": \xff\xfe\x00}\n\n',
        }[what]

    def headers(self, request_id: str) -> dict[str, str]:
        return {
            "request-id": request_id,
            "anthropic-organization-id": "org_fake",
            "anthropic-ratelimit-requests-limit": "4000",
            "anthropic-ratelimit-requests-remaining": "3999",
            "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:00Z",
            "anthropic-ratelimit-tokens-limit": "2000000",
            "anthropic-ratelimit-tokens-remaining": "1999000",
            "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:00Z",
        }

    def _noted(self, said: Sequence[Said], facts: Facts) -> list[Said]:
        """What is said between two calls is a thought, of models that have it so."""
        model = ANTHROPIC[facts.model]
        after = any(block["type"] == "tool_result" for block in rules.content_of(facts.body["messages"][-1]))
        if not (model.notes and after and self.thinks(facts.body) and any(isinstance(part, Call) for part in said)):
            return list(said)
        return [Think(part) if isinstance(part, str) else part for part in said]

    def _block_events(self, at: int, part: Said, facts: Facts, piece_chars: int) -> list[Event]:
        begun, deltas = _deltas(part, at, facts, piece_chars)
        found = [_event("content_block_start", {"index": at, "content_block": begun})]
        for number, delta in enumerate(deltas):
            # The whole part's tokens come with its first piece, but for message_start's one.
            tokens = tokens_said(part) - (at == 0) if number == 0 else 0
            found.append(_event("content_block_delta", {"index": at, "delta": delta}, max(0, tokens)))
        return [*found, _event("content_block_stop", {"index": at})]


# --- requests ---


def _heard(block: Body) -> Heard:
    match block["type"]:
        case "text":
            return Text(block["text"], "cache_control" in block)
        case "image":
            return Image(block["source"]["media_type"], block["source"]["data"].encode())
        case "tool_use":
            return Use(block["id"], block["name"], orjson.dumps(block["input"]).decode())
        case "tool_result":
            content = block.get("content", [])
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            heard = [_heard(part) for part in parts]
            kept = tuple(part for part in heard if isinstance(part, Text | Image))
            return Result(block["tool_use_id"], kept, bool(block.get("is_error")))
        case _:
            return Thought("anthropic", orjson.dumps(block).decode())


def _message_blocks(body: Body) -> list[Block]:
    """The messages' blocks. The settings that are rendered into the prompt stand before the first of them."""
    model = ANTHROPIC[body["model"]]
    settings = {
        "tool_choice": body.get("tool_choice"),
        "thinking": body.get("thinking"),
        "effort": (body.get("output_config") or {}).get("effort", model.effort),
    }
    found: list[Block] = []
    rows = list(rules.turns(body["messages"]))
    for number, (_, role, content) in enumerate(rows):
        stripped = not model.keeps_thoughts and any(_speaks(later) for later in rows[number + 1 :])
        for block in content:
            if not (stripped and block["type"] in rules.THOUGHTS):
                found.append(_block(role if found else f"{orjson.dumps(settings).decode()}{role}", block))
    return found


def _speaks(row: tuple[int, str, list[Body]]) -> bool:
    """Whether the user says something of their own there, besides tools' results."""
    return row[1] == "user" and any(block["type"] != "tool_result" for block in row[2])


def _block(where: str, block: Body) -> Block:
    """A block as the cache has it: all of it but its mark, and images by their hash."""
    bare = _bare(block)
    mark = "cache_control" in block or any("cache_control" in part for part in _parts(block))
    kind = KINDS.get(block.get("type", ""), "text")
    return Block(where.encode() + orjson.dumps(bare), _tokens(where, block), mark, kind)


def _parts(block: Body) -> list[Body]:
    content = block.get("content")
    return content if isinstance(content, list) else []


def _bare(block: Body) -> Body:
    bare = {name: value for name, value in block.items() if name != "cache_control"}
    if block.get("type") == "image":
        bare["source"] = sha256(block["source"]["data"].encode()).hexdigest()
    if isinstance(block.get("content"), list):
        bare["content"] = [_bare(part) for part in block["content"]]
    return bare


def _tokens(where: str, block: Body) -> int:
    if where == "tool":
        return tokens_of(orjson.dumps([block["name"], block.get("description", ""), block["input_schema"]]))
    match block["type"]:
        case "image":
            return CACHE_IMAGE_TOKENS
        case "tool_use":
            return tokens_of(orjson.dumps([block["name"], block["input"]]))
        case "tool_result":
            content = block.get("content", "")
            if isinstance(content, str):
                return tokens_of(content.encode())
            return sum(_tokens(where, part) for part in content)
        case _:
            return tokens_of(str(block.get("text", block.get("thinking", ""))).encode())


def _check_signatures(body: Body) -> None:
    for place, block in rules.marked(body):
        if block.get("type") == "thinking" and not _signed(block):
            raise Refusal(f"{place}: Invalid `signature` in `thinking` block")


def _signed(block: Body) -> bool:
    """A thought that is shown must be the signed one; one that is left out has its signature alone."""
    signature = block["signature"]
    if not block["thinking"]:
        return len(signature) == SHOWN_BYTES
    return bool(signature == signature_of(block["thinking"]))


def signature_of(thought: str) -> str:
    """What a thought is signed with."""
    return sha256(b"signed " + thought.encode(errors="surrogatepass")).hexdigest()


# --- responses ---


def _model(name: str) -> Body:
    model = ANTHROPIC[name]
    return {
        "type": "model",
        "id": name,
        "display_name": name.replace("-", " ").title(),
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": model.context_tokens,
        "max_tokens": model.output_tokens,
    }


def _event(name: str, data: Body, tokens: int = 0) -> Event:
    return Event(name, b"event: %b\ndata: %b\n\n" % (name.encode(), dumped({"type": name} | data)), tokens)


def _message(facts: Facts, content: list[Body], stop: str | None) -> Body:
    return {
        "id": facts.id,
        "type": "message",
        "role": "assistant",
        "model": facts.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
    }


def _usage(usage: Usage, output: int) -> Body:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output,
        "service_tier": "standard",
    }


def _details(stop: Stop) -> Body:
    if stop != "refusal":
        return {}
    return {"stop_details": {"type": "refusal", "category": "cyber", "explanation": "This may not be answered."}}


def _shows_thoughts(facts: Facts) -> bool:
    display = (facts.body.get("thinking") or {}).get("display")
    return display == "summarized" if display else ANTHROPIC[facts.model].shows


def _content(part: Said, at: int, facts: Facts) -> Body:
    """A part of a reply as a block of a message."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, Think):
        shown = part.text if _shows_thoughts(facts) else ""
        return {"type": "thinking", "thinking": shown, "signature": signature_of(part.text)}
    given: Any = orjson.loads(call_json(part))
    return {"type": "tool_use", "id": _call_id(facts, at), "name": part.name, "input": given}


def _deltas(part: Said, at: int, facts: Facts, chars: int) -> tuple[Body, list[Body]]:
    """The block as it begins, and what is added to it."""
    if isinstance(part, str):
        deltas: list[Body] = [{"type": "text_delta", "text": piece} for piece in pieces(part, chars)]
        return {"type": "text", "text": ""}, deltas
    if isinstance(part, Think):
        shown = pieces(part.text, chars) if _shows_thoughts(facts) else []
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in shown]
        deltas.append({"type": "signature_delta", "signature": signature_of(part.text)})
        return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(call_json(part), chars)]]
    return {"type": "tool_use", "id": _call_id(facts, at), "name": part.name, "input": {}}, deltas


def _call_id(facts: Facts, at: int) -> str:
    """A call's id: told from its conversation, so that it is the same however often it is asked for."""
    return f"toolu_{facts.calls:020d}{at:04d}"
