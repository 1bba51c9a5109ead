"""The owner's actors, wired: what each is given, and the order in which they start. The same on every runtime."""

from collections.abc import Callable

from eukhe import __version__
from eukhe.actors.agents import Agents
from eukhe.actors.archive import Archive
from eukhe.actors.behaviour import Behaviour
from eukhe.actors.compactor import Compactor, Paid
from eukhe.actors.door import NAME as DOOR
from eukhe.actors.door import Door
from eukhe.actors.gate import Gate
from eukhe.actors.index import IndexActor
from eukhe.actors.ledger import NO_LIMIT, Ledger, Spending
from eukhe.actors.opening import Opened
from eukhe.actors.planner import Planner
from eukhe.actors.ports import Clock, Disk, Index
from eukhe.actors.routes import AGENTS, GATE, LEDGER
from eukhe.actors.store import Store
from eukhe.limits import CHECKPOINT_MESSAGES
from eukhe.model.prices import Prices
from eukhe.model.prompt import Texts
from eukhe.model.prompt import texts as our_texts
from eukhe.model.talk import Effort


def owner_makers(
    opened: Opened,
    disk: Disk,
    clock: Clock,
    index: Index,
    stores_index: Index,
    model: str,
    *,
    builds: int | None = None,
    checkpoint_messages: int = CHECKPOINT_MESSAGES,
    gated: bool | None = None,
    paid: bool = False,
    texts: Texts | None = None,
    effort: Effort = "medium",
    session: str = "",
    prices: Prices | None = None,
    spending: Spending = NO_LIMIT,
    door: bool = False,
    leaves_when_idle: bool = False,
    pid: int = 0,
) -> dict[str, Callable[[], Behaviour]]:
    """The behaviours by name. `index` is the index actor's own, `stores_index` the store's, who sees what is committed.

    `model` writes the lines; `builds`: how many may be ordered of it, None for no limit. `checkpoint_messages`: see
    `Planner`. `gated`: its calls see lines before them, whose prefix costs money; of a `builtin/` one none do.
    `paid`: they cost money, and are sent `texts` (ours where none are given) with this `effort`; `session` names this
    owner's life, and no other's ever: the ledger knows its calls by it. They cost what `prices` say, the list prices
    where none are given, and `spending` says how much they may.
    `door`: other processes are let in by sockets, and hear that the owner is `pid`; `leaves_when_idle`: see `Door`.
    """
    if gated is None:
        gated = paid or not model.startswith("builtin/")
    assert session or not paid, "paid calls have names"
    in_force = texts or our_texts()
    sends = Paid(in_force, effort, session) if paid else None
    names = [f"compactor-{k}" for k in range(opened.chat.limits.jobs)]
    makers: dict[str, Callable[[], Behaviour]] = {
        "index": lambda: IndexActor(disk, index, clock),
        "store": lambda: Store(opened.start, clock, stores_index, Archive(disk, stores_index)),
        AGENTS: lambda: Agents(disk, clock),
        GATE: lambda: Gate(in_force),
        LEDGER: lambda: Ledger(disk, clock, prices or Prices(), model, spending if paid else NO_LIMIT),
        **{name: lambda name=name: Compactor(name, model, gated=gated, paid=sends) for name in names},  # type: ignore[misc]
        "planner": lambda: Planner(
            opened.chat,
            names,
            free=opened.free,
            builds=builds,
            checkpoint_messages=checkpoint_messages,
            contexts=gated,
            reads_contexts=paid,
            paid=paid,
        ),
    }
    if door:
        makers[DOOR] = lambda: Door(__version__, pid, leaves_when_idle=leaves_when_idle)
    return makers
