"""All that a run is drawn from: its seed, and what follows from it. A tape may say it outright."""

from collections.abc import Collection
from random import Random
from typing import Final

import msgspec

from eukhe.actors.ledger import NO_LIMIT, Spending
from eukhe.limits import JOBS_MAX, SIM_CLIENTS_MAX, SIM_MESSAGES_MAX, SIM_MESSAGES_MIN, SIM_STEPS, SIM_TALKERS_MAX
from eukhe.model.chat import ChatLimits
from eukhe.sim.faults import FAULTS
from eukhe.sim.money import draw_spending

VIEWS: Final = (  # number: ceiling, floor, and those of the compaction view, in bytes
    (3_000, 1_500, 1_200, 600),  # number: as above
    (1_500, 700, 400, 200),  # number: as above
    (800, 400, 250, 120),  # number: as above
)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`odds`: of the faults that are on. `kept`: of a shrunk run, the injections of each fault that it keeps.

    `talkers`: clients that take turns. `messages`: that the others choose to log. `call_s`, `think_s`: how long a call
    and a client take at most. `view`: which of `VIEWS`. `gated`: calls pass the gate; `paid`: and cost money, of
    which there is as much as `spending` says; `builds`: lines that an owner may order.
    """

    seed: int
    steps: int
    clients: int
    talkers: int
    messages: int
    jobs: int
    view: int
    call_s: float
    think_s: float
    gated: bool
    paid: bool
    spending: Spending
    builds: int | None
    odds: dict[str, int]
    kept: dict[str, tuple[int, ...]] | None = None

    @property
    def limits(self) -> ChatLimits:
        return ChatLimits(*VIEWS[self.view], jobs=self.jobs)

    @property
    def is_limited(self) -> bool:
        """Whether an owner may be unable to have every line built."""
        return self.builds is not None or self.spending != NO_LIMIT


def draw(
    seed: int, steps: int = SIM_STEPS, *, only: Collection[str] | None = None, skip: Collection[str] = ()
) -> Options:
    """A seed's options. `only`: these faults alone, and all of them; `skip`: not these."""
    dice = Random(seed)
    paid = Random(f"paid {seed}").random() < 1 / 4  # number: some; drawn apart, so that all else of a seed stays
    share = dice.choice((0, 1, 1, 2, 2))  # number: of 2: how many of the faults are on
    odds = {}
    for name, fault in FAULTS.items():
        on = dice.random() * 2 < share
        chosen = dice.choice((fault.odds.seldom,) * 3 + (fault.odds.often,))  # number: mostly seldom
        if name not in skip and (on if only is None else name in only):
            odds[name] = chosen
    return Options(
        seed=seed,
        steps=steps,
        clients=dice.randint(1, SIM_CLIENTS_MAX),
        talkers=dice.randint(0, SIM_TALKERS_MAX),
        messages=dice.randint(SIM_MESSAGES_MIN, SIM_MESSAGES_MAX) * max(1, steps // SIM_STEPS),
        jobs=dice.choice((1, 3, JOBS_MAX)),  # number: few, some, all
        view=dice.randrange(len(VIEWS)),
        call_s=dice.choice((0.0, 5.0, 60.0, 500.0)),  # number: from at once to just within the ten minutes
        think_s=dice.choice((0.0, 1.0, 30.0, 3_000.0)),  # number: from at once to most of an hour
        gated=dice.random() < 7 / 8 or paid,  # number: mostly
        paid=paid,
        spending=draw_spending(seed, paid=paid),
        builds=dice.choice((None,) * 7 + (5,)),  # number: mostly there is no limit
        odds=odds,
    )
