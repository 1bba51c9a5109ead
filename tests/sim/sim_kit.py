"""A machine with a chat's whole owner on it and one client, which crashes, loses power, and starts again.

Everything is drawn from one seed: what is logged, what fails, when the machine stops, in which order things happen.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple

from eukhe.actors.behaviour import Effect, SetTimer, Tell
from eukhe.actors.host import EDGE
from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import (
    Append,
    AppendDone,
    AppendFailed,
    Begin,
    Begun,
    Entry,
    Logging,
    Msg,
    OwnerFailed,
    Settle,
    Settled,
    SettleFailed,
    Tick,
)
from eukhe.actors.opening import Opened, open_chat, saved_view
from eukhe.actors.ports import Disk, Request
from eukhe.actors.supervisor import NAME as SUPERVISOR
from eukhe.errors import Bug, IndexFailed, StoreError
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, MessageRecord, NodeRecord, VoidRecord, decode_main, decode_tree
from eukhe.model.saved_view import SavedView
from eukhe.model.scan import Read
from eukhe.model.verify import Verification
from eukhe.sim.clock import SimClock
from eukhe.sim.disk import Crash, SimDisk
from eukhe.sim.index import IndexFile, SimIndex
from eukhe.sim.runtime import SimSystem
from eukhe.sim.scheduler import Scheduler
from eukhe.sim.workers import Fate, SimWorkers, offline

LIMITS = ChatLimits(ceiling=3_000, floor=1_500, compaction_ceiling=1_200, compaction_floor=600, jobs=3)
WORDS = ("the", "parser", "reads", "a", "line", "twice", "when", "tests", "fail", "in", "src/main.py", "again")
CHECKPOINT_MESSAGES = 5
Fates = Callable[[Request, Random], Fate]
Writer = Callable[[Request], str]


class Client:
    """Appends its entries with their keys, a few at a time, then asks to settle. A `Begun` says that the owner is new.

    `acknowledged`: where each entry stands, by its key. What was not is sent again, and now and then what was.
    `flying`: orders without an answer, the wait to settle as one of nothing. `think_s`: how long it waits at most
    after an answer.
    """

    def __init__(self, entries: Sequence[Entry], random: Random, think_s: float = 0) -> None:
        self.entries = entries
        self.think_s = think_s
        self.random = random
        self.acknowledged: dict[str, Logging] = {}
        self.flying: dict[int, tuple[Entry, ...]] = {}
        self.tickets = 0
        self.settled: Settled | None = None
        self.refused: list[str] = []

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        match message:
            case Begun():
                self.flying.clear()
                self.settled = None
                return [*self._send(), *self._send()]
            case Tick():
                return self._send()
            case AppendDone(ticket, loggings):
                for entry, logging in zip(self.flying.pop(ticket), loggings, strict=True):
                    assert entry.key is not None
                    before = self.acknowledged.setdefault(entry.key, logging)
                    assert (before.first, before.count) == (logging.first, logging.count), "a key has moved"
                if self.random.random() < 0.5:
                    return self._send()
                return [SetTimer(f"think {ticket}", self.random.random() * self.think_s, Tick())]
            case Settled(ticket):
                del self.flying[ticket]
                self.settled = message
                return []
            case AppendFailed(ticket, why):
                del self.flying[ticket]
                self.refused.append(why)
                return [] if self.flying else self._settle()
            case SettleFailed(ticket, why):
                del self.flying[ticket]
                self.refused.append(why)
                return []
        raise AssertionError(f"a client does not know {message}")

    @property
    def total(self) -> int:
        """Messages that are logged for sure."""
        return max((logging.first + logging.count for logging in self.acknowledged.values()), default=0)

    def _send(self) -> Sequence[Effect]:
        flying = {entry.key for entries in self.flying.values() for entry in entries}
        waiting = [entry for entry in self.entries if entry.key not in self.acknowledged and entry.key not in flying]
        chosen = waiting[: self.random.randint(1, 3)]
        if not chosen:
            return [] if self.flying else self._settle()
        if self.acknowledged and self.random.random() < 0.1:
            chosen.append(next(entry for entry in self.entries if entry.key in self.acknowledged))
        ticket = self._ticket()
        self.flying[ticket] = tuple(chosen)
        return [Tell("store", Append(tuple(chosen), "client", ticket))]

    def _settle(self) -> Sequence[Effect]:
        ticket = self._ticket()
        self.flying[ticket] = ()
        return [Tell("planner", Settle("client", ticket, self.total, take=True))]

    def _ticket(self) -> int:
        self.tickets += 1
        return self.tickets


class Odds(NamedTuple):
    """How likely a call is to fail, never to end, to end twice; how late it ends at most, in seconds."""

    fail: float = 0
    never: float = 0
    twice: float = 0
    late_s: float = 0

    def fate(self, request: Request, random: Random) -> Fate:
        if random.random() < self.never:
            return Fate(None)
        why = "it broke" if random.random() < self.fail else ""
        return Fate(random.random() * self.late_s, why, 2 if random.random() < self.twice else 1)


class Machine:
    """`disk`, `index`: what outlives a crash; `system`, `opened`: the owner of now."""

    def __init__(self, seed: int, count: int, fates: Fates, write: Writer = offline, think_s: float = 0) -> None:
        self.clock = SimClock()
        self.scheduler = Scheduler(seed, self.clock)
        self.random = self.scheduler.random
        self.disk = SimDisk()
        self.index = IndexFile()
        self.fates = fates
        self.write = write
        self.client = Client(entries(count, self.random), self.random, think_s)
        self.system: SimSystem | None = None
        self.most = 0

    def start(self) -> SimSystem:
        """The chat opened by a new owner, which is told to begin. What it begins with is what the files say."""
        check_order(self.disk)
        whole = open_chat(self.disk, SimIndex(IndexFile()), LIMITS, owner=False)
        index = SimIndex(self.index)
        self.opened = open_chat(self.disk, index, LIMITS, owner=True)
        assert self.opened.damage is None, self.opened.damage
        assert state(whole) == state(self.opened)
        check_logged(self)
        check_verified(self, saved_view(self.disk))
        workers = self.workers = SimWorkers(self.scheduler, self.fates, self.write)
        makers = owner_makers(
            self.opened,
            self.disk,
            self.clock,
            index,
            SimIndex(self.index),
            "builtin/extract",
            checkpoint_messages=CHECKPOINT_MESSAGES,
        )
        self.system = SimSystem(
            makers, self.disk, self.clock, workers, self.scheduler, clients={"client": lambda: self.client}
        )
        self.system.tell(SUPERVISOR, Begin(EDGE, 0))
        return self.system

    def live(self, steps: int | None = None, full_at: int | None = None) -> None:
        """So many steps of an owner, or until the client is settled. Crash where the machine stops.

        `full_at`: the step from which on the index can't be written.
        """
        system = self.start()
        taken = 0
        greeted = False
        while taken != steps and not self.client.settled and self.scheduler.step():
            taken += 1
            self.index.full |= taken == full_at
            for message in system.heard:
                if isinstance(message, OwnerFailed):
                    raise Bug(message.why)
            if system.heard and not greeted:
                greeted = True
                self.client.settled = None
                system.tell("client", Begun(0))
        self.most = max(self.most, self.workers.most)
        if taken != steps and greeted:
            assert {} == self.client.flying, "a wait did not end"

    def stop(self, *, power: bool) -> None:
        """The machine stops where it stands."""
        if self.system is not None:
            self.system.crash()
            self.system = None
        self.client.settled = None
        self.scheduler.stop()
        if power:
            self.disk.lose_power(self.random)
            self.index.lose_power(self.random)
        else:
            self.disk.kill(self.random)

    def crash(self) -> None:
        """An owner that comes to its end: between two steps, in the midst of an operation of the disk, or cleanly."""
        random = self.random
        if random.random() < 0.5:
            self.disk.crash_at = self.disk.operations + random.randint(1, random.choice((5, 60)))
        if random.random() < 0.2:
            self.disk.fail_at = self.disk.operations + random.randint(1, 60)
        full_at = random.randint(0, 200) if random.random() < 0.15 else None
        if random.random() < 0.2:
            self.clock.set_wall(random.choice((-90_000, -3_600, 3_600, 90_000)))
        with suppress(Crash, StoreError, IndexFailed):
            self.live(random.randint(1, random.choice((100, 300, 1_000))), full_at)
            if self.system is not None and random.random() < 0.2:
                self.system.end()
        self.index.full = False
        self.stop(power=random.random() < 0.6)

    def finish(self) -> None:
        """An owner that no fault meets, until the client is settled; then its clean end."""
        self.live()
        assert self.client.settled is not None, f"a wait did not end: {self.client.refused}"
        assert self.system is not None
        self.system.end()


def entries(count: int, random: Random) -> list[Entry]:
    """Texts of many sizes; now and then one that is split."""
    made = []
    for n in range(count):
        words = random.choice((3, 10, 40, 120, 200))
        text = " ".join(random.choice(WORDS) for _ in range(words))
        if random.random() < 0.02:
            text = text * (29_500 // len(text) + 1)
        made.append(Entry(random.choice(("user", "eukhe", "echo")), f"{n} {text}", key=f"k{n}"))
    return made


def run(seed: int, *, messages: int = 25, crashes: int = 5) -> Machine:
    """A chat that is logged and built on a machine that crashes up to so many times; checked after each."""
    dice = Random(seed)
    odds = Odds(
        fail=dice.choice((0, 0.1, 0.5)),
        never=dice.choice((0, 0, 0.2)),
        twice=dice.choice((0, 0.3)),
        late_s=dice.choice((0, 5, 700, 20_000)),
    )
    machine = Machine(seed, messages, odds.fate, think_s=dice.choice((0, 1, 3_000)))
    with machine.scheduler.telling():
        for _ in range(dice.randint(0, crashes)):
            machine.crash()
        machine.finish()
        check_ended(machine)
    return machine


# --- what must hold ---


def check_order(disk: Disk) -> None:
    """As the crash left it: no line of the tree is about a message that main does not have."""
    messages = len(messages_of(disk))
    assert [] == [part.name for part in tree_of(disk) if part.end > messages], "the tree knows more than main"
    assert [] == [record for record in batches_of(disk) if (record.t or 0) > messages], "a batch past the last message"


def check_ended(machine: Machine) -> None:
    """At the end: the live chat is what the files say, all is built, and no more calls ran than may."""
    chat = machine.opened.chat
    assert chat.t == check_logged(machine)
    assert machine.client.total == chat.t
    assert len(machine.client.acknowledged) == len(machine.client.entries)
    verified = check_verified(machine, saved_view(machine.disk))
    assert verified.view == chat.view.parts()
    assert verified.nodes == chat.built_nodes.count
    assert not chat.view.unbuilt
    assert machine.most <= LIMITS.jobs
    again = open_chat(machine.disk, SimIndex(machine.index), LIMITS, owner=True)
    assert again.problems == ()
    assert state(again) == state(open_chat(machine.disk, SimIndex(IndexFile()), LIMITS, owner=False))
    assert live_state(chat) == live_state(again.chat)


def check_logged(machine: Machine) -> int:
    """Ids without a gap, no key twice, all that was acknowledged where it was said to be; how many messages."""
    messages = messages_of(machine.disk)
    assert list(range(len(messages))) == [message.i for message in messages]
    keys = [message.key for message in messages]
    assert len(set(keys)) == len(keys), "a key was logged twice"
    texts = {entry.key: entry.text for entry in machine.client.entries}
    for key, logging in machine.client.acknowledged.items():
        pieces = [message for message in messages if message.key and message.key.partition("#")[0] == key]
        assert logging.count == len(pieces), f"{key} was acknowledged and is not logged"
        assert logging.first == pieces[0].i
        assert texts[key] == "".join(message.text for message in pieces) or len(texts[key]) > 30_000
    return len(messages)


def check_verified(machine: Machine, saved: SavedView | None) -> Verification:
    verification = Verification(files(machine.disk, "main"), files(machine.disk, "tree"), saved)
    assert [] == [problem for problem in verification.problems() if not problem.harmless]
    return verification


def state(opened: Opened) -> tuple[Any, ...]:
    return (live_state(opened.chat), opened.free, opened.start.next_id)


def live_state(chat: Chat) -> tuple[Any, ...]:
    """All of a chat that a start must bring back."""
    return (
        chat.t,
        chat.view.parts(),
        sorted(chat.view.unbuilt),
        chat.built_nodes.levels,
        chat.shrinking,
        sorted(chat.sizes.items()),
        sorted(chat.ready),
    )


def files(disk: Disk, folder: str) -> list[tuple[str, Read]]:
    def reader(path: str) -> Read:
        return lambda offset, length: disk.read(path, offset, length)

    return [(f"{folder}/{name}", reader(f"{folder}/{name}")) for name in disk.names(folder)]


def messages_of(disk: Disk) -> list[MessageRecord]:
    """What main holds; a torn line that was ended is none."""
    return [record for line in _lines(disk, "main") if isinstance(record := _main(line), MessageRecord)]


def tree_of(disk: Disk) -> dict[Part, str]:
    """The nodes' texts; a void takes what stands before it."""
    nodes: dict[Part, str] = {}
    for line in _lines(disk, "tree"):
        match _tree(line):
            case NodeRecord(part, text):
                nodes.setdefault(part, text)
            case VoidRecord(void):
                for part in void:
                    nodes.pop(part, None)
    return nodes


def batches_of(disk: Disk) -> list[BatchRecord]:
    return [record for line in _lines(disk, "tree") if isinstance(record := _tree(line), BatchRecord)]


def _lines(disk: Disk, folder: str) -> list[bytes]:
    return [line for name in disk.names(folder) for line in disk.read(f"{folder}/{name}").split(b"\n") if line]


def _main(line: bytes) -> Any:
    try:
        return decode_main(line)
    except ValueError:
        return None


def _tree(line: bytes) -> Any:
    try:
        return decode_tree(line)
    except ValueError:
        return None
