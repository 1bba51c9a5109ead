"""The planner: owns the chat's memory, and says what is built, written and merged next.

A message in the log moves the chat a step; what follows from it (batch, free nodes) goes to the store as one order.
Calls go to idle compactors, their lines to the store, and a line counts as built once it is on disk. A turn waits for
its view; while one does, only what its view needs is built. Who wants to know that all is built asks to settle.
"""

from collections.abc import Collection, Iterable, Sequence

from eukhe.actors.behaviour import EDGE, CancelTimer, Effect, SetTimer, Tell
from eukhe.actors.messages import (
    AskStatus,
    Attend,
    Budget,
    BuildDone,
    BuildFailed,
    Cancel,
    FreeNode,
    IndexLost,
    Leaving,
    Logged,
    Msg,
    Ping,
    Poisoned,
    Pong,
    Resume,
    Settle,
    StartBuild,
    Status,
    StopBuild,
    Sync,
    Synced,
    TakeView,
    Tick,
    Uncounted,
    ViewDue,
    Wait,
    WriteTree,
    Written,
)
from eukhe.actors.planner_attendance import Attendance
from eukhe.actors.planner_held import Held
from eukhe.actors.planner_marks import Marks
from eukhe.actors.planner_saves import Saves
from eukhe.actors.planner_settles import Settles, settled
from eukhe.actors.planner_waits import Asker, Waits
from eukhe.actors.ports import Outage
from eukhe.errors import Bug
from eukhe.limits import CHECKPOINT_MESSAGES, FREE_NODES_A_WRITE, RETRY_TICK_S
from eukhe.model.chat import Chat, Merges
from eukhe.model.part import Part
from eukhe.model.pause import Pause
from eukhe.model.record import BatchRecord, NodeRecord, node
from eukhe.model.text import size


