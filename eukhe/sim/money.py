"""What the calls of a run cost, and how much its owners may spend on lines."""

from random import Random
from typing import Final

from eukhe.actors.ledger import Spending
from eukhe.model.prices import Price, Prices, Rates
from eukhe.model.talk import Usage

USAGE: Final = Usage(input=10, output=20, cache_read=300, cache_write=40)  # number: tokens, of each call
RATES: Final = Rates(input=4, output=20, cache_read=0.2, cache_write=5)  # number: so that each costs $0.0007
ESTIMATE_USD: Final = 0.0005  # number: less than that, so that what the ledger learns makes a difference
DAILY_USD: Final = (None, 0.002, 0.01)  # number: some 2 calls, some 14
LIMIT_USD: Final = (None, 0.0, 0.001, 0.003)  # number: none at all, one or two calls, some 4


class SimPrices(Prices):
    """The scripted model, which is free elsewhere, has a price."""

    def of(self, model: str) -> Price | None:
        del model
        return Price(RATES)


def draw_spending(seed: int, *, paid: bool) -> Spending:
    """What lines may cost a day, and an owner. Drawn apart, so that all else of a seed stays."""
    dice = Random(f"spending {seed}")
    if not paid or dice.random() < 1 / 3:  # number: some that are paid have no limit
        return Spending()
    return Spending(ESTIMATE_USD, dice.choice(DAILY_USD), dice.choice(LIMIT_USD))
