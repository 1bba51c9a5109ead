"""Calls of models, and the workers that make them."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from eukhe.model.part import Part
from eukhe.model.talk import NO_USAGE, Reply, Talk, Usage


class Key(msgspec.Struct, frozen=True):
    """What a provider knows the user by. It is never shown: a crash tells its actor's last messages.

    `base_url`: where the provider is, empty for where all have it. A server of the user's own may want no key: its
    `value` is empty then.
    """

    provider: str
    value: str
    base_url: str = ""

    def __repr__(self) -> str:
        return f"Key({self.provider})"


class Request(msgspec.Struct, frozen=True, tag=True):
    """One call for a line: a message's `kind: text`, or the texts of a merge's two halves.

    `replies`: earlier ones of the same conversation that were too long, oldest first. `talk`: the same as it is sent to
    a provider; None where the model needs none, as `builtin/extract`.
    """

    model: str
    part: Part
    sources: tuple[str, ...]
    replies: tuple[str, ...] = ()
    talk: Talk | None = None


class TurnRequest(msgspec.Struct, frozen=True, tag=True):
    """One call of a turn, or of a subagent."""

    model: str
    talk: Talk


class Responding(msgspec.Struct, frozen=True, tag=True):
    """A call's response began. Heard once at most, before its end. `usage`: what it has cost until now."""

    usage: Usage | None = None


class Delta(msgspec.Struct, frozen=True, tag=True):
    """A piece of a turn's reply, as it comes. `kind`: `text`, `thought`, or `use`, the input of a tool."""

    kind: str
    text: str


class Replied(msgspec.Struct, frozen=True, tag=True):
    """A call ended well. `text`: its text blocks joined, None where it only thought. `reply`: the whole of a turn's."""

    text: str | None
    reply: Reply | None = None
    usage: Usage | None = None


class Broke(msgspec.Struct, frozen=True, tag=True):
    """A call ended badly, by a fault that counts as the input's: a dead worker, a stream that broke, garbage.

    `usage`: what it has cost, as far as its provider said. `final`: to send the same once more is no use.
    """

    why: str
    usage: Usage | None = None
    final: bool = False

    @property
    def cost(self) -> Usage | None:
        """What it has cost; None where nobody knows. What a provider refused to do cost nothing."""
        return NO_USAGE if self.final and self.usage is None else self.usage


class Outage(msgspec.Struct, frozen=True, tag=True):
    """A call did not get a response, and no other would: the provider is out, or wants a key. D13.

    `retry_after_s`: when to try again, None where the provider did not say. `key`: not before a key or a setting
    changes.
    """

    why: str
    retry_after_s: float | None = None
    key: bool = False

    @property
    def cost(self) -> Usage:
        """Nothing: there was no response."""
        return NO_USAGE


CallEvent = Responding | Delta | Replied | Broke | Outage


class Workers(Protocol):
    """Runs calls for lines, at most one for each compactor."""

    def start(self, call: int, request: Request, heard: Callable[[CallEvent], None]) -> None:
        """Starts a call. Of its end `heard` is told once, unless it was stopped; from any thread, and maybe at once."""
        ...

    def stop(self, call: int) -> None:
        """Ends a call at once; nothing is heard of it any more."""
        ...

    def keep(self, keys: tuple[Key, ...]) -> bool:
        """The keys for the calls from now on, each for its provider. Whether one of them is new, or another."""
        ...


class NoWorkers:
    """A client's: lines are its owner's to order."""

    def start(self, call: int, request: Request, heard: Callable[[CallEvent], None]) -> None:
        raise AssertionError(f"a client orders {request.part.name}")

    def stop(self, call: int) -> None:
        raise AssertionError(f"a client stops call {call}")

    def keep(self, keys: tuple[Key, ...]) -> bool:
        raise AssertionError("a client is told keys")
