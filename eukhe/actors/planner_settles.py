"""Those who wait until nothing is left to build, as an import and `memory build` do."""

from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.messages import Settle, Settled, SettleFailed


class Settles:
    """`asked`: in the order in which they came."""

    def __init__(self) -> None:
        self.asked: list[Settle] = []

    def __bool__(self) -> bool:
        return bool(self.asked)

    @property
    def build(self) -> bool:
        """Whether somebody wants the memory built, and does not merely wait until it rests."""
        return any(settle.take for settle in self.asked)

    def add(self, settle: Settle) -> None:
        self.asked.append(settle)

    def cancel(self, reply_to: str, ticket: int) -> None:
        self.asked = [settle for settle in self.asked if (settle.reply_to, settle.ticket) != (reply_to, ticket)]

    def due(self, t: int) -> list[Settle]:
        """Takes out those whose messages are all there, `t` of them."""
        due = [settle for settle in self.asked if settle.t <= t]
        self.asked = [settle for settle in self.asked if settle.t > t]
        return due

    def fail(self, why: str) -> list[Effect]:
        asked, self.asked = self.asked, []
        return [Tell(settle.reply_to, SettleFailed(settle.ticket, why)) for settle in asked]


def settled(due: list[Settle], calls: int, left: int) -> list[Effect]:
    """The answers to those who are due."""
    return [Tell(settle.reply_to, Settled(settle.ticket, calls, left)) for settle in due]
