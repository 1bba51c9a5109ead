"""A client that wants the view and says nothing: it waits, takes what there is after a while, or gives up.

Turns wait, too, but few fit into a run, since each has its calls and tools; these stop what is being built, often.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from eukhe.actors.messages import Msg, TakeView, ViewTaken, Wait
from eukhe.limits import MILLISECONDS, SETTLE_TIMEOUT_MS
from eukhe.model.part import Part
from eukhe.sim.checks import CheckFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eukhe.sim.clients import Client


class Waits:
    """A client's own: one wait at a time."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._ticket = 0

    def order(self) -> None:
        """Waits, where it does not; its deadline is the client's own, as a turn's is."""
        if self._waits():
            return
        client, faults = self._client, self._client.machine.faults
        self._ticket = client.outbox.ticket()
        client.order(Wait(client.name, self._ticket))
        deadline_s = SETTLE_TIMEOUT_MS / MILLISECONDS
        self._later("deadline", deadline_s, self._take)
        if faults.strikes("cancelled-wait"):
            self._later("cancel", deadline_s * faults.dice("cancelled-wait").random(), self._cancel)

    def heard(self, answer: Msg) -> None:
        if isinstance(answer, ViewTaken):
            check_tiles(answer.lines, answer.t)

    def _waits(self) -> bool:
        return self._ticket in self._client.orders

    def _take(self) -> None:
        if self._waits():
            self._client.order(TakeView(self._client.name, self._ticket))

    def _cancel(self) -> None:
        if self._waits():
            self._client.machine.faults.meet("cancelled-wait")
            self._client.cancel(self._ticket)

    def _later(self, what: str, after_s: float, do: "Callable[[], None]") -> None:
        self._client.machine.scheduler.set_timer((self._client.name, what), after_s, do)


def check_tiles(lines: "Sequence[Part]", t: int) -> None:
    """A view covers every message once, in their order."""
    covers = [(0, 0), *((line.start, line.end) for line in lines), (t, t)]
    if any(left[1] != right[0] for left, right in pairwise(covers)):
        raise CheckFailed("view-tiles", f"0 to {t}", [line.name for line in lines])
