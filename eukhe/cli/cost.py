"""`eukhe cost`."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import click

from eukhe.cli.calls import calls_of
from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import counted, emit, emit_json, emit_table
from eukhe.cli.reading import find
from eukhe.model.ledger import Call
from eukhe.model.misses import REASONS, Miss, Misses
from eukhe.model.prices import NANOS, Prices
from eukhe.model.talk import Usage

JSON_KEYS = {
    "[].day": "the day on which the calls were sent",
    "[].role": "`turn`, `agent` or `compaction`",
    "[].model": "provider/name",
    "[].calls": "how many",
    "[].failed": "how many of them failed, or were stopped",
    "[].unknown": "how many of them cost nobody knows what; they are left out of the money",
    "[].input": "tokens that were neither read from the provider's cache nor written to it",
    "[].output": "tokens of the replies",
    "[].cacheRead": "tokens read from the cache",
    "[].cacheWrite": "tokens written to it",
    "[].usd": "dollars",
    "[].misses": "by reason, the tokens that might have been read from the cache and were paid for",
}


class Row:
    """What the calls of one day, role and model took together."""

    def __init__(self, day: str, role: str, model: str) -> None:
        self.day, self.role, self.model = day, role, model
        self.calls = self.failed = self.unknown = self.nanos = 0
        self.usage = Usage()
        self._missed = Counter[str]()

    def add(self, call: Call, miss: Miss | None, prices: Prices) -> None:
        self.calls += 1
        self.failed += bool(call.why)
        self.usage += call.usage or Usage()
        if call.is_known(prices):
            self.nanos += call.nanos(prices) or 0
        else:
            self.unknown += 1
        if miss is not None:
            self._missed[miss.reason] += miss.tokens

    @property
    def misses(self) -> dict[str, int]:
        """Tokens by reason."""
        return {reason: self._missed[reason] for reason in REASONS if self._missed[reason]}

    @property
    def read_share(self) -> float:
        """Of all tokens sent, those read from the cache."""
        sent = self.usage.input + self.usage.cache_read + self.usage.cache_write
        return self.usage.cache_read / sent if sent else 0.0


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.option("--since", metavar="DAY", type=click.DateTime(["%Y-%m-%d"]), help="From this day on, as 2026-10-05.")
@click.pass_obj
def command(given: Given, since: Any, as_json: bool) -> None:
    """Print what calls have cost, by day, role and model, and why what might have been cheap was not.

    A call reads from its provider's cache what an earlier one has left there. Where it might have and did not, there is
    a reason: the first call of its role; another model; a pause of more than five minutes; a batch, which changes the
    beginning of the view; a mark out of sight (look-back). Calls of unknown cost, as of a model that has no price, are
    counted apart: `prices` in the settings gives it one.
    """
    prices = Prices(settings_of(given).prices())
    rows = rows_of(calls_of(find(given), prices, since.date().isoformat() if since else ""), prices)
    if as_json:
        emit_json([_json(row) for row in rows])
    elif not rows:
        emit("no calls were made that cost anything")
    else:
        _tell(rows)


def rows_of(calls: Iterable[Call], prices: Prices) -> list[Row]:
    """The rows, oldest day first. `calls`: in the order in which they were sent."""
    rows: dict[tuple[str, str, str], Row] = {}
    misses: dict[str, Misses] = {}  # by role
    for call in calls:
        head = call.head
        name = (head.t.partition("T")[0], head.role, head.model)
        miss = misses.setdefault(head.role, Misses()).take(call)
        rows.setdefault(name, Row(*name)).add(call, miss, prices)
    return [row for _, row in sorted(rows.items())]


def _json(row: Row) -> dict[str, Any]:
    usage = row.usage
    return {
        "day": row.day,
        "role": row.role,
        "model": row.model,
        "calls": row.calls,
        "failed": row.failed,
        "unknown": row.unknown,
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "usd": row.nanos / NANOS,
        "misses": row.misses,
    }


def _tell(rows: list[Row]) -> None:
    header = ("day", "role", "model", "calls", "input", "output", "read", "written", "from cache", "money")
    emit_table(
        (
            (
                *(row.day, row.role, row.model, row.calls),
                *(row.usage.input, row.usage.output, row.usage.cache_read, row.usage.cache_write),
                f"{row.read_share:.1%}",
                _money(row),
            )
            for row in rows
        ),
        header,
    )
    calls, unknown = sum(row.calls for row in rows), sum(row.unknown for row in rows)
    total = sum(row.nanos for row in rows) / NANOS
    emit(f"in all {counted(calls, 'call')}, ${total:.4f}" + (f", and {unknown} of unknown cost" if unknown else ""))
    reasons = Counter[str]()
    for row in rows:
        reasons.update(row.misses)
    for reason in REASONS:
        if reasons[reason]:
            emit(f"not read from the cache: {reasons[reason]} tokens, {reason}")


def _money(row: Row) -> str:
    money = f"${row.nanos / NANOS:.4f}"
    return money if not row.unknown else "unknown" if row.unknown == row.calls else f"{money} and {row.unknown} unknown"
