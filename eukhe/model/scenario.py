"""Scenarios of the planner: a command a line, the state after each. Pure: no clock, disk or threads.

The form of the golden files, so that any other statement of the design can be held against this planner.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from eukhe.limits import LEVELS_MAX
from eukhe.model.chat import Chat, ChatLimits, Merges
from eukhe.model.part import Part
from eukhe.model.render import render
from eukhe.model.text import cut

SHA_DIGITS = 16  # number: the form's own
_LIMITS = {
    "ceiling": "ceiling",
    "floor": "floor",
    "cceiling": "compaction_ceiling",
    "cfloor": "compaction_floor",
    "jobs": "jobs",
    "node": "node",
    "failures": "failures",
}


class ScenarioError(Exception):
    """A line that is no command; str() says which and why."""


def replay(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """What each command after `config` gives: a whole state, a context, or a rendering's hash and bytes."""
    chat: Chat | None = None
    sizes: dict[Part, int] = {}
    for number, text in enumerate(lines, 1):
        command, *words = text.split() or [""]
        if not command:
            continue
        try:
            if (command == "config") != (chat is None):
                raise ScenarioError("config is the first command, and only that")
            if chat is None:
                chat = Chat(_limits(words))
            else:
                yield _perform(chat, sizes, command, [_whole(word) for word in words])
        except ScenarioError as error:
            raise ScenarioError(f"line {number}: {text.strip()}: {error}") from error


def _limits(words: list[str]) -> ChatLimits:
    given = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in _LIMITS:
            raise ScenarioError(f"no limit is named {name}")
        given[_LIMITS[name]] = _whole(value)
    return ChatLimits(**given)


def _whole(word: str) -> int:
    if not word.isdecimal():
        raise ScenarioError(f"{word or 'nothing'} is no whole number")
    return int(word)


def _perform(chat: Chat, sizes: dict[Part, int], command: str, numbers: list[int]) -> dict[str, Any]:
    batch: Merges | None = None
    part, numbers = _part(numbers)
    match command, part, numbers:
        case "message", None, []:
            batch = chat.message()
        case "take", None, []:
            batch = chat.take()
        case "wait", None, []:
            chat.wait()
        case "tick", None, []:
            chat.tick()
        case "start", Part(), []:
            chat.start(part)
        case "built", Part(), [size]:
            if chat.built(part, size):
                sizes[part] = size
        case "failed", Part(), [size]:
            if chat.failed(part, size):
                sizes[part] = size
        case "context", Part(), []:
            return {"context": _plain(chat.context(part))}
        case "render", None, []:
            return _rendered(chat.view.parts(), sizes)
        case "render-context", Part(), []:
            return _rendered(chat.context(part), sizes)
        case _:
            raise ScenarioError("no such command, or not with these numbers")
    return _state(chat, batch)


def _part(numbers: list[int]) -> tuple[Part | None, list[int]]:
    """The node that a command's first two numbers name, and the numbers after it."""
    if len(numbers) < 2:
        return None, numbers
    level, i, *others = numbers
    if level > LEVELS_MAX:
        raise ScenarioError(f"no node has the level {level}")
    return Part(level, i), others


def _state(chat: Chat, batch: Merges | None) -> dict[str, Any]:
    return {
        "t": chat.t,
        "view": _plain(chat.view.parts()),
        "cview": _plain(chat.compaction_view.parts()),
        "size": chat.view.size,
        "csize": chat.compaction_view.size,
        "shrinking": chat.shrinking,
        "batch": None if batch is None else _plain(batch),
        "queue": _plain(chat.queue()),
        "need": _plain(chat.queue(need=True)),
        "settled": chat.settled,
    }


def _plain(parts: Iterable[Part]) -> list[tuple[int, int]]:
    return [(level, i) for level, i in parts]


def _rendered(parts: list[Part], sizes: dict[Part, int]) -> dict[str, Any]:
    text = render(parts, lambda part: made_up(part, sizes[part]) if part in sizes else None).encode()
    return {"render": digest(text), "bytes": len(text)}


def made_up(part: Part, size: int) -> str:
    """The text that a built node has in a rendering: as ugly as texts get, exactly `size` bytes."""
    unit = f"{part.level}.{part.i}|\r\né </chat>\n"
    text = cut(unit * (size // len(unit.encode()) + 1), size)
    return text + "." * (size - len(text.encode()))


def expected_form(result: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """A result as an expected file has it: a state by its hash, with the state itself where it is wanted whole."""
    if "t" not in result:
        return result
    sha = digest(orjson.dumps(result))
    return {"sha": sha, "state": result} if whole else {"sha": sha}


def digest(data: bytes) -> str:
    """The first 16 hex digits of the SHA-256."""
    return hashlib.sha256(data).hexdigest()[:SHA_DIGITS]
