"""A turn's way to its pinned view: it waits, takes it, reads its texts. Rules 47 and 49, D10, D13.

It waits until every line of the view is built, but no longer than it may, by the client's own clock; meanwhile the edge
hears now and then what for. What it gets is the view of every request of the turn, whatever is built since.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from eukhe.actors.messages import (
    AskStatus,
    AskTexts,
    Cancel,
    ReadView,
    Status,
    TakeView,
    TextsInForce,
    TurnBegan,
    TurnWaits,
    ViewTaken,
    ViewTexts,
    Wait,
    WaitFailed,
)
from eukhe.actors.turn_desk import NAME, Desk, Effects, edge, flat
from eukhe.limits import OWNER_SILENT_S, TURN_STATUS_S
from eukhe.model.request import Pinned, pin

_SILENT: Final = "the process that owns the chat does not answer; it may be stopped"


class Viewed(msgspec.Struct, frozen=True):
    """A view, and how it came: see `ViewTaken`. `waited_s`: for it."""

    pinned: Pinned
    taken: ViewTaken
    waited_s: float


class Viewing:
    """`state`: what is so now, for the view's end; `viewed`, `failed`: what follows."""

    def __init__(
        self, desk: Desk, state: str, viewed: Callable[[Viewed], Effects], failed: Callable[[str], Effects]
    ) -> None:
        self._desk = desk
        self._state = state
        self._viewed = viewed
        self._failed = failed
        self._begun_s = self._waited_s = 0.0
        self._wait = 0  # its ticket
        self._orders: set[int] = set()  # tickets of what is awaited of the owner
        self._timers: set[int] = set()
        self._looked_at_s: float | None = None  # when the status was asked for that has not come
        self._taken: ViewTaken | None = None
        self._lines: tuple[str, ...] | None = None

    def begin(self) -> Effects:
        self._begun_s = self._desk.now_s
        self._wait, wait = self._desk.order(Wait, self._take)
        self._orders.add(self._wait)
        return flat(wait, self._later(self._desk.settle_s, self._overdue), self._later(TURN_STATUS_S, self._look))

    def stop(self) -> Effects:
        """Ends it at once; nothing follows."""
        effects = self._quiet()
        for ticket in self._orders:
            self._desk.forget(ticket)
            effects.append(self._desk.follow(Cancel(NAME, ticket)))
        self._orders.clear()
        return effects

    # --- waiting ---

    def _overdue(self) -> Effects:
        return [self._desk.follow(TakeView(NAME, self._wait))]

    def _look(self) -> Effects:
        """What is it that takes so long? An owner that does not say has something else the matter with it."""
        again = self._later(TURN_STATUS_S, self._look)
        if self._looked_at_s is None:
            self._looked_at_s = self._desk.now_s
            ticket, ask = self._desk.order(AskStatus, self._status)
            self._orders.add(ticket)
            return [ask, *again]
        if self._desk.now_s - self._looked_at_s < OWNER_SILENT_S:
            return again
        return [edge(TurnWaits(0, 0, self._desk.settle_s, _SILENT)), *again]

    def _status(self, status: Status) -> Effects:
        self._orders.discard(status.ticket)
        self._looked_at_s = None
        if self._taken is not None:
            return []
        return [edge(TurnWaits(status.unsummarized, status.running, self._desk.settle_s, status.paused or ""))]

    # --- the view ---

    def _take(self, answer: ViewTaken | WaitFailed) -> Effects:
        self._orders.discard(self._wait)
        if isinstance(answer, WaitFailed):
            return self._fail(answer.why)
        self._taken = answer
        self._waited_s = self._desk.now_s - self._begun_s
        view, read = self._desk.order(lambda me, ticket: ReadView(answer.lines, answer.unbuilt, me, ticket), self._read)
        self._orders.add(view)
        if self._desk.texts is not None:
            return [read]
        texts, ask = self._desk.order(AskTexts, self._texts)
        self._orders.add(texts)
        return [read, ask]

    def _read(self, answer: ViewTexts | WaitFailed) -> Effects:
        self._orders.discard(answer.ticket)
        if isinstance(answer, WaitFailed):
            return self._fail(answer.why)
        self._lines = answer.texts
        return self._pin()

    def _texts(self, answer: TextsInForce) -> Effects:
        self._orders.discard(answer.ticket)
        self._desk.texts = answer.texts
        return self._pin()

    def _pin(self) -> Effects:
        taken = self._taken
        if taken is None or self._lines is None or self._desk.texts is None:
            return []
        lines = tuple(map(self._desk.secrets.hide, self._lines))
        pinned = pin(taken.lines, lines, frozenset(taken.unbuilt), taken.marked, self._state)
        began = TurnBegan(taken.t, len(taken.lines), len(taken.unbuilt), self._waited_s, taken.paused)
        # What is still asked for, as the texts a second time, is not wanted any more.
        return [*self.stop(), edge(began), *self._viewed(Viewed(pinned, taken, self._waited_s))]

    def _fail(self, why: str) -> Effects:
        return [*self.stop(), *self._failed(why)]

    def _later(self, after_s: float, then: Callable[[], Effects]) -> Effects:
        number, timer = self._desk.later(after_s, then)
        self._timers.add(number)
        return [timer]

    def _quiet(self) -> Effects:
        effects = [self._desk.no_later(number) for number in sorted(self._timers)]
        self._timers.clear()
        return effects
