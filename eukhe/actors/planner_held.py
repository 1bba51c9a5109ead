"""Orders to compactors that wait until all that they read is on disk."""

from collections.abc import Collection

from eukhe.actors.messages import StartBuild
from eukhe.model.part import Part


class Held:
    """`reads_contexts`: compactors read the lines that a call sees, besides those that a merge is made of."""

    def __init__(self, *, reads_contexts: bool) -> None:
        self._reads_contexts = reads_contexts
        self._orders: list[StartBuild] = []

    def add(self, order: StartBuild) -> None:
        self._orders.append(order)

    def release(self, early: Collection[Part]) -> list[StartBuild]:
        """The orders that may go. `early`: the nodes that count as built and are not on disk."""
        held = [order for order in self._orders if early and not set(self._reads(order)).isdisjoint(early)]
        gone = [order for order in self._orders if order not in held]
        self._orders = held
        return gone

    def take_back(self, calls: Collection[int]) -> list[int]:
        """Of these calls, those that no compactor was told of."""
        taken = [order.call for order in self._orders if order.call in calls]
        self._orders = [order for order in self._orders if order.call not in taken]
        return taken

    def _reads(self, order: StartBuild) -> tuple[Part, ...]:
        """The nodes whose lines a compactor reads for an order."""
        context = order.context if self._reads_contexts else ()
        return (*context, *(order.part.halves if order.part.level else ()))
