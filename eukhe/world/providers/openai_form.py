"""OpenAI's form, chat completions: a request's JSON from a talk, a reply from the chunks of a stream. No network.

Many servers speak it, each in its own way, so little is asked for and much is taken: a stream without usage, without
`[DONE]`, without indexes or ids of tool calls, arguments in one piece or as an object, a reply in one piece. A stream
is whole when a reason to finish was given. What a model reasons is told, and not sent back.
"""

from base64 import b64encode
from collections.abc import Hashable, Iterable, Iterator
from http import HTTPStatus
from typing import Any, Final

import orjson

from eukhe.actors.ports import Broke, CallEvent, Outage, Responding
from eukhe.model.talk import Block, Image, Reply, Result, Speech, Stop, Talk, Text, Tool, Usage, Use, text_of
from eukhe.world.providers.draft import Draft, Piece, ended, loaded, stop_of
from eukhe.world.providers.efforts import gpt
from eukhe.world.providers.registry import OPENAI
from eukhe.world.providers.sse import Event
from eukhe.world.providers.trouble import Trouble, of_status, words_of
from eukhe.world.worker_wire import Order

Json = dict[str, Any]

DONE: Final = "[DONE]"
NOTHING: Final = "(nothing)"
_STOPS: Final[dict[str, Stop]] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
}


# --- the request ---


def body(model: str, talk: Talk, *, own_server: bool) -> Json:
    """What is sent. `own_server`: the user's, not OpenAI's."""
    return {
        "model": model,
        "messages": [
            *([{"role": "system", "content": talk.system}] if talk.system else []),
            *(message for speech in talk.speeches for message in _messages(speech)),
        ],
        **({"tools": [_tool(tool) for tool in talk.tools]} if talk.tools else {}),
        **gpt(model, talk.effort, talk.tokens_max, own_server=own_server),
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def _tool(tool: Tool) -> Json:
    function = {"name": tool.name, "description": tool.description, "parameters": orjson.loads(tool.schema)}
    return {"type": "function", "function": function}


def _messages(speech: Speech) -> Iterator[Json]:
    return _of_user(speech.blocks) if speech.role == "user" else _of_model(speech.blocks)


def _of_model(blocks: Iterable[Block]) -> Iterator[Json]:
    """One message, or none where nothing was said."""
    blocks = tuple(blocks)
    calls = [
        {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": block.input or "{}"}}
        for block in blocks
        if isinstance(block, Use)
    ]
    text = text_of(blocks)
    if text or calls:
        yield {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}


def _of_user(blocks: Iterable[Block]) -> Iterator[Json]:
    """Each tool's result is a message of its own, which holds text alone: its images follow in the user's."""
    content: list[Json] = []
    said_any = False
    for block in blocks:
        match block:
            case Result(of, parts, failed):
                said_any = True
                text = text_of(parts)
                yield {"role": "tool", "tool_call_id": of, "content": f"Failed: {text}" if failed else text}
                content += map(_image, (part for part in parts if isinstance(part, Image)))
            case Text(text):
                content += [{"type": "text", "text": text}] if text.strip() else []
            case Image():
                content.append(_image(block))
    if content or not said_any:
        yield {"role": "user", "content": _content(content)}


def _content(parts: list[Json]) -> str | list[Json]:
    """A single text as such, which every server takes."""
    if not parts:
        return NOTHING
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _image(image: Image) -> Json:
    data = b64encode(image.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{image.type_};base64,{data}"}}


# --- the reply ---


class Completion:
    """Reads a stream, or a reply in one piece. A `Reading`."""

    def __init__(self, order: Order) -> None:
        self.draft = Draft(order)
        self.usage: Usage | None = None
        self.began = False
        self.over = False
        self._order = order
        self._stop: str | None = None
        self._last: Piece | None = None  # the tool call that goes on where nothing says which

    def hear(self, event: Event) -> Iterator[CallEvent]:
        if event.data.strip() == DONE:
            self.over = True
            return
        said = loaded(OPENAI, event.data)
        yield from self.take(said)

    def take(self, said: Json) -> Iterator[CallEvent]:
        """A chunk, or the whole reply."""
        if said.get("error"):
            raise Trouble(self._failed(said))
        self.usage = _usage(said.get("usage")) or self.usage
        if not self.began:
            self.began = True
            yield Responding(self.usage)
        for choice in (said.get("choices") or [])[:1]:
            yield from self._go_on(choice.get("delta") or choice.get("message") or {})
            self._stop = choice.get("finish_reason") or self._stop

    def end(self) -> CallEvent:
        if not self.began:
            raise Trouble(Broke(f"{OPENAI}: what came is no response"))
        if self._stop is None:
            raise Trouble(Broke(f"{OPENAI}: the stream ended without a reason to finish"))
        self._name_calls()
        blocks = self.draft.blocks(None)
        return ended(self._order, Reply(blocks, stop_of(self._stop, _STOPS, blocks)), self.usage)

    def _go_on(self, delta: Json) -> Iterator[CallEvent]:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            yield from self.draft.grow(self.draft.piece("thought", "thought"), thought)
        for text in _texts(delta.get("content")):
            yield from self.draft.grow(self.draft.piece("text", "text"), text)
        if refusal := delta.get("refusal"):
            self._stop = "content_filter"
            yield from self.draft.grow(self.draft.piece("text", "text"), refusal)
        for call in delta.get("tool_calls") or []:
            function = call.get("function") or {}
            piece = self._call(call, function)
            piece.id = piece.id or call.get("id") or ""
            piece.name = piece.name or function.get("name") or ""
            input_ = function.get("arguments") or ""
            yield from self.draft.grow(piece, input_ if isinstance(input_, str) else orjson.dumps(input_).decode())

    def _call(self, call: Json, function: Json) -> Piece:
        """The tool call that a piece is of: by its index, else by its id; else a name begins another."""
        key: Hashable = call.get("index")
        if key is None:
            key = call.get("id") or None
        if key is None and self._last is not None and not function.get("name"):
            return self._last
        self._last = self.draft.piece(("use", len(self.draft.pieces) if key is None else key), "use")
        return self._last

    def _name_calls(self) -> None:
        """Gives each tool call an id of its own in the conversation, where its server gave none, or one twice."""
        taken = {block.id for said in self._order.talk.speeches for block in said.blocks if isinstance(block, Use)}
        for piece in self.draft.pieces.values():
            if piece.kind == "use":
                if not piece.id or piece.id in taken:
                    piece.id = next(made for count in range(len(taken) + 1) if (made := f"call_{count}") not in taken)
                taken.add(piece.id)

    def _failed(self, said: Json) -> Broke | Outage:
        """An error in the stream: before it began, the same as one without a stream, where it has a status."""
        words = words_of(said)
        if self.began:
            return Broke(f"{OPENAI}: the response broke off: {words}")
        error = said["error"]
        status = error.get("code") or error.get("status") if isinstance(error, dict) else None
        return of_status(OPENAI, status if isinstance(status, int) else HTTPStatus.INTERNAL_SERVER_ERROR, words)


def _texts(content: object) -> Iterator[str]:
    """The text of a content, which some servers give as parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))


def _usage(said: Any) -> Usage | None:
    """What a call has cost: those read from the cache are counted among the prompt's, and writing costs nothing."""
    if not isinstance(said, dict):
        return None
    details = said.get("prompt_tokens_details") or {}
    cached = _count(details.get("cached_tokens")) or _count(said.get("prompt_cache_hit_tokens"))
    prompt = _count(said.get("prompt_tokens"))
    return Usage(max(0, prompt - cached), _count(said.get("completion_tokens")), cached)


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
