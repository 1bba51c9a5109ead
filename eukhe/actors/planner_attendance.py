"""Whether calls that cost money may start: while somebody attends, and then for what was there. Section 4, D13.

Somebody attends in an open chat, while a turn waits, or to build the memory; an import does not. After the last one has
gone, calls start only for lines of the messages that there were then, until these are built: an idle chat pays nothing.
"""

from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.messages import AskBudget
from eukhe.actors.planner_settles import Settles
from eukhe.actors.planner_waits import Asker, Waits
from eukhe.actors.routes import LEDGER
from eukhe.model.chat import Chat


class Attendance:
    """`paid`: calls cost money; else they may start at any time. `there`: who is there, but for turns and builders."""

    def __init__(self, chat: Chat, *, paid: bool) -> None:
        self.paid = paid
        self.there: dict[Asker, None] = {}
        self._chat = chat
        self._attended = False
        self._end = 0  # the messages that there were when the last one went

    def begin(self) -> list[Effect]:
        """Where calls cost money, the ledger is to say what may be spent."""
        return [Tell(LEDGER, AskBudget())] if self.paid else []

    def end(self, waits: Waits, settling: Settles) -> int | None:
        """Calls may start for the messages before this one; None for all that there are and will be.

        Asked whenever somebody may have come or gone.
        """
        if not self.paid:
            return None
        attended = bool(self.there or waits or settling.build)
        if attended or self._attended:
            self._end = self._chat.t
        self._attended = attended
        return None if attended else self._end
