"""What models cost, and how much of a text one token is. Pure: no clock, disk or threads.

List prices in dollars a million tokens, as their providers' pages had them in November 2026 (Anthropic: "Pricing" and
the models' own pages; OpenAI: "Pricing", its standard tier). A model is in the table under its name, without a date at
its end; the setting `prices` adds to it and goes before it. What is not there has no known price: its calls are counted
in tokens, and that is said.

Money is counted in whole nanodollars, so that sums are the same in any order: a dollar a million tokens is a thousand
of them a token. Source for the length of a token: none is exact, and an estimate should be too dear sooner than too
cheap; so a token is three bytes, where English text has about four.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from eukhe.limits import AUTOMATIC_CACHE_TOKENS_MIN, CACHE_TOKENS_MIN, CACHE_TOKENS_MIN_UNKNOWN
from eukhe.model.talk import Usage

NANOS: Final = 1_000_000_000  # number: in a dollar
_NANOS_A_TOKEN: Final = 1_000  # number: for a dollar a million tokens
_TOKEN_BYTES: Final = 3  # number: as above
_USD_MAX: Final = 1_000_000  # number: a million tokens; what costs more is a mistake
_MILLION: Final = 1_000_000  # number: tokens, as most contexts have
_SMALLER: Final = 200_000  # number: tokens
_FREE_PROVIDERS: Final = ("builtin/", "scripted/")
_DATED: Final = re.compile(r"-\d{4}-?\d{2}-?\d{2}$|-latest$")


class Rates(NamedTuple):
    """Dollars a million tokens. `cache_write`: of an entry that lives five minutes."""

    input: float
    output: float
    cache_read: float
    cache_write: float


class Price(NamedTuple):
    """`long`: of a request that sends more than `long_tokens`, for all of its tokens; None where it makes no odds.

    `context_tokens`: of a request and its reply, None where nobody knows.
    """

    rates: Rates
    context_tokens: int | None = None
    long: Rates | None = None
    long_tokens: int = 0


def _automatic(input_: float, cache_read: float, output: float, context_tokens: int) -> Price:
    """Of a provider that takes nothing for what it keeps."""
    return Price(Rates(input_, output, cache_read, input_), context_tokens)


_OPUS: Final = Price(Rates(5, 25, 0.5, 6.25), _MILLION)  # number: list prices
_SONNET: Final = Price(Rates(3, 15, 0.3, 3.75), _MILLION)  # number: list prices
_FABLE: Final = Price(Rates(10, 50, 1, 12.5), _MILLION)  # number: list prices
_FABLE_51: Final = Price(Rates(10, 50, 0.25, 12.5), _MILLION)  # number: list prices
_HAIKU: Final = Rates(0.1, 0.5, 0.01, 0.125)  # number: list prices
_HAIKU_LONG: Final = Rates(0.5, 2.5, 0.05, 0.625)  # number: list prices
PRICES: Final[Mapping[str, Price]] = {
    "anthropic/claude-fable-5-1": _FABLE_51,
    "anthropic/claude-mythos-5-1": _FABLE_51,
    "anthropic/claude-fable-5": _FABLE,
    "anthropic/claude-mythos-5": _FABLE,
    "anthropic/claude-opus-5-5": Price(Rates(4, 20, 0.2, 5), _MILLION),  # number: list prices
    "anthropic/claude-opus-5": _OPUS,
    "anthropic/claude-opus-4-8": _OPUS,
    "anthropic/claude-opus-4-7": _OPUS,
    "anthropic/claude-opus-4-6": _OPUS,
    "anthropic/claude-opus-4-5": _OPUS._replace(context_tokens=_SMALLER),
    "anthropic/claude-sonnet-5-5": Price(Rates(2, 10, 0.1, 2.5), _MILLION),  # number: list prices
    "anthropic/claude-sonnet-5": Price(Rates(2, 10, 0.2, 2.5), _MILLION),  # number: list prices
    "anthropic/claude-sonnet-4-6": _SONNET,
    "anthropic/claude-sonnet-4-5": _SONNET._replace(context_tokens=_SMALLER),
    "anthropic/claude-haiku-5-5": Price(_HAIKU, _MILLION, _HAIKU_LONG, 100_000),  # number: list prices
    "anthropic/claude-haiku-4-5": Price(Rates(1, 5, 0.1, 1.25), _SMALLER),  # number: list prices
    "openai/gpt-5.4": _automatic(2.5, 0.25, 15, 272_000),  # number: list prices
    "openai/gpt-5.4-mini": _automatic(0.75, 0.075, 4.5, 272_000),  # number: list prices
    "openai/gpt-5.1": _automatic(1.25, 0.125, 10, 400_000),  # number: list prices
    "openai/gpt-5": _automatic(1.25, 0.125, 10, 400_000),  # number: list prices
    "openai/gpt-5-mini": _automatic(0.25, 0.025, 2, 400_000),  # number: list prices
    "openai/gpt-5-nano": _automatic(0.05, 0.005, 0.4, 400_000),  # number: list prices
    "openai/gpt-4.1": _automatic(2, 0.5, 8, 1_047_576),  # number: list prices
    "openai/gpt-4.1-mini": _automatic(0.4, 0.1, 1.6, 1_047_576),  # number: list prices
}
FREE: Final = Price(Rates(0, 0, 0, 0))

Own = Mapping[str, Mapping[str, Any]]
"""The setting `prices`: by model, an object of `OWN_KEYS`."""
OWN_KEYS: Final = ("input", "output", "cacheRead", "cacheWrite", "context")


class Prices:
    """Every price that is known. `own`: the user's."""

    def __init__(self, own: Own | None = None) -> None:
        self.table = {**PRICES, **{model: _own(price) for model, price in (own or {}).items()}}

    def of(self, model: str) -> Price | None:
        """A model's price, None where it is not known."""
        if model.startswith(_FREE_PROVIDERS):
            return FREE
        return self.table.get(model) or self.table.get(undated(model))

    def nanos(self, model: str, usage: Usage) -> int | None:
        """What a call costs in nanodollars, None where the model's price is not known.

        >>> Prices().nanos("anthropic/claude-opus-5-5", Usage(input=10, output=2, cache_read=1_000, cache_write=100))
        780000
        """
        price = self.of(model)
        if price is None:
            return None
        rates = price.rates
        if price.long is not None and usage.input + usage.cache_read + usage.cache_write > price.long_tokens:
            rates = price.long
        parts = (
            (usage.input, rates.input),
            (usage.output, rates.output),
            (usage.cache_read, rates.cache_read),
            (usage.cache_write, rates.cache_write),
        )
        return sum(tokens * round(rate * _NANOS_A_TOKEN) for tokens, rate in parts)

    def usd(self, model: str, usage: Usage) -> float | None:
        """The same in dollars."""
        nanos = self.nanos(model, usage)
        return None if nanos is None else nanos / NANOS


