"""The supervisor: starts the others in order, each once the one before answers, and stops them in reverse.

Stopping lets each finish first: it answers a `Sync` when all it was told is done and saved. An actor that crashed is
passed over, and its crash ends the whole system, cleanly: the disk is the truth, and the next start reads it.
"""

from collections.abc import Sequence

from eukhe.actors.behaviour import Effect, StartActor, StopActor, Tell
from eukhe.actors.messages import Begin, Begun, Crashed, End, Ended, Msg, OwnerFailed, Ping, Pong, Sync, Synced
from eukhe.errors import Bug

NAME = "supervisor"


class Supervisor:
    """`order`: the actors as they start. `edge`: who hears of a crash."""

    def __init__(self, order: Sequence[str], edge: str) -> None:
        self.order = list(order)
        self.edge = edge
        self.up = 0  # how many of `order` were started and not stopped
        self.begin: Begin | None = None
        self.end: End | None = None
        self.crashed: set[str] = set()
        self.ending = False
        self.why: str | None = None

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case Begin():
                self.begin = message
                return self._start_next()
            case Pong(ticket) if ticket == self.up and not self.ending:
                return self._start_next()
            case End():
                self.end = message
                return self._go_down()
            case Synced(ticket) if self.ending and ticket == self.up:
                return [*self._stop_one(), *self._stop_next()]
            case Crashed(who, why):
                return self._crash(who, why)
            case Pong() | Synced():
                return []  # of an actor that has crashed since
        raise Bug(f"the supervisor does not know {message}")

    def _start_next(self) -> list[Effect]:
        if self.up == len(self.order):
            assert self.begin is not None
            return [Tell(self.begin.reply_to, Begun(self.begin.ticket))]
        name = self.order[self.up]
        self.up += 1
        return [StartActor(name), Tell(name, Ping(NAME, self.up))]

    def _crash(self, who: str, why: str) -> list[Effect]:
        waited_for = self.ending and self.up > 0 and self.order[self.up - 1] == who
        self.crashed.add(who)
        self.why = self.why or f"{who}: {why}"
        said = [Tell(self.edge, OwnerFailed(self.why))]
        if self.ending:
            return [*said, *(self._stop_next() if waited_for else [])]
        return [*said, *self._go_down()]

    def _go_down(self) -> list[Effect]:
        if self.ending:
            return self._ended() if self.up == 0 else []
        self.ending = True
        return self._stop_next()

    def _stop_next(self) -> list[Effect]:
        effects: list[Effect] = []
        while self.up and self.order[self.up - 1] in self.crashed:
            effects += self._stop_one()
        if self.up:
            return [*effects, Tell(self.order[self.up - 1], Sync(NAME, self.up))]
        return [*effects, *self._ended()]

    def _stop_one(self) -> list[Effect]:
        self.up -= 1
        return [StopActor(self.order[self.up])]

    def _ended(self) -> list[Effect]:
        return [Tell(self.end.reply_to, Ended(self.end.ticket, self.why))] if self.end else []
