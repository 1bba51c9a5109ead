"""A ledger in its host, on a disk in memory, and calls to tell it of."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import orjson
from store_kit import MemoryDisk

from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.ledger import Ledger, Spending
from eukhe.actors.messages import Budget, CallOver, CallResponded, CallSent, Ping
from eukhe.model.prices import Prices
from eukhe.model.talk import Usage
from tests.actor_kit import Rig

MODEL = "openai/m"
PRICES = Prices({MODEL: {"input": 1, "output": 10, "cacheRead": 0.1, "cacheWrite": 2}})
USED = Usage(input=1_000, output=100, cache_read=10_000, cache_write=500)
USD = 0.004  # 0.001 + 0.001 + 0.001 + 0.001


class DayClock:
    """A wall clock that a test sets."""

    def __init__(self, local: str = "2026-10-05T12:00:00+02:00") -> None:
        self.now = datetime.fromisoformat(local)

    def monotonic_s(self) -> float:
        return 0.0

    def local(self) -> datetime:
        return self.now

    def tomorrow(self) -> None:
        self.now += timedelta(days=1)


def ledger(
    disk: MemoryDisk | None = None, clock: DayClock | None = None, model: str = MODEL, **spending: float
) -> Rig[Ledger]:
    clock = clock or DayClock()
    disk = disk if disk is not None else MemoryDisk()
    actor = Rig(lambda: Ledger(disk, clock, PRICES, model, Spending(**spending)), name="ledger", disk=disk, clock=clock)
    actor.receive(Ping("supervisor", 1))
    return actor


def sent(call: str, role: str = "compaction", to: str = "compactor-0", model: str = MODEL) -> CallSent:
    return CallSent(call, role, model, 3, 7, to, 5)


def responded(call: str) -> CallResponded:
    return CallResponded(call, Usage(cache_read=10_000))


def over(call: str, usage: Usage | None = USED, why: str = "") -> CallOver:
    return CallOver(call, usage, why)


def lines(disk: Any, path: str = "calls/2026-10-05.jsonl") -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in disk.read(path).splitlines()] if disk.length(path) else []


def budgets(effects: Iterable[Effect]) -> list[Budget]:
    return [effect.message for effect in effects if isinstance(effect, Tell) and isinstance(effect.message, Budget)]
