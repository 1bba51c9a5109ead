"""What planner and gate do, held against the rules a message at a time.

Each stands around a behaviour: it hands the message on, then looks at what came of it.
"""

from collections.abc import Sequence
from math import inf

from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.gate import Gate
from eukhe.actors.messages import (
    BuildDone,
    BuildFailed,
    Cancel,
    EnterPrefix,
    LeavePrefix,
    Logged,
    Msg,
    Ping,
    PrefixOpen,
    PrefixRead,
    Settled,
    StartBuild,
    StopBuild,
    Tick,
    Wait,
    WaitFailed,
    WriterLate,
    WriteTree,
    Written,
)
from eukhe.actors.planner import Planner
from eukhe.limits import PREFIX_WARM_S, PREFIX_WRITER_S, RETRY_TICK_S
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord
from eukhe.model.text import size
from eukhe.sim.attendance import Attended
from eukhe.sim.checks import CheckFailed
from eukhe.sim.oracle import Batch, Oracle

Asker = tuple[str, int]


class PlannerShadow:
    """`given_up`: nodes that are built from their input, their calls having failed too often.

    `taken`: the views that turns took and do not have yet: messages, lines, unbuilt ones.
    """

    def __init__(self, planner: Planner, oracle: Oracle, given_up: set[Part]) -> None:
        self.planner = planner
        self.oracle = oracle
        self.given_up = given_up
        self.taken: dict[Asker, tuple[int, tuple[Part, ...], tuple[Part, ...]]] = {}
        self._running: dict[int, Part] = {}
        self._contexts: dict[int, list[Part]] = {}  # what each busy call is to see
        self._written: dict[Part, int] = {}  # lines on their way to the disk
        self._waiting: set[Asker] = set()
        self._attended = Attended()
        self._outcomes_left = 0
        self._failed_s = -inf  # when a call failed last

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        planner, waited = self.planner, self._waiting
        is_wanted = isinstance(message, BuildDone | BuildFailed) and message.call in planner.busy
        is_tick = isinstance(message, Tick) and planner.tick_s is not None and now >= planner.tick_s
        effects = planner.receive(message, now)
        told = [effect.message for effect in effects if isinstance(effect, Tell)]
        batches = [*self._happened(message, now), *self._taken_now(message, told)]
        self._batches(message, told, [batch for batch in batches if batch is not None])
        begins = (
            isinstance(message, Wait) and not waited and bool(self._waiting)
        )  # one that got its view waits for none
        if is_tick or (begins and now - self._failed_s >= RETRY_TICK_S):
            self.oracle.parked.clear()
        self._attended.happened(message, told, bool(waited or self._waiting), self.oracle.t)
        self._busy(message)
        self._outcomes(message, bool(waited), is_wanted)
        self._chosen()
        self._orders(told)
        self._compare()
        return effects

    # --- what a message brings ---

    def _happened(self, message: Msg, now: float) -> list[Batch | None]:
        """Takes it into the oracle: the batches that it must bring, None for one that is not due."""
        oracle = self.oracle
        match message:
            case Logged(_, sizes):
                return [oracle.message(bytes_) for bytes_ in sizes]
            case Written(nodes):
                for part in nodes:
                    if part in self._written:
                        oracle.build(part, self._written.pop(part))
            case BuildDone(call, part, line) if self._running.pop(call, None):
                self._written[part] = size(line)
            case BuildFailed(call, part, _, fallback, _, outage) if self._running.pop(call, None):
                if outage is None:
                    self._failed_s = now
                    if oracle.failed(part, size(fallback)):
                        self.given_up.add(part)
        return []

    def _taken_now(self, message: Msg, told: Sequence[Msg]) -> list[Batch | None]:
        """The views that are taken, and quiet that is there: one batch for all of either. D12."""
        batches = []
        if (self._waiting or isinstance(message, Wait)) and (gone := self._waits(message, told)):
            batches.append(self.oracle.batch())
            for asker in gone:
                self._takes(asker)
        if any(isinstance(answer, Settled) for answer in told):
            batches.append(self.oracle.batch())
        return batches

    def _waits(self, message: Msg, told: Sequence[Msg]) -> list[Asker]:
        """Keeps who waits; those whose view was taken now."""
        waiting = set(self.planner.waits.turns)
        before = set(self._waiting)
        if isinstance(message, Wait):
            before.add((message.reply_to, message.ticket))
        if isinstance(message, Cancel):
            before.discard((message.reply_to, message.ticket))
            self.taken.pop((message.reply_to, message.ticket), None)
        self._waiting = waiting
        if any(isinstance(answer, WaitFailed) for answer in told):
            return []
        return sorted(before - waiting)

    def _takes(self, asker: Asker) -> None:
        lines = tuple(self.oracle.lines)
        unbuilt = self.oracle.unbuilt
        self.taken[asker] = self.oracle.t, lines, tuple(part for part in lines if part in unbuilt)

    def _batches(self, message: Msg, told: Sequence[Msg], expected: list[Batch]) -> None:
        found = [
            (line.merge, line.open, line.t)
            for order in told
            if isinstance(order, WriteTree)
            for line in order.lines
            if isinstance(line, BatchRecord)
        ]
        if found != expected:
            raise CheckFailed("restart" if isinstance(message, Ping) else "batch", expected, found)

    # --- calls ---

    def _chosen(self) -> None:
        """The calls that are new: those that are next in the queue."""
        planner, known = self.planner, self._contexts
        new = [part for call, (part, _) in sorted(planner.busy.items()) if call not in known]
        if new:
            running = {part for call, (part, _) in planner.busy.items() if call in known} | self._written.keys()
            end = self._attended.end if planner.attendance.paid else inf
            if planner.attendance.paid:
                self._attended.check(new)
            queue = self.oracle.queue(running, needed_only=bool(self._waiting), end=end)
            if planner.builds_left is not None:
                queue = queue[: planner.builds_left + len(new)]
            if new != queue or planner.paused:
                raise CheckFailed("queue", planner.paused or _names(queue), _names(new))
        self._contexts = {
            call: known[call] if call in known else self._context(part) for call, (part, _) in planner.busy.items()
        }

    def _orders(self, told: Sequence[Msg]) -> None:
        for order in told:
            if isinstance(order, StartBuild):
                self._running[order.call] = order.part
                self._sees(order)
            elif isinstance(order, StopBuild):
                self._running.pop(order.call, None)

    def _context(self, part: Part) -> list[Part]:
        """Of a call that is chosen now; its order may have to wait until its sources are on the disk."""
        return self.oracle.context(_sees_until(part)) if self.planner.contexts else []

    def _sees(self, order: StartBuild) -> None:
        part, context = order.part, order.context
        end = _sees_until(part)
        if context and context[-1].end > end:
            raise CheckFailed("own-message", f"{part.name} sees nothing from message {end} on", context[-1].name)
        if list(context) != (expected := self._contexts[order.call]):
            raise CheckFailed("context", f"{part.name} sees {_names(expected)}", _names(context))

    def _busy(self, message: Msg) -> None:
        """How many calls run, and while turns wait, for what."""
        busy, jobs = self.planner.busy, self.oracle.limits.jobs
        if len(busy) > jobs:
            raise CheckFailed("calls-at-most", jobs, len(busy))
        if self._waiting and busy:
            unbuilt = self.oracle.unbuilt
            if more := [part.name for part, _ in busy.values() if part not in unbuilt]:
                raise CheckFailed("stopped" if isinstance(message, Wait) else "needed-only", [], more)

    def _outcomes(self, message: Msg, waited: bool, is_wanted: bool) -> None:
        """How many more outcomes there may be while turns wait and no message comes.

        `waited`: a turn did so before this message. `is_wanted`: the message tells of a call that was not stopped
        before; what comes of others is dropped.
        """
        if not self._waiting:
            return
        if not waited or isinstance(message, Logged):
            failures, failures_max = self.oracle.failures, self.oracle.limits.failures
            self._outcomes_left = sum(failures_max - failures[part] for part in self.oracle.unbuilt)
        elif is_wanted and not (isinstance(message, BuildFailed) and message.outage is not None):
            self._outcomes_left -= 1
            if self._outcomes_left < 0:
                raise CheckFailed("outcomes-bounded", "at most three outcomes a line, its failures among them", message)

    # --- the chat ---

    def _compare(self) -> None:
        """What of the chat's state is cheap to compare; `whole` compares the rest."""
        chat, oracle = self.planner.chat, self.oracle
        if chat.t != oracle.t or chat.shrinking != oracle.shrinking or chat.built_nodes.count != len(oracle.built):
            raise CheckFailed(
                "batch",
                (oracle.t, oracle.shrinking, len(oracle.built)),
                (chat.t, chat.shrinking, chat.built_nodes.count),
            )
        if chat.failures != oracle.failures:
            raise CheckFailed("failures", dict(oracle.failures), chat.failures)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing of the tree is on its way to the disk."""
        planner = self.planner
        return planner.written == planner.ordered and not (planner.unsynced or planner.lost_free)

    def whole(self) -> None:
        """The views, line by line."""
        chat, oracle = self.planner.chat, self.oracle
        for view, lines in ((chat.view, oracle.lines), (chat.compaction_view, oracle.compaction)):
            if view.parts() != lines:
                raise CheckFailed("batch", _names(lines), _names(view.parts()))
            if view.size != oracle.bytes_of(lines):
                raise CheckFailed("batch", f"{oracle.bytes_of(lines)} bytes", f"{view.size} bytes")
        unbuilt = [part.start for part in oracle.lines if part not in oracle.built]
        if unbuilt != list(chat.view.unbuilt):
            raise CheckFailed("built-only", unbuilt, list(chat.view.unbuilt))


class GateShadow:
    """Who wrote which prefix, until when, and until when it is warm."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self._at: dict[Asker, str] = {}
        self._waiting: dict[str, dict[Asker, None]] = {}
        self._writers: dict[str, tuple[Asker, float]] = {}
        self._warm_until_s: dict[str, float] = {}

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        effects = self.gate.receive(message, now)
        match message:
            case EnterPrefix(prefix, reply_to, ticket):
                self._leave((reply_to, ticket))
                self._at[reply_to, ticket] = prefix
                self._waiting.setdefault(prefix, {})[reply_to, ticket] = None
            case PrefixRead(reply_to, ticket) if (reply_to, ticket) in self._at:
                self._read((reply_to, ticket), now)
            case LeavePrefix(reply_to, ticket) | Cancel(reply_to, ticket):
                self._leave((reply_to, ticket))
            case WriterLate(prefix, reply_to, ticket):
                if self._writers.get(prefix, (None,))[0] == (reply_to, ticket) and not self._is_written(prefix, now):
                    del self._writers[prefix]
        for effect in effects:
            if isinstance(effect, Tell) and isinstance(effect.message, PrefixOpen):
                self._opened((effect.to, effect.message.ticket), now)
        for prefix, waiting in self._waiting.items():
            if waiting and prefix not in self._writers:
                raise CheckFailed("gate-opens", f"somebody writes {prefix}", f"{list(waiting)} wait for nobody")
        return effects

    def _leave(self, call: Asker) -> None:
        prefix = self._at.pop(call, None)
        if prefix is not None:
            self._waiting[prefix].pop(call, None)
            if self._writers.get(prefix, (None,))[0] == call:
                del self._writers[prefix]

    def _read(self, call: Asker, now: float) -> None:
        prefix = self._at[call]
        if self._writers.get(prefix, (call,))[0] == call:
            self._writers.pop(prefix, None)
            self._warm_until_s[prefix] = now + PREFIX_WARM_S

    def _opened(self, call: Asker, now: float) -> None:
        prefix = self._at[call]
        self._waiting[prefix].pop(call, None)
        if now < self._warm_until_s.get(prefix, 0):
            return
        if self._is_written(prefix, now):
            raise CheckFailed("one-payer", f"{self._writers[prefix][0]} alone writes {prefix}", call)
        self._writers[prefix] = call, now + PREFIX_WRITER_S

    def _is_written(self, prefix: str, now: float) -> bool:
        """Whether a writer has still time."""
        return prefix in self._writers and now < self._writers[prefix][1]


def _sees_until(part: Part) -> int:
    """The message before which a node's call sees: a message's own, or the first after a merge."""
    return part.end if part.level else part.start


def _names(parts: Sequence[Part]) -> str:
    return " ".join(part.name for part in parts)
