"""Which model writes lines and which answers turns, where the settings leave it open. D6."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from eukhe.actors.ports import Key
from eukhe.world.config import Settings
from eukhe.world.providers.registry import ANTHROPIC, EXTRACT, OPENAI, RECALL, costs_money, provider_of, writes_lines


class Defaults(NamedTuple):
    """A provider's models: its best for turns, its cheap one for lines."""

    turn: str
    line: str


DEFAULTS: Final = {
    ANTHROPIC: Defaults(f"{ANTHROPIC}/claude-opus-5-5", f"{ANTHROPIC}/claude-haiku-5-5"),
    OPENAI: Defaults(f"{OPENAI}/gpt-5.4", f"{OPENAI}/gpt-5-mini"),
}
"""In the order in which they are taken, where several have a key."""


def turn_model(settings: Settings, keys: Iterable[Key]) -> tuple[str, str]:
    """The model of a turn, and a word about it where nobody chose it; empty else."""
    keys = tuple(keys)
    model = settings.text("model")
    if model is not None:
        return model, ""
    for provider, defaults in DEFAULTS.items():
        if any(key.provider == provider and key.value and _has_defaults(key) for key in keys):
            return defaults.turn, f"no model is set, so {defaults.turn} answers, whose key is there (model)"
    why = "; a server of your own has models of its own" if any(key.base_url for key in keys) else ""
    return RECALL, f"no model is set, so {RECALL} answers, offline and from the memory alone (model){why}"


def memory_model(settings: Settings, keys: Iterable[Key]) -> tuple[str, str]:
    """The model that writes lines, and a word about it where nobody chose it; empty else.

    Set by nobody it is the cheap one of the turns' provider, or the turns' own on a server that has others. Where no
    key is there it is the one that costs nothing: whoever decides that, decides it for good, by writing it down.
    """
    keys = tuple(keys)
    model = settings.text("memory.model")
    if model is not None:
        return model, ""
    turn, _ = turn_model(settings, keys)
    key = next((key for key in keys if key.provider == provider_of(turn)), None)
    if key is None and costs_money(turn):
        turn = EXTRACT
    elif key is not None and _has_defaults(key):
        turn = DEFAULTS[key.provider].line
    if costs_money(turn):
        return turn, f"no model is set, so {turn} writes the memory's lines (memory.model)"
    model = turn if writes_lines(turn) else EXTRACT
    return model, f"no model is set, so {model} writes the memory's lines, offline and for nothing (memory.model)"


def _has_defaults(key: Key) -> bool:
    """Whether a provider's usual models are at a key's address: a server that speaks OpenAI's form has its own."""
    return not key.base_url or key.provider == ANTHROPIC
