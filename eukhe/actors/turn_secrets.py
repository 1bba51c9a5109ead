"""Secrets in what a turn says and does: marks in all that is logged, shown or sent, values where a tool runs. D16."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
import orjson

from eukhe.model.talk import Block, Reply, Text, Use


class Secrets(Protocol):
    """Whoever knows them."""

    def hide(self, text: str) -> str:
        """The text with a mark for each secret."""
        ...

    def reveal(self, text: str) -> str:
        """The text with the values of the marks that are known."""
        ...


def hidden_reply(secrets: Secrets, reply: Reply) -> Reply:
    """A reply with marks in what it says and in its tools' inputs. What it thought is its provider's own, signed."""

    def hidden(block: Block) -> Block:
        match block:
            case Text(text):
                return msgspec.structs.replace(block, text=secrets.hide(text))
            case Use(input=given):
                return msgspec.structs.replace(block, input=in_json(secrets.hide, given))
        return block

    return msgspec.structs.replace(reply, blocks=tuple(map(hidden, reply.blocks)))


def in_json(change: Callable[[str], str], data: str) -> str:
    """JSON with each of its texts changed; the same bytes where that changes none, and where it is no JSON."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return change(data)
    changed = _in_value(change, value)
    return data if changed == value else orjson.dumps(changed).decode()


def _in_value(change: Callable[[str], str], value: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_in_value(change, each) for each in value]
    if isinstance(value, dict):
        return {key: _in_value(change, each) for key, each in value.items()}
    return value


class Hiding:
    """Texts that come in pieces, each of its own kind. What could be the beginning of a secret is held back."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    def take(self, kind: str, piece: str) -> str:
        """What can be shown now."""
        return self._secrets.hide(piece)

    def rest(self) -> list[tuple[str, str]]:
        """What was held back, by kind."""
        return []
