"""What building lines will cost, said before it costs anything: about, and sooner too much than too little.

A call for a line reads the texts that all calls begin with and a compaction view from the provider's cache, is sent
what it compresses, and writes a line. The first one pays for the beginning as a whole.
"""

from pathlib import Path
from typing import NamedTuple

from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.chat import ChatLimits
from eukhe.model.prices import Prices, tokens_of
from eukhe.model.prompt import Texts
from eukhe.model.talk import Usage
from eukhe.world.config import Settings
from eukhe.world.prompts import load_prompts

LINE_TOKENS = 1_000  # number: that a call writes, about, thinking included: a line has some 170
SOURCE_BYTES = 4_000  # number: of what a call compresses, where that is not known


class Estimate(NamedTuple):
    """So many calls at the most, and what they cost, about; None where the model's price is not known."""

    calls: int
    usd: float | None

    def __str__(self) -> str:
        if self.usd is None:
            return f"up to {self.calls} calls, of a price that nobody knows (prices)"
        return f"up to {self.calls} calls, about ${self.usd:.2f}"


def first_call_usd(model: str, texts: Texts, limits: ChatLimits, prices: Prices) -> float | None:
    """What the first call costs, about."""
    return prices.usd(model, Usage(tokens_of(SOURCE_BYTES), LINE_TOKENS, 0, _beginning(texts, limits)))


def lines_usd(
    calls: int, source_bytes: int, model: str, texts: Texts, limits: ChatLimits, prices: Prices
) -> float | None:
    """What so many calls cost, about. `source_bytes`: of all that they compress."""
    beginning = _beginning(texts, limits)
    first = prices.usd(model, Usage(cache_write=beginning))
    each = prices.usd(model, Usage(0, LINE_TOKENS, beginning))
    sources = prices.usd(model, Usage(tokens_of(source_bytes)))
    if first is None or each is None or sources is None:
        return None
    return first + calls * each + sources if calls else 0.0


def to_build(home: Path, settings: Settings, model: str, messages: int, nodes: int, source_bytes: int) -> Estimate:
    """Building all that can be built. `nodes`: those that are; `source_bytes`: of the messages that have no line."""
    calls = calls_left(messages, nodes)
    texts = load_prompts(home, settings).texts
    bytes_ = source_bytes + merge_bytes(calls)
    return Estimate(calls, lines_usd(calls, bytes_, model, texts, settings.chat_limits(), Prices(settings.prices())))


def calls_left(messages: int, nodes: int) -> int:
    """How many calls it takes at the most to build all that can be built. `nodes`: those that are.

    >>> calls_left(4, 0), calls_left(5, 7)
    (7, 1)
    """
    return sum(messages >> level for level in range(messages.bit_length())) - nodes


def merge_bytes(merges: int) -> int:
    """Of what so many merges compress."""
    return merges * 2 * NODE_BYTES_MAX


def _beginning(texts: Texts, limits: ChatLimits) -> int:
    """Tokens of what calls have in common."""
    tools = sum(len(f"{tool.name}{tool.description}{tool.schema}".encode()) for tool in texts.tools)
    return tokens_of(len(texts.system.encode()) + tools + limits.compaction_ceiling)
