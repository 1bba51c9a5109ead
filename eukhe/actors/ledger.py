"""The ledger: notes what each call costs, before it is sent and as it goes, and says when no more may be spent.

    CallSent -> Persist -> Counted        a turn's is always let through, a compaction's where there is money for it
    CallResponded, CallOver -> Persist -> Counted

A compaction's call is sent if what was spent, what the calls under way are taken to cost, and what it is taken to cost
itself are within `memory.dailyUsd` and the limit of this owner's life. One that does not fit waits for those under way;
where none is, the planner is told that no more may be spent, and ends what waits here. A new day has money of its own.

A failed write never stops the chat: it is said once, and calls are counted from then on in memory alone. Where there is
a limit, though, what can't be written down can't be kept, so no more calls are made for lines.
"""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple

from eukhe.actors.behaviour import Effect, Persist, SetTimer, Tell
from eukhe.actors.log_files import is_day_file
from eukhe.actors.messages import (
    AskBudget,
    Budget,
    CallOver,
    CallResponded,
    CallSent,
    Counted,
    DayDue,
    Failed,
    Msg,
    Ping,
    Pong,
    Sync,
    Synced,
    Uncounted,
)
from eukhe.actors.ports import Clock, Disk
from eukhe.errors import Bug, StoreError
from eukhe.model.ledger import COMPACTION, FOLDER, OVER, RESPONDED, SENT, Book, Note, Stage, Sum, encode, read
from eukhe.model.prices import NANOS, Prices
from eukhe.model.talk import Usage

_PLANNER = "planner"
_READ_BYTES_MAX: Final = 64_000_000  # number: of a day's file that is read at the start, its end: some 100,000 calls
_DAY_LOOK_S: Final = 3_600.0  # number: between two looks at the day, as summer time moves midnight


_Told = CallSent | CallResponded | CallOver


class Spending(NamedTuple):
    """What lines may cost. `estimate_usd`: what a call is taken for before any has ended.

    `daily_usd`: a day; `limit_usd`: while this owner lives; None for no limit.
    """

    estimate_usd: float = 0.0
    daily_usd: float | None = None
    limit_usd: float | None = None


NO_LIMIT: Final = Spending()


