"""Messages by which a turn looks into the memory, and those about subagents."""

from typing import Annotated

import msgspec

from eukhe.actors.messages.base import Msg
from eukhe.actors.messages.store import Entry
from eukhe.limits import (
    AGENT_WANTED_CHARS_MAX,
    KEY_BYTES_MAX,
    LOOK_DATE_CHARS_MAX,
    LOOK_ID_MAX,
    LOOK_WORDS_CHARS_MAX,
)
from eukhe.model.prompt import Texts

Whole = Annotated[int, msgspec.Meta(ge=-LOOK_ID_MAX, le=LOOK_ID_MAX)]
"""A number that a model gives, within what can be sent at all."""


class Zoom(msgspec.Struct, frozen=True, tag=True):
    """zoom(id, n): the two lines under a line, or with n = 1 the whole message and its images. Rules 52, 53."""

    id: Whole
    messages: Whole


class ZoomAgent(msgspec.Struct, frozen=True, tag=True):
    """zoom("Name"): a subagent's whole chat, by pages from 1. Rule 54."""

    name: Annotated[str, msgspec.Meta(max_length=AGENT_WANTED_CHARS_MAX)]
    page: Whole = 1


class DateOf(msgspec.Struct, frozen=True, tag=True):
    """date(id). Rule 56."""

    id: Whole


class Search(msgspec.Struct, frozen=True, tag=True):
    """search(words). D15.

    `before`: only messages before this one are hits. What was logged since its view was taken a turn has before its
    eyes, this very call first.
    """

    words: Annotated[str, msgspec.Meta(max_length=LOOK_WORDS_CHARS_MAX)]
    before: Whole = LOOK_ID_MAX


class At(msgspec.Struct, frozen=True, tag=True):
    """at(date): a date or a time, as the user or the model writes one; `before` as of a search. D15."""

    date: Annotated[str, msgspec.Meta(max_length=LOOK_DATE_CHARS_MAX)]
    before: Whole = LOOK_ID_MAX


Looking = Zoom | ZoomAgent | DateOf | Search | At


class Look(Msg, frozen=True):
    """Look into the memory."""

    what: Looking
    reply_to: str
    ticket: int


class Seen(Msg, frozen=True):
    """What is there, as the tool gives it to the model. `found`: something was; else `text` says what was not."""

    ticket: int
    text: str
    images: tuple[bytes, ...] = ()
    found: bool = True


class AskTexts(Msg, frozen=True):
    """The texts that all calls of this chat begin with, and its tasks: fixed while it is open. Rules 27, 44."""

    reply_to: str
    ticket: int


class TextsInForce(Msg, frozen=True):
    ticket: int
    texts: Texts


# --- subagents ---


class BeginAgent(Msg, frozen=True):
    """A subagent begins: give it a name, the wanted one where no other has it. The same `key` gets the same name."""

    wanted: Annotated[str, msgspec.Meta(max_length=AGENT_WANTED_CHARS_MAX)]
    key: Annotated[str, msgspec.Meta(max_length=KEY_BYTES_MAX)]
    reply_to: str
    ticket: int


class AgentNamed(Msg, frozen=True):
    """Unique in the chat, for ever, and safe as a file's name. `why`: its log can't be begun, and nothing be said."""

    ticket: int
    name: str
    why: str = ""


class AgentSaid(Msg, frozen=True):
    """A step of a subagent, for its own log. Each entry has a key, and comes in once."""

    name: str
    entries: tuple[Entry, ...]
    reply_to: str
    ticket: int


class AgentLogged(Msg, frozen=True):
    """It is on disk. `why`: it is not, and will not be."""

    ticket: int
    why: str = ""
