"""What models cost."""

import doctest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.errors import SettingsError
from eukhe.model import prices
from eukhe.model.prices import FREE, PRICES, Prices, Rates, are_prices, cache_tokens_min, tokens_of
from eukhe.model.talk import Usage
from eukhe.world.config import load, store
from eukhe.world.providers.choice import DEFAULTS
from eukhe.world.providers.efforts import CLAUDES

counts = st.integers(0, 10**7)
usages = st.builds(Usage, counts, counts, counts, counts)


def test_the_example_holds() -> None:
    assert (1, 0) == (doctest.testmod(prices).attempted, doctest.testmod(prices).failed)


def test_all_default_models_and_all_claudes_that_are_known_have_prices() -> None:
    defaults = [model for default in DEFAULTS.values() for model in default]
    assert [] == [model for model in defaults if model not in PRICES]
    assert [] == [name for name in CLAUDES if f"anthropic/{name}" not in PRICES]


def test_each_kind_of_token_has_its_price() -> None:
    usd = Prices({"openai/x": {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}}).usd
    million = 1_000_000
    assert (1, 2) == (usd("openai/x", Usage(input=million)), usd("openai/x", Usage(output=million)))
    assert (3, 4) == (usd("openai/x", Usage(cache_read=million)), usd("openai/x", Usage(cache_write=million)))


def test_a_long_request_has_a_price_of_its_own_for_all_its_tokens() -> None:
    nanos = Prices().nanos
    model = "anthropic/claude-haiku-5-5"
    assert 100_000 * 10 + 500 == nanos(model, Usage(output=1, cache_read=100_000))
    assert 100_001 * 50 + 2_500 == nanos(model, Usage(output=1, cache_read=100_001))


def test_a_model_is_known_with_a_date_and_not_by_the_beginning_of_its_name() -> None:
    of = Prices().of
    assert PRICES["anthropic/claude-sonnet-4-5"] == of("anthropic/claude-sonnet-4-5-20250929")
    assert PRICES["openai/gpt-5"] == of("openai/gpt-5-2025-08-07")
    assert (None, None) == (of("anthropic/claude-fable-5-9"), of("openai/local"))
    assert None is Prices().usd("openai/local", Usage(1, 1, 1, 1))


def test_what_runs_here_is_free() -> None:
    assert (FREE, 0) == (Prices().of("builtin/extract"), Prices().nanos("scripted/any", Usage(9, 9, 9, 9)))


def test_the_users_prices_go_first_and_what_they_leave_out_is_as_dear_as_input() -> None:
    own = {"anthropic/claude-opus-5-5": {"input": 7, "output": 8, "context": 5}}
    price = Prices(own).of("anthropic/claude-opus-5-5")
    assert price is not None
    assert (Rates(7, 8, 7, 7), 5) == (price.rates, price.context_tokens)


@given(st.lists(usages, max_size=6))
def test_a_sum_of_costs_is_the_cost_of_the_sum(some: list[Usage]) -> None:
    nanos = Prices().nanos
    model = "anthropic/claude-opus-5-5"
    assert nanos(model, sum(some, Usage())) == sum(nanos(model, usage) or 0 for usage in some)


@pytest.mark.parametrize(("bytes_", "tokens"), [(0, 0), (1, 1), (3, 1), (4, 2)])
def test_a_token_is_three_bytes_and_a_part_of_one_is_one(bytes_: int, tokens: int) -> None:
    assert tokens == tokens_of(bytes_)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("anthropic/claude-haiku-5-5", 512),
        ("anthropic/claude-haiku-4-5-20251001", 4_096),
        ("anthropic/claude-opus-4-8", 1_024),
        ("anthropic/other", 4_096),
        ("openai/gpt-5", 1_024),
    ],
)
def test_the_shortest_prefix_that_is_kept(model: str, tokens: int) -> None:
    assert tokens == cache_tokens_min(model)


# --- the setting ---

WRONG: list[Any] = [
    7,
    {"x": {"input": 1, "output": 1}},
    {"openai/x": 1},
    {"openai/x": {"input": 1}},
    {"openai/x": {"input": 1, "output": -1}},
    {"openai/x": {"input": 1, "output": True}},
    {"openai/x": {"input": 1, "output": 1, "cached": 1}},
    {"openai/x": {"input": 1, "output": 1e99}},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_price_is_refused(wrong: Any) -> None:
    assert not are_prices(wrong)


def test_prices_come_from_the_file_whole_and_a_model_may_have_dots(home: Path) -> None:
    store(home, "prices", '{"openai/gpt-9.5": {"input": 1, "output": 2.5}}')
    found = load(home, {}, {})
    assert ({"openai/gpt-9.5": {"input": 1, "output": 2.5}}, ()) == (found.prices(), found.unknown)
    store(home, "prices", None)
    assert {} == load(home, {}, {}).prices()


@pytest.mark.parametrize("text", ["no json", "{}}", '{"openai/x": {"input": 1}}', "3"])
def test_a_text_that_is_no_prices_is_refused_and_nothing_is_changed(home: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="allowed: dollars a million tokens"):
        store(home, "prices", text)
    assert {} == load(home, {}, {}).prices()
