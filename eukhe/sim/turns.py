"""A client's turn: it waits for its view, reads its texts, logs its message, and passes the gate with its call.

What it gets is looked at: the view is tiled, its texts are the disk's, and the turn's own message is not in it.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from eukhe.actors.messages import (
    Append,
    AppendDone,
    EnterPrefix,
    LeavePrefix,
    Msg,
    PrefixOpen,
    PrefixRead,
    ReadView,
    TakeView,
    ViewTaken,
    ViewTexts,
    Wait,
)
from eukhe.limits import (
    BLOCK_LINES,
    DEADLINE_LINE_BYTES_MIN,
    DEADLINE_VIEW_BYTES_MAX,
    MILLISECONDS,
    SETTLE_TIMEOUT_MS,
    SIM_TURN_S,
)
from eukhe.model.text import cut, size
from eukhe.sim.checks import CheckFailed

if TYPE_CHECKING:
    from eukhe.sim.clients import Client


class Turn:
    """`ticket`: of what it waits for now. `view`: pinned. `message`: the ticket under which its message is logged;
    `logged`: that message's id.
    """

    def __init__(self, client: "Client") -> None:
        self.client = client
        self.machine = client.machine
        self.ticket = client.outbox.ticket()
        self.view: ViewTaken | None = None
        self.message: int | None = None
        self.logged: int | None = None
        self._wait()

    def heard(self, order: Msg, answer: Msg) -> None:
        """An answer of the client's; most are not the turn's."""
        match answer:
            case ViewTaken():
                self._pin(answer)
            case ViewTexts():
                self._read(answer)
            case PrefixOpen():
                self._sent()
            case AppendDone(ticket, loggings) if ticket == self.message:
                self.logged = loggings[0].first
                self._must_not_see_itself()

    def _wait(self) -> None:
        self.client.order(Wait(self.client.name, self.ticket))
        self._deadline(self.ticket)

    def _deadline(self, ticket: int) -> None:
        """The client's own: 20 seconds, then the view as it is; or the turn is given up."""
        after_s = SETTLE_TIMEOUT_MS / MILLISECONDS
        self._later("deadline", after_s, lambda: self._overdue(ticket))
        if self.machine.faults.strikes("cancelled-wait"):
            after_s *= self.machine.faults.dice("cancelled-wait").random()
            self._later("cancel", after_s, lambda: self._cancel(ticket))

    def _overdue(self, ticket: int) -> None:
        if self._is_at(ticket):
            self.client.order(TakeView(self.client.name, ticket))

    def _cancel(self, ticket: int) -> None:
        if self._is_at(ticket):
            self.machine.faults.meet("cancelled-wait")
            self.client.cancel(ticket)
            self.client.turn_ends()

    def _is_at(self, ticket: int) -> bool:
        return self.client.turn is self and self.ticket == ticket

    def _pin(self, view: ViewTaken) -> None:
        """Its texts may come later; the turn's message is logged now."""
        covers = [(0, 0), *((line.start, line.end) for line in view.lines), (view.t, view.t)]
        if any(left[1] != right[0] for left, right in pairwise(covers)):
            raise CheckFailed("view-tiles", f"0 to {view.t}", [line.name for line in view.lines])
        if view.paused:
            self.machine.faults.meet("outage")
        self.view = view
        self._must_not_see_itself()
        self.ticket = self.client.outbox.ticket()
        self.client.order(ReadView(view.lines, view.unbuilt, self.client.name, self.ticket))
        self._log()

    def _log(self) -> None:
        self.message = self.client.outbox.ticket()
        self.client.order(Append((self.machine.text.entry(),), self.client.name, self.message))

    def _must_not_see_itself(self) -> None:
        if self.view is not None and self.logged is not None and self.logged < self.view.t:
            raise CheckFailed("turn-own-message", f"message {self.view.t} or later", self.logged)

    def _read(self, answer: ViewTexts) -> None:
        assert self.view is not None
        ledger = self.machine.watch.ledger
        unbuilt = {part: cut(ledger.messages[part.i].label) for part in self.view.unbuilt}
        built = {part: ledger.nodes[part].text for part in self.view.lines if part not in unbuilt}
        room = DEADLINE_VIEW_BYTES_MAX - sum(map(size, built.values()))
        if sum(map(size, unbuilt.values())) > room:  # even shares of what is left (D14)
            share = max(DEADLINE_LINE_BYTES_MIN, room // len(unbuilt))
            unbuilt = {part: cut(text, share) for part, text in unbuilt.items()}
        for part, text in zip(self.view.lines, answer.texts, strict=True):
            right = unbuilt[part] if part in unbuilt else built[part]
            if text != right:
                raise CheckFailed("view-texts", f"{part.name}: {right!r}", repr(text))
        self.ticket = self.client.outbox.ticket()
        block = len(self.view.lines) // BLOCK_LINES
        self.client.order(EnterPrefix(f"a turn of {block} blocks", self.client.name, self.ticket))

    def _sent(self) -> None:
        """The gate is open: the turn's call is sent, its response begins, and it ends."""
        at_gate, name = self.ticket, self.client.name
        begins_s, ends_s = sorted(self.client.random.random() * SIM_TURN_S for _ in range(2))
        self._later("begins", begins_s, lambda: self.client.order(PrefixRead(name, at_gate)))
        self._later("ends", ends_s, lambda: self._end(at_gate))

    def _end(self, at_gate: int) -> None:
        self.client.order(LeavePrefix(self.client.name, at_gate))
        self.client.append([self.machine.text.entry()])
        self.client.turn_ends()

    def _later(self, what: str, after_s: float, do: Callable[[], None]) -> None:
        self.machine.scheduler.set_timer((self.client.name, what), after_s, do)
