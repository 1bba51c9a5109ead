"""Which code makes a model's call. A worker's: it loads all that a call needs, which the owner never does.

A provider's package is loaded when one of its models is called: a second for `anthropic`, which the fork server of a
chat with such a model has done before. Nobody else pays for it.
"""

from collections.abc import Callable, Iterator
from typing import Final

from eukhe.actors.ports import CallEvent
from eukhe.errors import Bug
from eukhe.world.providers import builtin, scripted
from eukhe.world.providers.registry import ANTHROPIC, EXTRACT, OPENAI, RECALL, SCRIPTED, provider_of
from eukhe.world.worker_wire import Order

Caller = Callable[[Order], Iterator[CallEvent | bytes]]
"""Gives the events of a call as they come, the end last. Bytes are sent as they are: what a rogue worker says."""


def caller(model: str) -> Caller:
    """How a model is called. Bug where none is known by that name."""
    if (find := _CALLERS.get(model) or _CALLERS.get(provider_of(model))) is None:
        raise Bug(f"no provider has the model {model}")
    return find()


def prepare(model: str) -> None:
    """Loads what calls of a model need, so that each fork of this process has it."""
    if provider_of(model) == ANTHROPIC:
        from eukhe.world.providers import anthropic

        anthropic.prepare()
    elif provider_of(model) == OPENAI:
        from eukhe.world.providers import openai

        openai.prepare()


def _anthropic() -> Caller:
    from eukhe.world.providers import anthropic

    return anthropic.call


def _openai() -> Caller:
    from eukhe.world.providers import openai

    return openai.call


_CALLERS: Final[dict[str, Callable[[], Caller]]] = {
    EXTRACT: lambda: builtin.extract_line,
    RECALL: lambda: builtin.recall_turn,
    SCRIPTED: lambda: scripted.call,
    ANTHROPIC: _anthropic,
    OPENAI: _openai,
}
