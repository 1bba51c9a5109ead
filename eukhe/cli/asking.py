"""What a command asks of the chat's owner, wherever that runs: in this process, or behind the socket.

An answer is waited for with a limit. An owner that dies meanwhile is replaced, and the next one is told again all that
was not answered: appends carry keys, so nothing is lost and nothing comes twice. One that is merely stopped keeps the
lock, so it is waited for, and that is said.
"""

import time
from collections.abc import Callable
from typing import Protocol
from uuid import uuid4

from eukhe.actors.archive import Archive
from eukhe.actors.behaviour import EDGE
from eukhe.actors.messages import (
    Append,
    AppendDone,
    AppendFailed,
    AskStatus,
    Entry,
    Logging,
    Msg,
    Settle,
    Settled,
    SettleFailed,
    Status,
    Sync,
    Synced,
)
from eukhe.actors.outbox import Outbox
from eukhe.actors.ports import Index
from eukhe.cli.output import say
from eukhe.errors import Bug, ExpectedError, OwnerGone, OwnerSilent
from eukhe.limits import EDGE_WAIT_S, OWNER_SILENT_S, OWNERS_LOST_MAX, OWNERS_LOST_SAID, STATUS_EVERY_S


class Line(Protocol):
    """A way to an owner. `pid`: its process."""

    pid: int

    def tell(self, to: str, message: Msg) -> None:
        """Sends an order to one of its actors. An owner that is gone is noticed by `hear`."""
        ...

    def hear(self, wait_s: float | None) -> Msg:
        """The next answer. TimeoutError where none comes; OwnerGone; Bug where the owner is this process and broke."""
        ...

    def wake(self) -> None:
        """Makes whoever hears on another thread hear at once, or have a TimeoutError, though no answer has come."""
        ...

    def close(self) -> None: ...


class AppendRefused(ExpectedError):
    """The store took nothing of an order, or has failed."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; what was logged before that stays: mend it and run the command again")


class Asker:
    """Gives orders and waits for their answers, on one thread. `renew`: the way to the next owner."""

    def __init__(self, line: Line, renew: Callable[[], Line]) -> None:
        self._line = line
        self._lost = 0  # owners, since the last answer
        self._lost_in_all = 0
        self._renew = renew
        self._outbox = Outbox(uuid4().hex)
        self._sent: dict[int, str] = {}  # ticket -> the actor that is to answer
        self._early: dict[int, Msg] = {}

    @property
    def pid(self) -> int:
        """The owner's process."""
        return self._line.pid

    def tell(self, to: str, order: Callable[[str, int], Msg]) -> int:
        """Gives an order, made with this asker's name and a ticket, which is returned."""
        ticket = self._outbox.ticket()
        self._sent[ticket] = to
        self._line.tell(to, self._outbox.put(order(EDGE, ticket)))
        return ticket

    def answer(self, ticket: int, wait_s: float) -> Msg:
        """The answer to a ticket. TimeoutError when it does not come; an owner that comes meanwhile has as long."""
        until_s = time.monotonic() + wait_s
        while ticket not in self._early:
            try:
                heard = self._line.hear(max(0, until_s - time.monotonic()))
            except OwnerGone:
                self._go_on()
                until_s = time.monotonic() + wait_s
                continue
            self._lost = 0
            if self._outbox.answered(heard):
                self._early[heard.ticket] = heard  # type: ignore[attr-defined]  # what is answered has a ticket
        del self._sent[ticket]
        return self._early.pop(ticket)

    def ask(self, to: str, order: Callable[[str, int], Msg]) -> Msg:
        """Gives an order and waits for its answer. OwnerSilent where it does not come, after saying that it is late."""
        ticket = self.tell(to, order)
        try:
            return self.answer(ticket, OWNER_SILENT_S)
        except TimeoutError:
            say(silent(self.pid, "waiting"))
        try:
            return self.answer(ticket, EDGE_WAIT_S - OWNER_SILENT_S)
        except TimeoutError:
            raise OwnerSilent(silent(self.pid, "what was not acknowledged may be missing")) from None

    def close(self) -> None:
        self._line.close()

    def _go_on(self) -> None:
        """With the next owner, which is told again what was not answered. OwnerGone where that kills every one."""
        self._line.close()
        self._lost += 1
        if self._lost > OWNERS_LOST_MAX:
            raise OwnerGone(f"{self._lost} owners of the chat ended before they answered; owner.log may say why")
        self._lost_in_all += 1
        if self._lost_in_all == OWNERS_LOST_SAID:  # whoever is stopped or killed on purpose is one or two
            say(f"{self._lost_in_all} owners of the chat have ended meanwhile, and owner.log may say why: going on")
        self._line = self._renew()
        for order in self._outbox.again():
            self._line.tell(self._sent[order.ticket], order)  # type: ignore[attr-defined]  # as above


def silent(pid: int | None, then: str) -> str:
    """What is said of an owner that does not answer."""
    if pid is None:
        return f"the process that owns the chat does not answer; it may be stopped: {then}"
    return f"pid {pid}, which owns the chat, does not answer; it may be stopped (`kill -CONT {pid}`): {then}"


class Owner:
    """What a command may ask. `archive`, `index`: what is committed. `before`: how far it all was when it began."""

    def __init__(self, asker: Asker, index: Index, archive: Archive, before: Status) -> None:
        self._asker = asker
        self._before = before
        self._pid = asker.pid
        self.archive = archive
        self.index = index

    def append(self, entry: Entry) -> Logging:
        """Logs a text; returns when it is on disk. AppendRefused where it will not be."""
        match self._asker.ask("store", lambda reply_to, ticket: Append((entry,), reply_to, ticket)):
            case AppendDone(_, (logging,)):
                return logging
            case AppendFailed(_, why):
                raise AppendRefused(why)
        raise Bug("an append was answered by something else")

    def commit_index(self) -> None:
        """Waits until `archive` and `index` know all that is settled."""
        assert isinstance(self._asker.ask("index", Sync), Synced)

    def status(self) -> Status:
        status = self._asker.ask("planner", AskStatus)
        assert isinstance(status, Status)
        return status

    def done(self) -> tuple[int, int]:
        """What was done since this command began: lines built, model calls made."""
        now, before = self.status(), self._before
        # An owner that has come since counts its own calls alone; how many the ones before it made is not known.
        return now.nodes - before.nodes, now.calls - (before.calls if self._asker.pid == self._pid else 0)

    def settle(self, t: int = 0, moved: Callable[[Status], None] | None = None, *, take: bool = False) -> Settled:
        """Waits until the first `t` messages are in the memory and all that can be built is built.

        `moved` hears now and then how far it is. `take`: then the batch, where one is due (D12). AppendRefused where
        the store has failed.
        """
        ticket = self._asker.tell("planner", lambda reply_to, ticket: Settle(reply_to, ticket, t, take))
        while True:
            try:
                answer = self._asker.answer(ticket, STATUS_EVERY_S)
                break
            except TimeoutError:
                status = self.status()
                if moved is not None:
                    moved(status)
        match answer:
            case Settled():
                return answer
            case SettleFailed(_, why):
                raise AppendRefused(why)
        raise Bug("settling was answered by something else")
