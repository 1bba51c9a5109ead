"""Who is there, of a chat whose calls cost money: a client that comes and goes, and what may be called meanwhile.

What may start is counted once more here, apart from the planner: all that there is while somebody attends, waits, or
builds; after that what there was when the last one went.
"""

from typing import TYPE_CHECKING

from eukhe.actors.messages import Attend, Cancel, Msg, Settle, Settled, SettleFailed, Wait
from eukhe.sim.checks import CheckFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eukhe.model.part import Part
    from eukhe.sim.clients import Client

Asker = tuple[str, int]


class Presence:
    """A client's own: it comes, and goes, and may die or lose its owner while it is there."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._ticket: int | None = None

    def change(self) -> None:
        client = self._client
        if self._ticket is None:
            self._ticket = client.outbox.ticket()
            client.order(Attend(client.name, self._ticket))
        else:
            client.cancel(self._ticket)
            self._ticket = None


class Attended:
    """What the planner may order of a model that costs money. `end`: calls may start for the messages before it."""

    def __init__(self) -> None:
        self.end = 0
        self._there: set[Asker] = set()
        self._builders: dict[Asker, bool] = {}

    def happened(self, message: Msg, told: "Sequence[Msg]", waits: bool, t: int) -> None:
        """`told`: what the planner told; `waits`: a turn did before this message, or does; `t`: the messages now."""
        attended = waits or self._is_attended() or isinstance(message, Wait)
        match message:
            case Attend(reply_to, ticket):
                self._there.add((reply_to, ticket))
            case Settle(reply_to, ticket, _, True):
                self._builders[reply_to, ticket] = True
            case Cancel(reply_to, ticket):
                self._there.discard((reply_to, ticket))
                self._builders.pop((reply_to, ticket), None)
        if attended or self._is_attended():
            self.end = t
        for answer in told:
            if isinstance(answer, Settled | SettleFailed):
                self._builders = {asker: True for asker in self._builders if asker[1] != answer.ticket}

    def check(self, new: "Sequence[Part]") -> None:
        """Of the calls that start now."""
        if beyond := [part.name for part in new if part.end > self.end]:
            raise CheckFailed("attended", f"calls for what is before message {self.end}", beyond)

    def _is_attended(self) -> bool:
        return bool(self._there or self._builders)
