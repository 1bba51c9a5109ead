"""Which code makes a model's call. A worker's: it loads all that a call needs, which the owner never does."""

from collections.abc import Callable, Iterator

from eukhe.actors.ports import CallEvent
from eukhe.errors import Bug
from eukhe.world.providers import builtin, scripted
from eukhe.world.providers.registry import BUILTIN, SCRIPTED, provider_of
from eukhe.world.worker_wire import Order

Caller = Callable[[Order], Iterator[CallEvent | bytes]]
"""Gives the events of a call as they come, the end last. Bytes are sent as they are: what a rogue worker says."""


def caller(model: str) -> Caller:
    """How a model is called. Bug where none is known by that name."""
    match provider_of(model):
        case provider if provider == BUILTIN:
            return builtin.call
        case provider if provider == SCRIPTED:
            return scripted.call
    raise Bug(f"no provider has the model {model}")