def tokens_of(bytes_: int) -> int:
    """How many tokens so many bytes of text are, about."""
    return -(-bytes_ // _TOKEN_BYTES)


def undated(model: str) -> str:
    """A model's name without the date, or the `-latest`, at its end."""
    return _DATED.sub("", model)


def cache_tokens_min(model: str) -> int:
    """A shorter prefix than this is not kept in the provider's cache."""
    provider, _, name = model.partition("/")
    if provider != "anthropic":
        return AUTOMATIC_CACHE_TOKENS_MIN
    return claude_cache_tokens_min(name)


def claude_cache_tokens_min(name: str) -> int:
    """The same of a Claude, by its own name: the longest of the table that it begins with."""
    names = [begins for begins in CACHE_TOKENS_MIN if name.startswith(begins)]
    return CACHE_TOKENS_MIN[max(names, key=len)] if names else CACHE_TOKENS_MIN_UNKNOWN


def are_prices(value: object) -> bool:
    """Whether a setting's value can be `Own`."""
    return isinstance(value, Mapping) and all(_is_price(model, price) for model, price in value.items())


def _is_price(model: object, price: object) -> bool:
    if not isinstance(model, str) or "/" not in model or not isinstance(price, Mapping):
        return False
    if not {"input", "output"} <= price.keys() <= {*OWN_KEYS}:
        return False
    return all(type(number) in (int, float) and 0 <= number <= _most(key) for key, number in price.items())


def _most(key: str) -> int:
    return NANOS if key == "context" else _USD_MAX


def _own(price: Mapping[str, Any]) -> Price:
    input_, context = price["input"], price.get("context")
    rates = Rates(input_, price["output"], price.get("cacheRead", input_), price.get("cacheWrite", input_))
    return Price(rates, None if context is None else int(context))
