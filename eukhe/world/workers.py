"""Where model calls run."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from eukhe.actors.ports import CallEvent, Key, Replied, Request
from eukhe.model.extract import extract
from eukhe.world.providers.registry import EXTRACT

if TYPE_CHECKING:
    from eukhe.world.process_workers import ProcessWorkers


class OfflineWorkers:
    """Implements `Workers` for `builtin/extract`, on the caller's own thread."""

    def start(self, call: int, request: Request, heard: Callable[[CallEvent], None]) -> None:
        del call
        heard(Replied(extract(request.part, request.sources)))

    def stop(self, call: int) -> None:
        """Nothing to end: a call has ended before `start` returns."""

    def keep(self, keys: tuple[Key, ...]) -> bool:
        """It needs none."""
        del keys
        return False

    def close(self) -> None:
        """Nothing is left of a call."""


def workers_for(model: str, keys: tuple[Key, ...] = ()) -> "OfflineWorkers | ProcessWorkers":
    """The workers that an owner is given for the model that writes its lines; to be closed at its end.

    `keys`: those that are known already.

    `builtin/extract` stays in the owner: half a millisecond of work that can't hang, which a process makes a third
    longer, and an import by a fifth; the first one costs 80 ms and 20 MB more. All other calls can hang, and end only
    with their process.
    """
    if model == EXTRACT:
        return OfflineWorkers()
    from eukhe.world.process_workers import ProcessWorkers

    workers = ProcessWorkers(models=(model,))
    workers.keep(keys)
    return workers