class Ledger:
    """The behaviour. `model`: which writes lines."""

    def __init__(self, disk: Disk, clock: Clock, prices: Prices, model: str, spending: Spending = NO_LIMIT) -> None:
        self.disk = disk
        self.clock = clock
        self.prices = prices
        self.book = Book(prices)
        self.model = model
        self.is_free = prices.nanos(model, Usage(1, 1, 1, 1)) == 0
        self.limits = (
            _Limit("memory.dailyUsd", spending.daily_usd),
            _Limit("--limit-usd", spending.limit_usd),
        )
        self.day = ""
        self.estimate = round(spending.estimate_usd * NANOS)  # of the next call
        self.dearest = 0  # of the calls of this owner's life that are over
        self.estimates: dict[str, int] = {}  # what each of them was taken for, while that counts
        self.running: set[str] = set()  # those that are not over
        self.held: dict[str, CallSent] = {}  # those that wait for money, in the order in which they came
        self.refused: set[str] = set()  # those for which there is none
        self.broken: str | None = None  # why nothing is noted any more
        self.closed = False  # as the planner was told
        self.unended: set[str] = set()  # files whose last line has no LF
        self.writing: list[_Told] = []  # whose lines are being written

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case Ping(reply_to, ticket):
                self._open()
                return [Tell(reply_to, Pong(ticket))]
            case AskBudget():
                broken = [] if self.broken is None else [self._uncounted(self.broken)]
                return [*broken, *self._decide()]
            case CallSent(call, role) if role == COMPACTION and call not in self.book.calls:
                self.held[call] = message
                return self._decide()
            case CallOver(call) if call in self.held or call in self.refused:  # it was stopped, and never sent
                self.held.pop(call, None)
                self.refused.discard(call)
                return _counted(message)
            case CallSent() | CallResponded() | CallOver():
                return [*self._note([message]), *self._decide()]
            case DayDue():
                return self._decide()
            case Failed(why):
                return self._failed(why)
            case Sync(reply_to, ticket):
                return [Tell(reply_to, Synced(ticket))]
        raise Bug(f"the ledger does not know {message}")

    # --- what was noted ---

    def _open(self) -> None:
        """Reads what was noted today and yesterday: calls that began before midnight end after it."""
        self.day = self._today()
        since = (date.fromisoformat(self.day) - timedelta(days=1)).isoformat()
        try:
            for name in self.disk.names(FOLDER):
                if is_day_file(name) and name >= since:
                    self._read(f"{FOLDER}/{name}")
        except StoreError as error:
            self.broken = str(error)
        self._count_day()

    def _read(self, path: str) -> None:
        length = self.disk.length(path) or 0
        data = self.disk.read(path, max(0, length - _READ_BYTES_MAX))
        for note in read(data.split(b"\n")):
            self.book.take(note)
        if data and not data.endswith(b"\n"):
            self.unended.add(path)

    def _today(self) -> str:
        """The local day; it never goes back, as the logs' does not."""
        return max(self.day, self.clock.local().date().isoformat())

    def _turn_day(self) -> None:
        """Another day may have begun, with its own money."""
        before, self.day = self.day, self._today()
        if self.day != before:
            self.book.forget(before)
            self._count_day()

    def _count_day(self) -> None:
        daily = self.limits[0]
        daily.sum = Sum()
        for call in self.book.of_day(self.day, COMPACTION):
            daily.sum.put(call, self._cost(call))

    def _cost(self, call: str) -> int:
        return self.book.nanos(call, self.estimates.get(call, self.estimate))

    # --- what is noted ---

    def _note(self, told: Sequence[_Told]) -> list[Effect]:
        """Writes down what of these is new, at once, then answers all of them."""
        self._turn_day()
        notes = [self._as_note(order) for order in told]
        lines = [encode(note) for order, note in zip(told, notes, strict=True) if self._take(order, note)]
        answers = [answer for order in told for answer in _counted(order)]
        if not lines or self.broken is not None:
            return answers
        self.writing = list(told)
        path = f"{FOLDER}/{self.day}.jsonl"
        end = b"\n" if path in self.unended else b""
        self.unended.discard(path)
        return [Persist(path, end + b"".join(lines)), *answers]

    def _as_note(self, order: _Told) -> Note:
        t = self.clock.local().isoformat(timespec="seconds")
        match order:
            case CallSent(call, role, model, batch, blocks):
                return Note(call, t, SENT, role, model, batch, blocks, first=order.first)
            case CallResponded(call, usage):
                return self._later(call, t, RESPONDED, usage)
            case CallOver(call, over, why):
                return self._later(call, t, OVER, over, why)

    def _later(self, call: str, t: str, stage: Stage, usage: Usage | None, why: str = "") -> Note:
        """A note of a call that was sent before; of one of which that is not known, without what it was."""
        if call not in self.book.calls:
            return Note(call, t, stage, usage=usage, why=why)
        head = self.book.calls[call].head
        nanos = None if usage is None else self.prices.nanos(head.model, usage)
        return Note(call, t, stage, head.role, head.model, head.batch, head.blocks, usage, why, nanos, head.first)

    def _take(self, order: _Told, note: Note) -> bool:
        """Counts it. Whether it is new."""
        if not self.book.take(note):
            return False
        call, head = note.id, self.book.calls[note.id].head
        if head.role != COMPACTION:
            return True
        if isinstance(order, CallSent):
            self.running.add(call)
            self.estimates[call] = self.estimate
        if note.stage == OVER:
            self.running.discard(call)
            self._learn(note)
        daily, limit = self.limits
        if head.t.startswith(self.day):
            daily.sum.put(call, self._cost(call))
        if call in self.estimates:
            limit.sum.put(call, self._cost(call))
        return True

    def _learn(self, note: Note) -> None:
        """The next call may cost as much as the dearest one so far."""
        if note.nanos:
            self.dearest = self.estimate = max(self.dearest, note.nanos)

    def _failed(self, why: str) -> list[Effect]:
        """A write has failed; what stood behind it was not done. What can't be noted is not sent where it counts."""
        self.broken = why
        told, self.writing = self.writing, []
        answers: list[Effect] = []
        for order in told:
            if isinstance(order, CallSent) and order.call in self.running and self._is_limited():
                self._forget(order.call)
                self.held[order.call] = order
            else:
                answers += _counted(order)
        return [self._uncounted(why), *answers, *self._decide()]

    def _uncounted(self, why: str) -> Tell:
        return Tell(_PLANNER, Uncounted(f"what calls cost is not noted any more: {why}"))

    def _forget(self, call: str) -> None:
        """As if it had not been told."""
        self.running.discard(call)
        for limit in self.limits:
            limit.sum.put(call, 0)
        del self.book.calls[call], self.estimates[call]

    # --- what may be spent ---

    def _decide(self) -> list[Effect]:
        """Lets the calls through that there is money for, and tells the planner when there is none, or some again."""
        self._turn_day()
        effects = self._let_through()
        why = self._spent()
        held = tuple(order.reply_to for order in self.held.values()) if why else ()
        if why:
            self.refused |= self.held.keys()
            self.held.clear()
            effects.append(SetTimer("day", min(_DAY_LOOK_S, self._midnight_s()), DayDue()))
        if held or self.closed != bool(why):
            self.closed = bool(why)
            effects.append(Tell(_PLANNER, Budget(why, held)))
        return effects

    def _let_through(self) -> list[Effect]:
        """The calls that wait, as many as fit; each counts at once with what it is taken to cost."""
        effects: list[Effect] = []
        while self.held and not self._is_barred() and self._fits():
            call = next(iter(self.held))
            effects += self._note([self.held.pop(call)])
        return effects

    def _is_limited(self) -> bool:
        return any(limit.usd is not None for limit in self.limits)

    def _is_barred(self) -> str | None:
        """Why no limit can be kept, where there is one."""
        if not self._is_limited():
            return None
        if self.broken is not None:
            return f"what calls cost can't be noted, and there is a limit: {self.broken}"
        if self.prices.of(self.model) is None:
            return f"nobody knows what {self.model} costs, and there is a limit: say it (prices), or take that away"
        return None

    def _fits(self) -> bool:
        return all(map(self._has_room, self.limits))

    def _has_room(self, limit: "_Limit") -> bool:
        return limit.has_room(self.estimate, free=self.is_free)

    def _spent(self) -> str | None:
        """Why no more calls may be made; None where some may, and while some are under way that may leave money."""
        if barred := self._is_barred():
            return barred
        if self.running or self._fits():
            return None
        limit = next(limit for limit in self.limits if not self._has_room(limit))
        return f"{limit} is spent, but for what another call may cost, ${self.estimate / NANOS:.4f}"

    def _midnight_s(self) -> float:
        """Seconds until the next local day, by today's offset; a second more, to be past it."""
        now = self.clock.local().replace(tzinfo=None)
        return (datetime.combine(now.date() + timedelta(days=1), time()) - now).total_seconds() + 1


class _Limit:
    """A limit by its name, in dollars, and what calls have cost and are taken to cost."""

    def __init__(self, name: str, usd: float | None) -> None:
        self.name = name
        self.usd = usd
        self.sum = Sum()

    def __str__(self) -> str:
        return f"{self.name} (${self.sum.total / NANOS:.4f} of ${self.usd or 0:g})"

    def has_room(self, estimate: int, *, free: bool) -> bool:
        """Whether another call fits, taken to cost so much; `free`: it is known to cost nothing."""
        if self.usd is None:
            return True
        most = round(self.usd * NANOS)
        return self.sum.total + estimate <= most and (free or self.sum.total < most)


def _counted(order: _Told) -> list[Effect]:
    """The answer, where one is wanted."""
    return [Tell(order.reply_to, Counted(order.ticket))] if order.reply_to else []
