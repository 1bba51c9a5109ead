"""A conversation with a model, from which each provider's own form is made. Pure: no clock, disk or threads.

A `Talk` is one request: a system prompt, tools, and speeches by turns of the user and the model, each made of blocks.
A *mark* at a block asks the provider to keep all up to it in its cache. The same talk gives the same bytes, always, and
what two requests have in common at their beginning is read from the cache.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal

import msgspec


class Text(msgspec.Struct, frozen=True, tag=True):
    text: str
    mark: bool = False


class Image(msgspec.Struct, frozen=True, tag=True):
    """`data`: the picture's bytes; `type_`: its media type, told from them, as `image/png`."""

    type_: str
    data: bytes
    mark: bool = False


class Thought(msgspec.Struct, frozen=True, tag=True):
    """What a model thought, as its provider said it: JSON, sent back to that provider alone, never logged or shown."""

    provider: str
    json: str


class Use(msgspec.Struct, frozen=True, tag=True):
    """The model wants a tool. `input` is its JSON; `id` the provider's own name for the call."""

    id: str
    name: str
    input: str


class Result(msgspec.Struct, frozen=True, tag=True):
    """What a tool gave: `of` is the `Use`'s id; `failed` where it could not do it, as `content` says."""

    of: str
    content: tuple[Text | Image, ...]
    failed: bool = False
    mark: bool = False


Block = Text | Image | Thought | Use | Result


class Speech(msgspec.Struct, frozen=True):
    """What one side says."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


class Tool(msgspec.Struct, frozen=True):
    """A tool as a model is told of it. `schema`: the JSON schema of its input, an object."""

    name: str
    description: str
    schema: str


Effort = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


class Talk(msgspec.Struct, frozen=True):
    """One request. `marked`: the system prompt's end has a mark. `tokens_max`: of the reply, thinking included."""

    system: str
    tools: tuple[Tool, ...]
    speeches: tuple[Speech, ...]
    effort: Effort
    tokens_max: int
    marked: bool = False


class Usage(msgspec.Struct, frozen=True):
    """Tokens of a call, as its provider counts them. `input`: those neither read from the cache nor written to it."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


Stop = Literal["end", "tools", "length", "refusal"]
"""Why a reply ended: the model was done, wants its tools' results, had no tokens left, or its provider refused."""


class Reply(msgspec.Struct, frozen=True):
    """A whole reply."""

    blocks: tuple[Block, ...]
    stop: Stop

    @property
    def text(self) -> str:
        """Its text blocks joined."""
        return text_of(self.blocks)

    @property
    def uses(self) -> tuple[Use, ...]:
        """The tools that it wants, in order."""
        return tuple(block for block in self.blocks if isinstance(block, Use))


def text_of(blocks: Iterable[Block]) -> str:
    """The text of text blocks, joined."""
    return "".join(block.text for block in blocks if isinstance(block, Text))


def last_text(talk: Talk) -> str:
    """The last text that a user's speech holds, as a task is; empty where there is none."""
    texts = [block.text for speech in talk.speeches if speech.role == "user" for block in _texts(speech.blocks)]
    return texts[-1] if texts else ""


def _texts(blocks: Iterable[Block]) -> Iterator[Text]:
    return (block for block in blocks if isinstance(block, Text))


NO_USAGE: Final = Usage()
