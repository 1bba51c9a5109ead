"""What both forms of the fake API have in common: what a form must be able to do, and how a reply is settled."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import orjson
from fake_acts import Call, Event, Fail, Odd, Said, Stop, Think

from eukhe.model.talk import Speech, Usage, Use
from eukhe.sim.prompt_cache import Automatic, Block, PromptCache, tokens_of

Body = dict[str, Any]

MEDIA_TYPES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


class Refusal(Exception):
    """A request that the real one refuses."""

    def __init__(self, message: str, status: int = 400, kind: str = "") -> None:
        super().__init__(message)
        self.fail = Fail(status, message, kind)


class Facts(NamedTuple):
    """What a response says of itself. `calls`: tools that were wanted before it, in this conversation."""

    id: str
    model: str
    usage: Usage
    calls: int
    body: Body


class Form(Protocol):
    """One provider's form of requests and responses."""

    name: str

    @property
    def cache(self) -> PromptCache | Automatic: ...

    def admit(self, headers: Mapping[str, str], keys: Sequence[str]) -> None:
        """Refusal of who has no key, or none of those that are known."""
        ...

    def check(self, body: object, headers: Mapping[str, str]) -> Body:
        """The request, where it is a good one. Refusal where it is not."""
        ...

    def models(self, name: str) -> bytes:
        """The answer to who asks which models there are, or for one by its name."""
        ...

    def speeches(self, body: Body) -> tuple[Speech, ...]:
        """The conversation, in no provider's form."""
        ...

    def blocks(self, body: Body) -> list[Block]:
        """The prompt, as its cache has it."""
        ...

    def check_length(self, body: Body, tokens: int) -> None:
        """Refusal of a prompt that has more tokens than the model's context."""
        ...

    def thinks(self, body: Body) -> bool:
        """Whether thoughts are wanted."""
        ...

    def output_tokens(self, body: Body) -> int:
        """The most that a reply may have."""
        ...

    def events(self, said: Sequence[Said], stop: Stop, facts: Facts, piece_chars: int) -> list[Event]:
        """The response as a stream."""
        ...

    def whole(self, said: Sequence[Said], stop: Stop, facts: Facts) -> bytes:
        """The response in one piece."""
        ...

    def status(self, fail: Fail) -> int: ...

    def error(self, fail: Fail, request_id: str) -> bytes: ...

    def odd(self, what: Odd) -> bytes:
        """Bytes that do not belong into a stream."""
        ...

    def headers(self, request_id: str) -> dict[str, str]: ...


def settled(said: Sequence[Said], stop: Stop, tokens_max: int) -> tuple[tuple[Said, ...], Stop]:
    """A reply that has no more tokens than it may, and why it ended."""
    kept: list[Said] = []
    room = tokens_max
    for part in said:
        if (tokens := tokens_said(part)) > room:
            if isinstance(part, str) and room > 0:
                kept.append(part.encode(errors="surrogatepass")[: room * 4].decode(errors="ignore"))
            return tuple(kept), "length" if stop == "natural" else stop
        kept.append(part)
        room -= tokens
    if stop == "natural":
        return tuple(kept), "tools" if any(isinstance(part, Call) for part in kept) else "end"
    return tuple(kept), stop


def tokens_said(part: Said) -> int:
    """The tokens of a part of a reply."""
    if isinstance(part, Call):
        return tokens_of(f"{part.name} {call_json(part)}".encode(errors="surrogatepass"))
    return tokens_of((part.text if isinstance(part, Think) else part).encode(errors="surrogatepass"))


def call_json(call: Call) -> str:
    """The JSON of a call's input."""
    return call.input if isinstance(call.input, str) else orjson.dumps(call.input).decode()


def pieces(text: str, chars: int) -> list[str]:
    """A text as deltas bring it."""
    return [text[start : start + chars] for start in range(0, len(text), chars)]


def calls_before(speeches: Sequence[Speech]) -> int:
    """How many tools were wanted until now: what the next calls' ids are counted from."""
    return sum(isinstance(block, Use) for speech in speeches for block in speech.blocks)


def joined(speeches: Sequence[Speech]) -> tuple[Speech, ...]:
    """Speeches of one side in a row are one: so it is documented, and so both forms give the same."""
    found: list[Speech] = []
    for speech in speeches:
        if found and found[-1].role == speech.role:
            found[-1] = Speech(speech.role, found[-1].blocks + speech.blocks)
        else:
            found.append(speech)
    return tuple(found)


def media_type(data: bytes) -> str:
    """What an image's bytes say of themselves; empty where they are none."""
    return next((name for magic, name in MEDIA_TYPES.items() if data.startswith(magic)), "")


def dumped(value: object) -> bytes:
    """JSON in which lone surrogates survive as the escapes that a careless provider sends."""
    try:
        return orjson.dumps(value)
    except TypeError:
        import json

        return json.dumps(value, separators=(",", ":")).encode()
