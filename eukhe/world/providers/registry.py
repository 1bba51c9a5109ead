"""Which models there are, and what each can be used for."""

import os
import re
from collections.abc import Callable
from typing import Final, NamedTuple

BUILTIN: Final = "builtin"
SCRIPTED: Final = "scripted"
ANTHROPIC: Final = "anthropic"
OPENAI: Final = "openai"
SCRIPT_VARIABLE: Final = "EUKHE_SCRIPTED"
"""Names the file by which scripted models behave; without it there are none."""

EXTRACT: Final = f"{BUILTIN}/extract"
RECALL: Final = f"{BUILTIN}/recall"
_NAME: Final = re.compile(r"\S+")


class Provider(NamedTuple):
    """`lines`, `turns`: whether a model of it, by its own name, can do them. `costs`: its calls may cost money."""

    lines: Callable[[str], bool]
    turns: Callable[[str], bool]
    costs: bool = False


def _any(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name.isprintable()


def _where_scripted(name: str) -> bool:
    return SCRIPT_VARIABLE in os.environ and _any(name)


PROVIDERS: Final = {
    ANTHROPIC: Provider(_any, _any, costs=True),
    OPENAI: Provider(_any, _any, costs=True),
    BUILTIN: Provider(lambda name: name == "extract", lambda name: name == "recall"),
    SCRIPTED: Provider(_where_scripted, _where_scripted),
}

LINE_MODELS: Final = f"{ANTHROPIC}/NAME, {OPENAI}/NAME or {EXTRACT}"
TURN_MODELS: Final = f"{ANTHROPIC}/NAME, {OPENAI}/NAME or {RECALL}"


def provider_of(model: str) -> str:
    """The part of a model's name that says who runs it."""
    return model.partition("/")[0]


def writes_lines(model: object) -> bool:
    """Whether the memory's lines can be written by it. A scripted model can where a script is named."""
    return _can(model, lambda provider, name: provider.lines(name))


def answers_turns(model: object) -> bool:
    """Whether turns can be answered by it."""
    return _can(model, lambda provider, name: provider.turns(name))


def costs_money(model: str) -> bool:
    """Whether a call of it may cost money: then none is made that nobody waits for."""
    provider = PROVIDERS.get(provider_of(model))
    return provider is not None and provider.costs


def _can(model: object, use: Callable[[Provider, str], bool]) -> bool:
    if not isinstance(model, str):
        return False
    provider, slash, name = model.partition("/")
    return bool(slash) and provider in PROVIDERS and use(PROVIDERS[provider], name)