class Planner:
    """`compactors`: their names, one for each job slot. `free`: nodes that a crash kept from being logged.

    `builds`: how many lines may be ordered of compactors, None for no limit. `checkpoint_messages`: how many there
    are between two checkpoints. `contexts`: a call is told the lines that it sees (rules 34, 41); `reads_contexts`: and
    its compactor reads them, so they must be on disk. `paid`: calls cost money, and start only while somebody attends.
    """

    def __init__(
        self,
        chat: Chat,
        compactors: Sequence[str],
        *,
        free: Sequence[Part] = (),
        builds: int | None = None,
        checkpoint_messages: int = CHECKPOINT_MESSAGES,
        contexts: bool = False,
        reads_contexts: bool = False,
        paid: bool = False,
    ) -> None:
        assert len(compactors) == chat.limits.jobs, "a compactor for each job slot"
        self.chat = chat
        self.nodes_before = chat.built_nodes.count
        self.builds_left = builds
        self.contexts = contexts
        self.idle = list(reversed(compactors))
        self.lost_free = list(reversed(free))
        self.begun: Ping | None = None  # to be answered once these are written
        self.busy: dict[int, tuple[Part, str]] = {}  # call -> its node, its compactor
        self.unsynced: dict[Part, int] = {}  # lines on their way to the disk, their bytes
        self.early: set[Part] = set()  # nodes that count as built before they are on disk: they can be made again
        self.held = Held(reads_contexts=reads_contexts)  # orders that read one of these, from the disk
        self.settling = Settles()
        self.waits = Waits()
        self.tick_s: float | None = None  # when the retry timer goes off
        self.pause = Pause()
        self.budget: str | None = None  # why no more may be spent
        self.attendance = Attendance(chat, paid=paid)
        self.marks = Marks()  # of the compaction view
        self.ordered = self.written = 0  # orders to write tree lines: told, and on disk
        self.call = 0
        self.unchanged_call = 0  # the last one before a key or a setting changed
        self.model_calls = 0
        self.saves = Saves(chat, checkpoint_messages)
        self.poisoned: str | None = None
        self.last_error: str | None = None

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        match message:
            case Logged(first, sizes):
                assert first == self.chat.t, f"message {first} after {self.chat.t}"
                return [*(effect for size in sizes for effect in self._message(size)), *self._work(now)]
            case Written(nodes, order):
                return [*self._written(nodes, order), *self._go_on(now)]
            case BuildDone(call, part, line, calls):
                return [*self._line(call, part, line, calls), *self._work(now)]
            case BuildFailed():
                return [*self._failure(message, now), *self._work(now)]
            case Tick():
                return self._tick(now)
            case Resume(changed):
                if changed:
                    self.unchanged_call = self.call
                self.pause.resume(now, changed=changed)
                return self._work(now)
            case Wait(reply_to, ticket):
                return [*self._wait((reply_to, ticket), now), *self._work(now)]
            case TakeView(reply_to, ticket):
                return [*self._take({(reply_to, ticket)} & self.waits.turns.keys()), *self._work(now)]
            case Settle():
                self.settling.add(message)
                return self._work(now)
            case Attend(reply_to, ticket):
                self.attendance.there[reply_to, ticket] = None
                return self._work(now)
            case Budget():
                return [*self._budget(message), *self._work(now)]
            case Uncounted(why):
                self.last_error = why
                return []
            case Cancel(reply_to, ticket):
                self.attendance.there.pop((reply_to, ticket), None)
                self.waits.cancel((reply_to, ticket))
                self.settling.cancel(reply_to, ticket)
                return self._work(now)
            case AskStatus(reply_to, ticket):
                return [Tell(reply_to, self._status(ticket))]
            case Poisoned(why):
                self.poisoned = self.last_error = why
                self.lost_free.clear()  # they will not be written, and the start does not wait for it
                return [*self._go_on(now), Tell(EDGE, Leaving(why, failed=True))]
            case IndexLost(why):
                self.last_error = why
                return []
            case Ping():
                self.begun = message
                self.early.update(self.lost_free)
                return self._go_on(now)
            case ViewDue():
                return self.saves.view_is_due()
            case Sync(reply_to, ticket):
                # While nodes are missing from the log, a state that has them built would lie.
                saved = [] if self.lost_free else [*self.saves.view(), self.saves.checkpoint(self.unsynced)]
                return [*saved, Tell(reply_to, Synced(ticket))]
        raise Bug(f"the planner does not know {message}")

    def _go_on(self, now: float) -> list[Effect]:
        """The nodes that a crash lost, some at a time, then the answer that the planner is up, then its work."""
        if self.lost_free:
            some = [self.lost_free.pop() for _ in range(min(FREE_NODES_A_WRITE, len(self.lost_free)))]
            return self._write_free(some)
        up: list[Effect] = []
        if self.begun is not None:
            up, self.begun = [Tell(self.begun.reply_to, Pong(self.begun.ticket)), *self.attendance.begin()], None
        return [*up, *self._work(now)]

    def _write_free(self, free: Sequence[Part]) -> list[Effect]:
        self.early.update(free)
        return self._write([FreeNode(part) for part in free])

    def _work(self, now: float) -> list[Effect]:
        """All that can go on now: calls, then turns whose view is built, then those who wait for quiet."""
        if self.poisoned:
            return [*self.settling.fail(self.poisoned), *self.waits.fail(self.poisoned)]
        self._attended()  # also by a turn whose view is there at once
        effects = self._views()
        effects += self._orders()
        if self.settling and not self._is_busy() and (self.paused or not self.chat.parked):
            effects += self._settled()
            self._attended()  # they have gone, before what comes next
        effects += self.saves.view_now_or_later(busy=self._is_busy())
        return [*effects, *self._retry(now)]  # last: for those who wait now, not for who was just answered

    def _is_busy(self) -> bool:
        return bool(self.busy or self.unsynced)

    def _orders(self) -> list[Effect]:
        for part in self._startable():
            if self.builds_left is not None:
                self.builds_left -= 1
            self.call += 1
            compactor = self.idle.pop()
            self.busy[self.call] = part, compactor
            self.chat.start(part)
            self.held.add(self._order(part))
        return self._release()

    def _order(self, part: Part) -> StartBuild:
        if not self.contexts:
            return StartBuild(self.call, part)
        context = tuple(self.chat.context(part))
        batch, marked = self.marks.next(self.chat.compaction_view.parts(), context, len(context))
        return StartBuild(self.call, part, context, batch, marked)

    def _startable(self) -> list[Part]:
        """What may start now."""
        if self.paused:
            return []
        return self.chat.queue(need=bool(self.waits), end=self._attended())[: self.builds_left]

    def _attended(self) -> int | None:
        return self.attendance.end(self.waits, self.settling)

    @property
    def paused(self) -> str | None:
        """Why no call may start: what may be spent is spent, or an outage."""
        return self.budget or self.pause.why

    def _retry(self, now: float) -> list[Effect]:
        """The tick that lets what failed start again, as long as somebody waits for it."""
        wanted = bool(self.waits or (self.settling and self.chat.parked))
        if wanted and self.tick_s is None:
            return self._tick_after(RETRY_TICK_S, now)
        if not wanted and self.tick_s is not None:
            self.tick_s = None
            return [CancelTimer("retry")]
        return []

    def _tick_after(self, after_s: float, now: float) -> list[Effect]:
        self.tick_s = now + after_s
        return [SetTimer("retry", after_s, Tick())]

    def _tick(self, now: float) -> list[Effect]:
        if self.tick_s is None or now < self.tick_s:
            return []  # of a timer that had gone off when it was taken back
        self.tick_s = None
        self.chat.tick()
        return self._work(now)

    def _release(self) -> list[Effect]:
        """The orders of which all that is read is on disk, where the compactors read it."""
        return [Tell(self.busy[order.call][1], order) for order in self.held.release(self.early)]

    def _message(self, size: int) -> list[Effect]:
        batch, free = self.chat.logged(size)
        self.saves.message()
        effects = self._batch(batch) + self._write_free(free)
        if self.saves.checkpoint_is_due():
            effects.append(self.saves.checkpoint(self.unsynced))
        return effects

    def _batch(self, batch: Merges | None) -> list[Effect]:
        if batch is None:
            return []
        if batch:  # one that merged nothing, as at each message while nothing can be built, leaves nothing to be saved
            self.saves.merged()
        return self._write([BatchRecord(batch, self.chat.shrinking, self.chat.t)])

    def _line(self, call: int, part: Part, line: str, calls: int) -> list[Effect]:
        self.model_calls += calls
        if not self._ended(call):
            return []
        self.pause.worked()
        self.unsynced[part] = size(line)
        return self._write([node(part, line)])

    def _failure(self, failed: BuildFailed, now: float) -> list[Effect]:
        self.model_calls += failed.calls
        part = failed.part
        if not self._ended(failed.call):
            return []
        if failed.outage is not None:
            return self._outage(failed, failed.outage, now)
        self.last_error = f"{part.name}: {failed.why}"
        self.waits.failure(now)
        if not self.chat.failed(part, size(failed.fallback)):
            return []
        # Made of its input alone, so it could be made again: it counts before it is on disk.
        self.early.add(part)
        return [*self._write([node(part, failed.fallback)]), *self._write_free(self.chat.free_above(part))]

    def _ended(self, call: int) -> bool:
        """Whether a call was still wanted; its compactor is free."""
        part, compactor = self.busy.pop(call, (None, ""))
        if part is None:
            return False
        self.idle.append(compactor)
        return True

    def _written(self, nodes: tuple[Part, ...], order: int) -> list[Effect]:
        self.written = order
        free: list[Part] = []
        self.early.difference_update(nodes)
        for part in nodes:
            bytes_ = self.unsynced.pop(part, None)
            if bytes_ is not None and self.chat.built(part, bytes_):
                free += self.chat.free_above(part)
        return [*self._write_free(free), *self._release(), *self.waits.hand_out(order)]

    # --- those who wait ---

    def _wait(self, asker: Asker, now: float) -> list[Effect]:
        """A turn wants its view. The first one that has to wait for it stops all calls that it does not need. D5."""
        if not self.waits.add(asker) or self._views_are_due():
            return []
        tick_s = self.waits.first_tick_s(now)
        if not tick_s:
            self.chat.tick()
        return [*self._tick_after(tick_s or RETRY_TICK_S, now), *self._stop(self.chat.wait(self.unsynced))]

    def _stop(self, parts: Sequence[Part]) -> list[Effect]:
        """Stops calls, which is no failure."""
        calls = {call: compactor for call, (part, compactor) in self.busy.items() if part in parts}
        self._take_back(calls)
        return [Tell(compactor, StopBuild(call)) for call, compactor in calls.items() if self._ended(call)]

    def _take_back(self, calls: Collection[int]) -> None:
        """Of these calls, those that no compactor was told yet: as if they had not been ordered."""
        for call in self.held.take_back(calls):
            self._unorder(call)

    def _unorder(self, call: int) -> None:
        part, _ = self.busy[call]
        self._ended(call)
        self.chat.stopped(part)
        if self.builds_left is not None:
            self.builds_left += 1

    def _views_are_due(self) -> bool:
        """Turns get a view that is built; while calls are paused any, since nothing more will be built soon. D13."""
        return self.chat.settled or self.paused is not None

    def _views(self) -> list[Effect]:
        return self._take(self.waits.turns) if self._views_are_due() else []

    def _take(self, askers: Iterable[Asker]) -> list[Effect]:
        """In one step: the batch where one is due (D12), then the view as it is."""
        askers = list(askers)
        effects = self._batch(self.chat.take()) if askers else []
        for asker in askers:
            self.waits.take(asker, self.chat, self.paused, self.ordered)
        return [*effects, *self.waits.hand_out(self.written)]

    def _outage(self, failed: BuildFailed, outage: Outage, now: float) -> list[Effect]:
        self.chat.stopped(failed.part)
        if outage.key and failed.call <= self.unchanged_call:
            return []  # it was made with the key of before: what that is refused says nothing of the new one
        self._take_back(self.busy)
        resume_s = self.pause.outage(outage.why, outage.retry_after_s, now, key=outage.key)
        self.last_error = outage.why
        return [] if resume_s is None else [SetTimer("resume", resume_s, Resume())]

    def _budget(self, budget: Budget) -> list[Effect]:
        """What may be spent is spent, or there is more. The calls that must not be sent end, as if unordered."""
        self.budget = budget.why
        if budget.why is None:
            return []
        self.last_error = budget.why
        self._take_back(self.busy)
        held = {call: compactor for call, (_, compactor) in self.busy.items() if compactor in budget.held}
        for call in held:
            self._unorder(call)
        return [Tell(compactor, StopBuild(call)) for call, compactor in held.items()]

    def _settled(self) -> list[Effect]:
        """Answers those who asked, about messages that are all there."""
        due = self.settling.due(self.chat.t)
        effects = self._batch(self.chat.take()) if any(settle.take for settle in due) else []
        return [*effects, *settled(due, self.model_calls, len(self.chat.view.unbuilt))]

    def _status(self, ticket: int) -> Status:
        chat = self.chat
        return Status(
            ticket,
            t=chat.t,
            nodes=chat.built_nodes.count,
            nodes_before=self.nodes_before,
            view_bytes=chat.view.size,
            unsummarized=len(chat.view.unbuilt),
            running=len(self.busy),
            parked=len(chat.parked),
            waiting=len(self.waits.turns),
            calls=self.model_calls,
            idle=self.poisoned is not None or not (self._is_busy() or self._startable()),
            paused=self.paused,
            last_error=self.last_error,
        )

    def _write(self, lines: Sequence[FreeNode | NodeRecord | BatchRecord]) -> list[Effect]:
        if not lines:
            return []
        self.ordered += 1
        return [Tell("store", WriteTree(tuple(lines), self.ordered))]
