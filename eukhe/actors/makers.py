"""The owner's actors, wired: what each is given, and the order in which they start. The same on every runtime."""

from collections.abc import Callable

from eukhe.actors.archive import Archive
from eukhe.actors.behaviour import Behaviour
from eukhe.actors.compactor import Compactor
from eukhe.actors.index import IndexActor
from eukhe.actors.opening import Opened
from eukhe.actors.planner import Planner
from eukhe.actors.ports import Clock, Disk, Index
from eukhe.actors.store import Store
from eukhe.limits import CHECKPOINT_MESSAGES


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
) -> dict[str, Callable[[], Behaviour]]:
    """The behaviours by name. `index` is the index actor's own, `stores_index` the store's, who sees what is committed.

    `model` writes the lines; `builds`: how many may be ordered of it, None for no limit. `checkpoint_messages`: see
    `Planner`.
    """
    names = [f"compactor-{k}" for k in range(opened.chat.limits.jobs)]
    return {
        "index": lambda: IndexActor(disk, index),
        "store": lambda: Store(opened.start, clock, stores_index, Archive(disk, stores_index)),
        **{name: lambda name=name: Compactor(name, model) for name in names},  # type: ignore[misc]
        "planner": lambda: Planner(
            opened.chat, names, free=opened.free, builds=builds, checkpoint_messages=checkpoint_messages
        ),
    }
