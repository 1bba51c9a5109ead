"""Turns that wait for their view, and views that wait for the disk. Rule 47, D5, D10, D13, F1.

A turn's view is taken in one step: the batch, if due, then its lines and which of them are not built. It is handed
out once every line of the tree that was ordered before is on disk: no lost power takes back what a turn has seen.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.messages import ViewTaken, WaitFailed
from eukhe.actors.planner_marks import Marks
from eukhe.limits import RETRY_TICK_S
from eukhe.model.chat import Chat

Asker = tuple[str, int]
"""Who asked, and under which ticket."""


class _Taken(NamedTuple):
    """A view, and the order to the store that must be on disk before it is handed out."""

    asker: Asker
    view: ViewTaken
    order: int


class Waits:
    """`turns`: those that wait, in the order in which they came."""

    def __init__(self) -> None:
        self.turns: dict[Asker, None] = {}
        self._taken: deque[_Taken] = deque()
        self._marks = Marks()  # of the views taken
        self._failed_s: float | None = None  # when the newest failure of a call was

    def __bool__(self) -> bool:
        return bool(self.turns)

    def add(self, asker: Asker) -> bool:
        """A turn waits; nothing changes where it does already, or where its view is on its way.

        Whether it is the first one.
        """
        first = not self.turns
        if any(taken.asker == asker for taken in self._taken):
            return False
        self.turns[asker] = None
        return first

    def failure(self, now_s: float) -> None:
        self._failed_s = now_s

    def first_tick_s(self, now_s: float) -> float:
        """In how many seconds what failed is tried again, once a turn waits: ten after the newest failure."""
        since_s = RETRY_TICK_S if self._failed_s is None else now_s - self._failed_s
        return max(0, RETRY_TICK_S - since_s)

    def take(self, asker: Asker, chat: Chat, paused: str | None, order: int) -> None:
        """A turn gets the view as it is now, after the batch that was due."""
        del self.turns[asker]
        lines = tuple(chat.view.parts())
        unbuilt = tuple(part for part in lines if part.start in chat.view.unbuilt)
        built = lines.index(unbuilt[0]) if unbuilt else len(lines)
        batch, marked = self._marks.next(lines, lines, built)
        view = ViewTaken(asker[1], chat.t, lines, unbuilt, paused if unbuilt else None, batch, marked)
        self._taken.append(_Taken(asker, view, order))

    def hand_out(self, written: int) -> list[Effect]:
        """The views all of whose lines are on disk, up to the order `written`."""
        effects: list[Effect] = []
        while self._taken and self._taken[0].order <= written:
            taken = self._taken.popleft()
            effects.append(Tell(taken.asker[0], taken.view))
        return effects

    def cancel(self, asker: Asker) -> None:
        self.turns.pop(asker, None)
        self._taken = deque(taken for taken in self._taken if taken.asker != asker)

    def fail(self, why: str) -> Sequence[Effect]:
        """Nothing more is written, so nothing more is handed out."""
        askers = [*(taken.asker for taken in self._taken), *self.turns]
        self.turns.clear()
        self._taken.clear()
        return [Tell(to, WaitFailed(ticket, why)) for to, ticket in askers]
