"""Where model calls run. The offline line writer is quick, so it runs on the caller's own thread."""

from collections.abc import Callable

from eukhe.actors.ports import CallEvent, Replied, Request
from eukhe.model.extract import extract


class OfflineWorkers:
    """Implements `Workers` for `builtin/extract`."""

    def start(self, call: int, request: Request, heard: Callable[[CallEvent], None]) -> None:
        del call
        heard(Replied(extract(request.part, request.sources)))

    def stop(self, call: int) -> None:
        """Nothing to end: a call has ended before `start` returns."""
