"""Anthropic's form: a request's JSON from a talk, a reply from the events of a stream. No network, no clock.

The same talk gives the same bytes: every field stands where it stood the last time. A mark is a `cache_control`
without a lifetime, which is five minutes (rule 31).

Events that nobody knows are passed over, as documented, and so are blocks and deltas. A stream is whole when
`message_stop` has come and a reason to stop was given; else the call has failed.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final

import orjson

from eukhe.actors.ports import Broke, CallEvent, Outage, Responding
from eukhe.model.talk import Block, Image, Reply, Result, Speech, Stop, Talk, Text, Thought, Tool, Usage, Use
from eukhe.world.providers.draft import Draft, ended, loaded, stop_of
from eukhe.world.providers.efforts import claude
from eukhe.world.providers.registry import ANTHROPIC
from eukhe.world.providers.sse import Event
from eukhe.world.providers.trouble import Trouble, of_status, words_of
from eukhe.world.worker_wire import Order

Json = dict[str, Any]

NOTHING: Final = "(nothing)"
_STOPS: Final[dict[str, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_STATUSES: Final = {
    "invalid_request_error": HTTPStatus.BAD_REQUEST,
    "authentication_error": HTTPStatus.UNAUTHORIZED,
    "billing_error": HTTPStatus.PAYMENT_REQUIRED,
    "permission_error": HTTPStatus.FORBIDDEN,
    "not_found_error": HTTPStatus.NOT_FOUND,
    "request_too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "rate_limit_error": HTTPStatus.TOO_MANY_REQUESTS,
}
"""Of errors in a stream, as without one; those that are not here are the server's own."""


# --- the request ---


def body(model: str, talk: Talk) -> Json:
    """What is sent, but for `stream`. `model`: its name as the provider has it."""
    fields = claude(model, talk.effort, talk.tokens_max)
    messages = [message for speech in talk.speeches if (message := _message(speech))]
    if fields.get("thinking", {}).get("type") == "enabled" and _goes_on_unthought(messages):
        del fields["thinking"]  # else it is refused: a model that once said something without, may go on without
    return {
        "model": model,
        **({"tools": [_tool(tool) for tool in talk.tools]} if talk.tools else {}),
        **({"system": [_marked({"type": "text", "text": talk.system}, talk.marked)]} if talk.system else {}),
        "messages": messages,
        **fields,
    }


def _goes_on_unthought(messages: Sequence[Json]) -> bool:
    """Whether tools' results are brought for a speech of the model's that does not begin with a thought."""
    asked, brought = messages[-2:] if len(messages) > 1 else (None, messages[-1])
    if asked is None or brought["content"][0]["type"] != "tool_result":
        return False
    return asked["content"][0]["type"] not in ("thinking", "redacted_thinking")


def _tool(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "input_schema": orjson.loads(tool.schema)}


def _message(speech: Speech) -> Json | None:
    """A speech; None for one of the model's that says nothing, which is refused. A user's says at least that."""
    content = list(_contents(speech.blocks))
    if not content and speech.role == "user":
        content = [{"type": "text", "text": NOTHING}]
    return {"role": speech.role, "content": content} if content else None


def _contents(blocks: Iterable[Block]) -> Iterator[Json]:
    for block in blocks:
        match block:
            case Text(text, mark):
                if text.strip():  # one that is empty or blank is refused
                    yield _marked({"type": "text", "text": text}, mark)
            case Image(type_, data, mark):
                source = {"type": "base64", "media_type": type_, "data": b64encode(data).decode()}
                yield _marked({"type": "image", "source": source}, mark)
            case Thought(provider, json):
                if provider == ANTHROPIC:
                    yield orjson.loads(json)
            case Use(id_, name, input_):
                yield {"type": "tool_use", "id": id_, "name": name, "input": input_of(input_)}
            case Result(of, content, failed, mark):
                result = {"type": "tool_result", "tool_use_id": of, "content": list(_contents(content))}
                yield _marked(result | ({"is_error": True} if failed else {}), mark)


def _marked(block: Json, mark: bool) -> Json:
    return block | {"cache_control": {"type": "ephemeral"}} if mark else block


