"""A ledger of a test's own, that writes nothing down."""

from collections.abc import Sequence

from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.messages import CallSent, Counted, Msg, Ping, Pong, Sync, Synced


class Ledger:
    """Stands in for the ledger: writes nothing down. `answers`: it lets calls go."""

    def __init__(self, *, answers: bool = True) -> None:
        self.answers = answers
        self.told: list[Msg] = []

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket):
                return [Tell(reply_to, Synced(ticket))]
            case CallSent():
                self.told.append(message)
                return [Tell(message.reply_to, Counted(message.ticket))] if self.answers else []
        self.told.append(message)
        return []
