"""The planner: owns the chat's memory, and says what is built, written and merged next.

A message in the log moves the chat a step; what follows from it (batch, free nodes) goes to the store as one order.
Calls go to idle compactors, their lines to the store, and a line counts as built once it is on disk. Who wants to
know that all is built asks to settle.
"""

from collections.abc import Sequence

from eukhe.actors.behaviour import Effect, SetTimer, Tell
from eukhe.actors.messages import (
    AskStatus,
    BuildDone,
    BuildFailed,
    FreeNode,
    IndexLost,
    Logged,
    Msg,
    Ping,
    Poisoned,
    Pong,
    SaveCheckpoint,
    SaveView,
    Settle,
    Settled,
    SettleFailed,
    StartBuild,
    Status,
    Sync,
    Synced,
    Tick,
    ViewDue,
    WriteTree,
    Written,
)
from eukhe.errors import Bug
from eukhe.limits import CHECKPOINT_MESSAGES, FREE_NODES_A_WRITE, RETRY_TICK_S, VIEW_SAVE_S
from eukhe.model.chat import Chat, Merges
from eukhe.model.fold import NodeSize, checkpoint
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, NodeRecord, node
from eukhe.model.text import size


class Planner:
    """`compactors`: their names, one for each job slot. `free`: nodes that a crash kept from being logged.

    `builds`: how many lines may be ordered of compactors, None for no limit. `checkpoint_messages`: how many there
    are between two checkpoints.
    """

    def __init__(
        self,
        chat: Chat,
        compactors: Sequence[str],
        *,
        free: Sequence[Part] = (),
        builds: int | None = None,
        checkpoint_messages: int = CHECKPOINT_MESSAGES,
    ) -> None:
        assert len(compactors) == chat.limits.jobs, "a compactor for each job slot"
        self.chat = chat
        self.builds_left = builds
        self.checkpoint_messages = checkpoint_messages
        self.idle = list(reversed(compactors))
        self.lost_free = list(reversed(free))
        self.begun: Ping | None = None  # to be answered once these are written
        self.busy: dict[int, tuple[Part, str]] = {}  # call -> its node, its compactor
        self.unsynced: dict[Part, int] = {}  # lines on their way to the disk, their bytes
        self.early: set[Part] = set()  # nodes that count as built before they are on disk: they can be made again
        self.held: list[StartBuild] = []  # orders whose source is one of these, to be read from the disk
        self.settling: list[Settle] = []
        self.call = 0
        self.model_calls = 0
        self.view_is_saved = False  # as it is now
        self.view_is_due = False  # its timer runs
        self.checkpoint_t = chat.t
        self.poisoned: str | None = None
        self.last_error: str | None = None

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case Logged(first, sizes):
                assert first == self.chat.t, f"message {first} after {self.chat.t}"
                return [*(effect for size in sizes for effect in self._message(size)), *self._work()]
            case Written(nodes):
                return [*self._written(nodes), *self._go_on()]
            case BuildDone(call, part, line, calls):
                return [*self._line(call, part, line, calls), *self._work()]
            case BuildFailed():
                return [*self._failure(message), *self._work()]
            case Tick():
                self.chat.tick()
                return self._work()
            case Settle():
                self.settling.append(message)
                return self._work()
            case AskStatus(reply_to, ticket):
                return [Tell(reply_to, self._status(ticket))]
            case Poisoned(why):
                self.poisoned = self.last_error = why
                return self._work()
            case IndexLost(why):
                self.last_error = why
                return []
            case Ping():
                self.begun = message
                self.early.update(self.lost_free)
                return self._go_on()
            case ViewDue():
                self.view_is_due = False
                return self._save_view()
            case Sync(reply_to, ticket):
                # While nodes are missing from the log, a state that has them built would lie.
                saved = [] if self.lost_free else [*self._save_view(), self._checkpoint()]
                return [*saved, Tell(reply_to, Synced(ticket))]
        raise Bug(f"the planner does not know {message}")

    def _go_on(self) -> list[Effect]:
        """The nodes that a crash lost, some at a time, then the answer that the planner is up, then its work."""
        if self.lost_free:
            some = [self.lost_free.pop() for _ in range(min(FREE_NODES_A_WRITE, len(self.lost_free)))]
            return self._write_free(some)
        up: list[Effect] = []
        if self.begun is not None:
            up, self.begun = [Tell(self.begun.reply_to, Pong(self.begun.ticket))], None
        return [*up, *self._work()]

    def _write_free(self, free: Sequence[Part]) -> list[Effect]:
        self.early.update(free)
        return _write([FreeNode(part) for part in free])

    def _work(self) -> list[Effect]:
        """All that can go on now: calls, then those who wait for quiet."""
        if self.poisoned:
            effects: list[Effect] = [
                Tell(asked.reply_to, SettleFailed(asked.ticket, self.poisoned)) for asked in self.settling
            ]
            self.settling.clear()
            return effects
        effects = self._orders()
        if self._is_busy():
            return effects
        if self.settling:
            effects += self._settled() if not self.chat.parked else [SetTimer("retry", RETRY_TICK_S, Tick())]
        return [*effects, *self._save_view_later()]

    def _is_busy(self) -> bool:
        return bool(self.busy or self.unsynced)

    def _orders(self) -> list[Effect]:
        for part in self.chat.queue():
            if self.builds_left is not None:
                if self.builds_left == 0:
                    break
                self.builds_left -= 1
            self.call += 1
            compactor = self.idle.pop()
            self.busy[self.call] = part, compactor
            self.chat.start(part)
            self.held.append(StartBuild(self.call, part))
        return self._release()

    def _release(self) -> list[Effect]:
        """The orders whose sources are on disk, where the compactors read them."""
        if not self.held:
            return []
        held, self.held = self.held, []
        orders: list[Effect] = []
        for order in held:
            if self.early and order.part.level and not self.early.isdisjoint(order.part.halves):
                self.held.append(order)
            else:
                orders.append(Tell(self.busy[order.call][1], order))
        return orders

    def _message(self, size: int) -> list[Effect]:
        batch, free = self.chat.logged(size)
        self.view_is_saved = False
        effects = self._batch(batch) + self._write_free(free)
        if self.chat.t - self.checkpoint_t >= self.checkpoint_messages:
            effects.append(self._checkpoint())
        return effects

    def _batch(self, batch: Merges | None) -> list[Effect]:
        if batch is None:
            return []
        self.view_is_saved = False
        return [*_write([BatchRecord(batch, self.chat.shrinking, self.chat.t)]), *self._save_view()]

    def _line(self, call: int, part: Part, line: str, calls: int) -> list[Effect]:
        self.model_calls += calls
        if not self._ended(call):
            return []
        self.unsynced[part] = size(line)
        return _write([node(part, line)])

    def _failure(self, failed: BuildFailed) -> list[Effect]:
        self.model_calls += failed.calls
        part = failed.part
        self.last_error = f"{part.name}: {failed.why}"
        if not self._ended(failed.call) or not self.chat.failed(part, size(failed.fallback)):
            return []
        # Made of its input alone, so it could be made again: it counts before it is on disk.
        self.early.add(part)
        return [*_write([node(part, failed.fallback)]), *self._write_free(self.chat.free_above(part))]

    def _ended(self, call: int) -> bool:
        """Whether a call was still wanted; its compactor is free."""
        part, compactor = self.busy.pop(call, (None, ""))
        if part is None:
            return False
        self.idle.append(compactor)
        return True

    def _written(self, nodes: tuple[Part, ...]) -> list[Effect]:
        free: list[Part] = []
        self.early.difference_update(nodes)
        for part in nodes:
            bytes_ = self.unsynced.pop(part, None)
            if bytes_ is not None and self.chat.built(part, bytes_):
                free += self.chat.free_above(part)
        return [*self._write_free(free), *self._release()]

    def _settled(self) -> list[Effect]:
        """Answers those who asked, about messages that are all there."""
        asked = [settle for settle in self.settling if settle.t <= self.chat.t]
        self.settling = [settle for settle in self.settling if settle.t > self.chat.t]
        effects = self._batch(self.chat.take()) if any(settle.take for settle in asked) else []
        left = len(self.chat.view.unbuilt)
        return [
            *effects,
            *(Tell(settle.reply_to, Settled(settle.ticket, self.model_calls, left)) for settle in asked),
        ]

    def _save_view(self) -> list[Effect]:
        if self.view_is_saved:
            return []
        self.view_is_saved = True
        return [Tell("store", SaveView(tuple(self.chat.view.parts())))]

    def _save_view_later(self) -> list[Effect]:
        """Messages that follow each other are saved as one view: it is not the truth, the logs are (D1)."""
        if self.view_is_saved or self.view_is_due:
            return []
        self.view_is_due = True
        return [SetTimer("view", VIEW_SAVE_S, ViewDue())]

    def _checkpoint(self) -> Effect:
        self.checkpoint_t = self.chat.t
        state = checkpoint(self.chat, (NodeSize(part, bytes_) for part, bytes_ in self.unsynced.items()))
        return Tell("store", SaveCheckpoint(state, self.chat.t))

    def _status(self, ticket: int) -> Status:
        chat = self.chat
        return Status(
            ticket,
            nodes=chat.built_nodes.count,
            view_bytes=chat.view.size,
            unsummarized=len(chat.view.unbuilt),
            last_error=self.last_error,
        )


def _write(lines: Sequence[FreeNode | NodeRecord | BatchRecord]) -> list[Effect]:
    return [Tell("store", WriteTree(tuple(lines)))] if lines else []