def input_of(text: str) -> Json:
    """A tool call's input as the object that it must be; of what a model wrote wrong, the text."""
    try:
        found = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        found = None
    return found if isinstance(found, dict) else {"input": text}


# --- the reply ---


class Messages:
    """Reads a stream. A `Reading`."""

    def __init__(self, order: Order) -> None:
        self.draft = Draft(order)
        self.usage: Usage | None = None
        self.over = False
        self._order = order
        self._stop: str | None = None
        self._why = ""

    @property
    def began(self) -> bool:
        return self.usage is not None

    def hear(self, event: Event) -> Iterator[CallEvent]:
        said = loaded(ANTHROPIC, event.data)
        match said.get("type"):
            case "message_start":
                self.usage = _usage(said["message"].get("usage") or {}, Usage())
                yield Responding(self.usage)
            case "content_block_start":
                yield from self._begin(said["index"], said["content_block"])
            case "content_block_delta":
                yield from self._go_on(said["index"], said["delta"])
            case "message_delta":
                self._stop = said["delta"].get("stop_reason") or self._stop
                self._why = (said["delta"].get("stop_details") or {}).get("explanation") or ""
                self.usage = _usage(said.get("usage") or {}, self.usage or Usage())
            case "message_stop":
                self.over = True
            case "error":
                raise Trouble(self._failed(said))

    def end(self) -> CallEvent:
        if not self.began:
            raise Trouble(Broke(f"{ANTHROPIC}: what came is no response"))
        if not self.over:
            raise Trouble(Broke(f"{ANTHROPIC}: the stream ended without message_stop"))
        if self._stop is None:
            raise Trouble(Broke(f"{ANTHROPIC}: the stream ended without a reason to stop"))
        blocks = self.draft.blocks(ANTHROPIC)
        return ended(self._order, Reply(blocks, stop_of(self._stop, _STOPS, blocks)), self.usage)

    def _begin(self, index: int, block: Json) -> Iterator[CallEvent]:
        match block.get("type"):
            case "text":
                yield from self.draft.grow(self.draft.piece(index, "text"), block.get("text") or "")
            case "thinking":
                piece = self.draft.piece(index, "thought")
                piece.signed = block | {"signature": block.get("signature") or ""}
                yield from self.draft.grow(piece, block.get("thinking") or "")
            case "redacted_thinking":
                self.draft.piece(index, "thought").signed = block
            case "tool_use":
                piece = self.draft.piece(index, "use")
                piece.id, piece.name = block["id"], block["name"]
                if block.get("input"):
                    yield from self.draft.grow(piece, orjson.dumps(block["input"]).decode())

    def _go_on(self, index: int, delta: Json) -> Iterator[CallEvent]:
        piece = self.draft.pieces.get(index)
        if piece is None:
            return  # of a block that nobody knows
        match delta.get("type"):
            case "text_delta":
                yield from self.draft.grow(piece, delta["text"])
            case "thinking_delta":
                yield from self.draft.grow(piece, delta["thinking"])
            case "signature_delta":
                piece.signed["signature"] += delta["signature"]
            case "input_json_delta":
                yield from self.draft.grow(piece, delta["partial_json"])

    def _failed(self, said: Json) -> Broke | Outage:
        """An error in the stream: before it began, the same as one without a stream."""
        words = words_of(said)
        if self.began:
            return Broke(f"{ANTHROPIC}: the response broke off: {words}")
        error = said.get("error") or {}
        status = _STATUSES.get(error.get("type", ""), HTTPStatus.INTERNAL_SERVER_ERROR)
        return of_status(ANTHROPIC, status, words)


def _usage(said: Json, before: Usage) -> Usage:
    """What a call has cost until now: each figure is of the whole call, and may be left out."""

    def count(name: str, old: int) -> int:
        value = said.get(name)
        return value if isinstance(value, int) else old

    return Usage(
        count("input_tokens", before.input),
        count("output_tokens", before.output),
        count("cache_read_input_tokens", before.cache_read),
        count("cache_creation_input_tokens", before.cache_write),
    )
