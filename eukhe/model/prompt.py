"""The texts that a model is sent. Pure: no clock, disk or threads.

They are fixed while a chat is open: no date, no state stands in them, so that all calls begin with the same bytes.
Rules 27, 35, 36, 44, 45, 52, 56.

A user's own text takes the place of one of ours, whole. What differs from call to call is a name in braces, as `{id}`;
`{{id}}` is shown as `{id}`.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from eukhe.limits import NODE_BYTES_MAX, NODE_WORDS
from eukhe.model.line import trimmed
from eukhe.model.part import Part
from eukhe.model.prompt_system import system_text, with_instructions
from eukhe.model.prompt_tasks import MERGE, MESSAGE, RULER, TOO_LONG, TURN, as_input, up_to_limit
from eukhe.model.prompt_tools import SEARCH_TOOLS, TOOLS
from eukhe.model.render import line
from eukhe.model.talk import Tool
from eukhe.model.text import size

PLACEHOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "system.md": (),
    "message.md": ("id", "bytes", "words", "ruler", "text"),
    "merge.md": ("left", "right", "name", "bytes", "words", "ruler", "text"),
    "too_long.md": ("size", "bytes", "text"),
    "zoom.md": (),
    "date.md": (),
}
"""The files that can take the place of a text, and the names in braces that each may have."""

_NEEDED: Final = "text"  # without it a task would not say what it is about
_IN_BRACES: Final = re.compile(r"\{\{([a-z_]+)\}\}|\{([a-z_]+)\}")
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Texts(msgspec.Struct, frozen=True):
    """The texts in force. `system` ends with the user's own instructions.

    `message`, `merge`, `too_long`: the tasks of a compaction, with names in braces for what differs; `turn`: what
    stands before a turn's new message.
    """

    system: str
    tools: tuple[Tool, ...]
    message: str
    merge: str
    too_long: str
    turn: str


def texts(instructions: str = "", overrides: Mapping[str, str] = _NONE, search: bool = True) -> Texts:
    """The texts of a chat. `instructions`: the user's own; `overrides`: texts that take the place of ours, by file.

    `search`: the agent has the tools `search` and `at`, and is told so.
    """
    assert overrides.keys() <= PLACEHOLDERS.keys(), f"unknown texts among {sorted(overrides)}"
    own = {name: _filled(text, _NONE) for name, text in overrides.items() if not PLACEHOLDERS[name]}
    return Texts(
        system=with_instructions(own.get("system.md", system_text(search=search)), instructions.strip()),
        tools=tuple(
            Tool(tool.name, own.get(f"{tool.name}.md", tool.description), tool.schema)
            for tool in TOOLS
            if search or tool.name not in SEARCH_TOOLS
        ),
        message=overrides.get("message.md", MESSAGE),
        merge=overrides.get("merge.md", MERGE),
        too_long=overrides.get("too_long.md", TOO_LONG),
        turn=TURN,
    )


def wrong_with(name: str, text: str) -> str:
    """Why a user's own text can't take the place of ours; empty where it can. `name`: its file."""
    known = PLACEHOLDERS[name]
    found = [in_braces for _, in_braces in _IN_BRACES.findall(text) if in_braces]
    if not text.strip():
        return "is empty"
    for unknown in (in_braces for in_braces in found if in_braces not in known):
        allowed = ", ".join(f"{{{in_braces}}}" for in_braces in known) or "none"
        return f"has {{{unknown}}}; allowed: {allowed} ({{{{{unknown}}}}} shows {{{unknown}}} itself)"
    if known and _NEEDED not in found:
        return f"has no {{{_NEEDED}}}, where what it is about is to stand"
    return ""


def message_task(texts: Texts, part: Part, source: str) -> str:
    """The task of a message's line. `source`: its `kind: text`. Rule 35."""
    return _filled(texts.message, {"id": str(part.start), "text": as_input(source), **_ROOM})


def merge_task(texts: Texts, part: Part, sources: tuple[str, str]) -> str:
    """The task of a merge's line. `sources`: the lines of both halves. Rule 35."""
    left, right = part.halves
    both = "\n".join(line(half, source) for half, source in zip((left, right), sources, strict=True))
    names = {"left": left.name, "right": right.name, "name": part.name}
    return _filled(texts.merge, {**names, "text": as_input(both), **_ROOM})


def too_long_task(texts: Texts, reply: str) -> str:
    """What is said to a line that is too long, in the same conversation. Rule 36."""
    found = trimmed(reply)
    return _filled(texts.too_long, {"size": str(size(found)), "bytes": str(NODE_BYTES_MAX), "text": up_to_limit(found)})


_ROOM: Final = {"bytes": str(NODE_BYTES_MAX), "words": str(NODE_WORDS), "ruler": RULER}


def _filled(text: str, values: Mapping[str, str]) -> str:
    """A text with what stands in braces filled in, in one go: braces inside a value stay as they are."""
    return _IN_BRACES.sub(lambda found: f"{{{found[1]}}}" if found[1] else values.get(found[2], found[0]), text)
