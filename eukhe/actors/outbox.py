"""What a client has asked for and not been answered, kept so that the next owner can be asked again.

An owner may die between taking an order and answering it. Nothing is lost by that, and nothing comes twice: appends
carry keys, and all other orders may be repeated. A client that finds its owner gone tells the next one what `again`
says.
"""

from collections.abc import Sequence
from itertools import count

import msgspec

from eukhe.actors.messages import Append, Cancel, LeavePrefix, Msg, PrefixRead, TakeView


class Outbox:
    """`name`: the client's, given to no other client of the chat, ever: it makes the keys."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tickets = count(1)
        self._pending: dict[int, list[Msg]] = {}

    def ticket(self) -> int:
        """The next order's."""
        return next(self._tickets)

    def put(self, order: Msg) -> Msg:
        """The order as it is to be sent, with keys where it had none. It is kept until it is answered."""
        match order:
            case Append(entries, _, ticket):
                order = msgspec.structs.replace(
                    order,
                    entries=tuple(
                        entry if entry.key is not None else msgspec.structs.replace(entry, key=self._key(ticket, k))
                        for k, entry in enumerate(entries)
                    ),
                )
            case TakeView(_, ticket):
                if ticket in self._pending:
                    self._pending[ticket].append(order)
                return order
            case Cancel(_, ticket) | LeavePrefix(_, ticket):
                self._pending.pop(ticket, None)
                return order
            case PrefixRead():
                return order  # the next owner's gate knows nothing of this call
        self._pending[order.ticket] = [order]  # type: ignore[attr-defined]  # every other order of a client has one
        return order

    def answered(self, answer: Msg) -> bool:
        """Takes an answer. False where none is awaited: the order was answered before, or cancelled."""
        return self._pending.pop(answer.ticket, None) is not None  # type: ignore[attr-defined]  # as above

    def again(self) -> Sequence[Msg]:
        """All that is not answered, in the order in which it was sent."""
        return [order for orders in self._pending.values() for order in orders]

    def _key(self, ticket: int, entry: int) -> str:
        return f"{self._name}.{ticket}.{entry}"
