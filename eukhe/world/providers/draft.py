"""A reply as it comes, piece by piece, and how its stream is read to the end."""

import json
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Literal, Protocol

import orjson

from eukhe.actors.ports import Broke, CallEvent, Delta, Replied
from eukhe.limits import NODE_BYTES_MAX, PROVIDER_SILENCE_S, REPLY_CHARS_MAX, TURN_REPLY_CHARS_MAX
from eukhe.model.talk import Block, Reply, Stop, Text, Thought, Usage, Use
from eukhe.model.text import clean, size
from eukhe.world.providers.sse import Decoder, Event
from eukhe.world.providers.trouble import Trouble, of_error
from eukhe.world.worker_wire import Order

Kind = Literal["text", "thought", "use"]


class Piece:
    """A block that grows. `id`, `name`: a tool call's. `signed`: what a thought has besides its text."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.texts: list[str] = []
        self.id = ""
        self.name = ""
        self.signed: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """What came of it; the halves of a character that came apart are one again."""
        text = "".join(self.texts)
        if not text.isascii():
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return clean(text)


class Draft:
    """All blocks of a reply, by whatever its provider calls each, in the order in which they began."""

    def __init__(self, order: Order) -> None:
        self.pieces: dict[Hashable, Piece] = {}
        self.heard = 0  # pieces of text that came
        self._is_turn = order.part is None
        self._chars_max = TURN_REPLY_CHARS_MAX if self._is_turn else REPLY_CHARS_MAX
        self._chars = 0

    def piece(self, key: Hashable, kind: Kind) -> Piece:
        """The block of a name, which begins where there is none."""
        return self.pieces.setdefault(key, Piece(kind))

    def grow(self, piece: Piece, text: str) -> Iterator[Delta]:
        """A block goes on. A turn is told at once; for a line nobody waits. Trouble where it never ends."""
        self.heard += 1
        if not text:
            return
        piece.texts.append(text)
        self._chars += len(text)
        if self._chars > self._chars_max:
            raise Trouble(Broke(f"the reply has more than {self._chars_max:,} characters"))
        if self._is_turn:
            yield Delta(piece.kind, clean(text))

    def blocks(self, thoughts_of: str | None) -> tuple[Block, ...]:
        """The whole. `thoughts_of`: the provider that wants its thoughts back, None for one that does not."""
        found: list[Block] = []
        for piece in self.pieces.values():
            if piece.kind == "use":
                found.append(Use(clean(piece.id), clean(piece.name), piece.text))
            elif piece.kind == "text" and piece.text:
                found.append(Text(piece.text))
            elif piece.kind == "thought" and thoughts_of is not None:
                whole = piece.signed | ({"thinking": piece.text} if "thinking" in piece.signed else {})
                found.append(Thought(thoughts_of, orjson.dumps(whole).decode()))
        return tuple(found)


def ended(order: Order, reply: Reply, usage: Usage | None) -> Replied | Broke:
    """How a call ends whose reply is whole. Of a line's only the text counts, and it must be one.

    Not refused for its content, and not cut off before it was too long: a line that ends in its midst would stand so
    for ever.
    """
    said = any(isinstance(block, Text) for block in reply.blocks)
    text = reply.text if said else None
    if order.part is None:
        return Replied(text, reply, usage)
    if reply.stop == "refusal":
        return Broke(f"its provider refused it{': ' + reply.text if said else ''}", usage)
    if reply.stop == "length" and size(reply.text) <= NODE_BYTES_MAX:
        return Broke("its tokens ended before the line did", usage)
    return Replied(text, None, usage)


def loaded(provider: str, data: str) -> Any:
    """JSON as a careless provider sends it, with halves of characters. Trouble where it is none."""
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(data)
    try:
        return json.loads(data)
    except json.JSONDecodeError:
        raise Trouble(Broke(f"{provider}: the stream holds what is no JSON: {data}")) from None


def stop_of(said: str, stops: dict[str, Stop], blocks: tuple[Block, ...]) -> Stop:
    """Why a reply ended, in our words. Where tools are wanted it is for them, and never where none is."""
    stop = stops.get(said, "end")
    if stop in ("end", "tools"):
        return "tools" if any(isinstance(block, Use) for block in blocks) else "end"
    return stop


class Reading(Protocol):
    """One provider's form of a stream."""

    draft: Draft
    usage: Usage | None

    @property
    def began(self) -> bool:
        """There is a response."""
        ...

    @property
    def over(self) -> bool:
        """It is whole: nothing that may follow counts."""
        ...

    def hear(self, event: Event) -> Iterator[CallEvent]:
        """What an event says. Trouble, or any error where it makes no sense."""
        ...

    def end(self) -> CallEvent:
        """How the call ends now that nothing more comes. Trouble where the stream had no end."""
        ...


def told(
    provider: str,
    chunks: Iterable[bytes],
    reading: Reading,
    *,
    silence_s: float = PROVIDER_SILENCE_S,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[CallEvent]:
    """The events of a call, from its response's bytes, the end last, whatever comes and whatever is raised.

    A provider that only says that it is still there is waited for no longer than one that says nothing.
    """
    decoder = Decoder()
    heard, since = 0, clock()
    try:
        for chunk in chunks:
            for event in decoder.feed(chunk):
                yield from reading.hear(event)
                if reading.over:
                    break
            if reading.over:
                break
            if heard != reading.draft.heard:
                heard, since = reading.draft.heard, clock()
            elif clock() - since > silence_s:
                raise Trouble(Broke(f"{provider}: nothing of a reply came for {silence_s:g} s"))
        yield reading.end()
    except Trouble as trouble:
        yield with_usage(trouble.event, reading.usage)
    except Exception as error:  # noqa: BLE001, each package below has its own
        yield of_error(provider, error, reading.usage, began=reading.began)


def with_usage(event: CallEvent, usage: Usage | None) -> CallEvent:
    """A failed call with what it has cost."""
    return Broke(event.why, usage, event.final) if isinstance(event, Broke) else event
