"""`eukhe models`."""

import os
from typing import Any

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import emit, emit_json, emit_table
from eukhe.model.prices import Price, Prices, cache_tokens_min
from eukhe.world.keys import keys_of
from eukhe.world.providers.choice import memory_model, turn_model
from eukhe.world.providers.registry import EXTRACT, RECALL, costs_money, provider_of

JSON_KEYS = {
    "[].model": "provider/name, as the settings `model` and `memory.model` take it",
    "[].input": "dollars a million tokens sent; null where nobody knows",
    "[].output": "dollars a million tokens of the reply",
    "[].cacheRead": "dollars a million tokens read from the provider's cache",
    "[].cacheWrite": "dollars a million tokens written to it",
    "[].context": "tokens that a request and its reply may have; null where nobody knows",
    "[].cacheMin": "tokens below which a provider's cache keeps nothing",
    "[].key": "whether a key, or an address of one's own, is there for its provider; true where none is needed",
    "[].turns": "whether it answers turns, as things are set now",
    "[].lines": "whether it writes the memory's lines",
}


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.pass_obj
def command(given: Given, as_json: bool) -> None:
    """Print the models that are known, what they cost, and which are in use.

    Any other one of a provider's may be named too; the setting `prices` says what it costs. Prices are dollars a
    million tokens, as their providers' lists had them in November 2026.
    """
    settings = settings_of(given)
    keys = keys_of(os.environ, settings)
    turns, lines = turn_model(settings, keys)[0], memory_model(settings, keys)[0]
    prices = Prices(settings.prices())
    there = {key.provider for key in keys}
    names = list(dict.fromkeys([turns, lines, RECALL, EXTRACT, *prices.table]))
    rows = [
        _row(name, prices.of(name))
        | {
            "key": not costs_money(name) or provider_of(name) in there,
            "turns": name == turns,
            "lines": name == lines,
        }
        for name in names
    ]
    if as_json:
        emit_json(rows)
    else:
        _tell(rows)


def _row(model: str, price: Price | None) -> dict[str, Any]:
    rates = None if price is None else price.rates
    return {
        "model": model,
        "input": rates and rates.input,
        "output": rates and rates.output,
        "cacheRead": rates and rates.cache_read,
        "cacheWrite": rates and rates.cache_write,
        "context": price and price.context_tokens,
        "cacheMin": cache_tokens_min(model) if costs_money(model) else 0,
    }


def _tell(rows: list[dict[str, Any]]) -> None:
    header = ("model", "input", "output", "read", "write", "context", "key", "in use for")
    emit_table(
        (
            (
                row["model"],
                *(_shown(row[key]) for key in ("input", "output", "cacheRead", "cacheWrite", "context")),
                "yes" if row["key"] else "no",
                " and ".join(use for use in ("turns", "lines") if row[use]),
            )
            for row in rows
        ),
        header,
    )
    emit("dollars a million tokens")


def _shown(number: float | None) -> str:
    return "-" if number is None else f"{number:g}" if isinstance(number, float) else str(number)
