"""Histories: any events in any order, any limits, and an owner who keeps the logs of a chat.

A history is drawn as a list of numbers. Each is read as an event of the chat that the earlier ones made: so every list
is a history, it shrinks well, and a failing one prints its events. Adverse histories have outcomes that no planner
would see: of nodes never started, of built ones, twice, in any order; but always of messages that exist.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from hypothesis import strategies as st

from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.chat import Merges as Merged
from eukhe.model.fold import Folded, Merges, NodeSize, checkpoint, fold
from eukhe.model.part import Part
from eukhe.model.view import View
from laws.words import nodes

KINDS: tuple[str, ...] = (
    ("message",) * 7 + ("work",) * 5 + ("start", "start", "built", "built", "failed", "failed", "failed")
)
KINDS += ("wait", "tick", "take", "checkpoint", "restart")
CODE_MAX = len(KINDS) * 4096 - 1
SIZE_MAX = 60
LIMIT_MAX = 400


class Event(NamedTuple):
    """`number`: the bytes of a message or a line; of a restart, which checkpoint it starts from."""

    name: str
    part: Part | None = None
    number: int | None = None

    def __repr__(self) -> str:
        given = [*(self.part or ()), *([] if self.number is None else [self.number])]
        return f"{self.name}({', '.join(map(str, given))})"


class Checkpoint(NamedTuple):
    """A checkpoint, and how far into the two logs it has read."""

    data: bytes | None
    messages: int
    records: int


class State(NamedTuple):
    """What one step of a chat may change, as plain lists."""

    t: int
    view: list[Part]
    compaction_view: list[Part]
    shrinking: bool


class Owner:
    """A chat and its logs: does at each event what planner and store do together.

    `sizes`: every node in the tree log, with its bytes. `batch`: the last event's merges, None where none ran.
    `written`: after each record of the tree log, the count of messages, the view as (first message, level), and
    whether it was shrinking.
    """

    def __init__(self, limits: ChatLimits) -> None:
        self.limits = limits
        self.chat = Chat(limits)
        self.messages: list[int] = []
        self.tree: list[NodeSize | Merges] = []
        self.sizes: dict[Part, int] = {}
        self.batch: Merged | None = None
        self.checkpoints = [Checkpoint(None, 0, 0)]
        self.written: list[tuple[int, tuple[tuple[int, int], ...], bool]] = []

    def __repr__(self) -> str:
        return f"Owner({self.limits}, messages={self.messages}, tree={self.tree})"

    @property
    def state(self) -> State:
        chat = self.chat
        return State(chat.t, chat.view.parts(), chat.compaction_view.parts(), chat.shrinking)

    def apply(self, event: Event) -> None:
        self.batch = None
        given = [value for value in event[1:] if value is not None]
        getattr(self, event.name)(*given)

    def message(self, size: int) -> None:
        self.messages.append(size)
        step = self.chat.logged(size)
        self._log_batch(step.batch)
        for part in step.free:
            self._log_node(part, self.chat.sizes[part])

    def take(self) -> None:
        self._log_batch(self.chat.take())

    def start(self, part: Part) -> None:
        self.chat.start(part)

    def built(self, part: Part, size: int) -> None:
        if self.chat.built(part, size):
            self._log_built(part, size)

    def failed(self, part: Part, size: int) -> None:
        if self.chat.failed(part, size):
            self._log_built(part, size)

    def wait(self) -> None:
        self.chat.wait()

    def tick(self) -> None:
        self.chat.tick()

    def checkpoint(self) -> None:
        self.checkpoints.append(Checkpoint(checkpoint(self.chat), len(self.messages), len(self.tree)))

    def restart(self, which: int) -> None:
        self.chat = self.folded(self.checkpoints[which]).chat

    def folded(self, start: Checkpoint) -> Folded:
        """What a start finds in the logs."""
        return fold(start.data, self.messages[start.messages :], self.tree[start.records :], self.limits)

    def _log_built(self, part: Part, size: int) -> None:
        self._log_node(part, size)
        for free in self.chat.free_above(part):
            self._log_node(free, self.chat.sizes[free])

    def _log_node(self, part: Part, size: int) -> None:
        self.tree.append(NodeSize(part, size))
        self.sizes[part] = size
        self._note_written()

    def _log_batch(self, batch: Merged | None) -> None:
        self.batch = batch
        if batch is not None:
            self.tree.append(Merges(batch, self.chat.shrinking, self.chat.t))
            self._note_written()

    def _note_written(self) -> None:
        self.written.append((self.chat.t, tuple(self.chat.view.lines.items()), self.chat.shrinking))


def memory_of(chat: Chat) -> dict[str, Any]:
    """All of a chat that outlives a restart."""
    return {
        "t": chat.t,
        "view": chat.view.parts(),
        "bytes": chat.view.size,
        "unbuilt": list(chat.view.unbuilt),
        "pairs": chat.view.pairs,
        "shrinking": chat.shrinking,
        "built": chat.built_nodes.levels,
        "count": chat.built_nodes.count,
        "ready": chat.ready,
        "sizes": chat.sizes,
    }


class History(NamedTuple):
    limits: ChatLimits
    events: tuple[Event, ...]

    def moments(self) -> Iterator[tuple[Event, Owner]]:
        """Each event, and the owner after it."""
        owner = Owner(self.limits)
        for event in self.events:
            owner.apply(event)
            yield event, owner

    def steps(self) -> Iterator[tuple[State, Event, Owner]]:
        """Each event: the state before it, it, and the owner after it."""
        owner = Owner(self.limits)
        before = owner.state
        for event in self.events:
            owner.apply(event)
            yield before, event, owner
            before = owner.state

    def end(self) -> Owner:
        """The owner after all events."""
        owner = Owner(self.limits)
        for event in self.events:
            owner.apply(event)
        return owner


def read(code: int, owner: Owner, *, adverse: bool, waiting: bool = False) -> list[Event]:
    """The events that a drawn number stands for; none where there is nothing to do. `waiting`: as a turn waits."""
    kind, number = KINDS[code % len(KINDS)], code // len(KINDS)
    size = 1 + number % SIZE_MAX
    any_node = adverse and number % 3 == 0
    match kind:
        case "message":
            return [Event(kind, None, size)] * (1 + number // SIZE_MAX % 3)
        case "work":
            parts = owner.chat.queue(need=waiting)[: 1 + number % 6]
            return [
                Event(name, part, size if name == "built" else None) for part in parts for name in ("start", "built")
            ]
        case "start":
            part = _one(nodes(owner.chat.t) if any_node else owner.chat.queue(need=waiting), number)
            return [Event(kind, part)] if part else []
        case "built" | "failed":
            running = sorted(map(Part._make, owner.chat.running))
            part = _one(nodes(owner.chat.t) if any_node else running, number)
            return [Event(kind, part, size)] if part else []
        case "restart":
            return [Event(kind, None, number % len(owner.checkpoints))]
    return [Event(kind)]


def _one(parts: list[Part], number: int) -> Part | None:
    return parts[number % len(parts)] if parts else None


def limits() -> st.SearchStrategy[ChatLimits]:
    """Any budgets, as small as the histories; nodes of up to 40 bytes are free, or none is."""
    budget = st.integers(0, LIMIT_MAX)
    return st.builds(
        ChatLimits, budget, budget, budget, budget, st.integers(0, 9), st.integers(0, 40), st.integers(1, 4)
    )


def codes(count: int = 100) -> st.SearchStrategy[list[int]]:
    """Drawn numbers for about `count` events."""
    return st.lists(st.integers(0, CODE_MAX), min_size=count // 2, max_size=count)


@st.composite
def histories(draw: st.DrawFn, *, adverse: bool = True) -> History:
    """Any history. Not adverse: starts are of the queue, outcomes of running calls."""
    owner = Owner(draw(limits()))
    events = []
    for code in draw(codes()):
        for event in read(code, owner, adverse=adverse):
            owner.apply(event)
            events.append(event)
    return History(owner.limits, tuple(events))


@st.composite
def damaged(draw: st.DrawFn) -> Owner:
    """An owner whose tree log lost lines, has some twice or elsewhere, and some that are none of its own."""
    owner = draw(histories()).end()
    tree = owner.tree
    for code in draw(st.lists(st.integers(0, 8 * 4096 - 1), max_size=16)):
        number = code // 8
        at = number % (len(tree) + 1)
        logged = sorted(record.part for record in tree if isinstance(record, NodeSize))
        stray = _one(logged, number // 2) if number % 2 else None
        stray = stray or Part(number % 6, number // 6 % 24)
        match code % 8:
            case 0 | 1 | 2 | 3:
                del tree[at : at + 1]
            case 4:
                tree[number // 2 % (len(tree) + 1) : 0] = tree[at : at + 1]
            case 5:
                tree.insert(at, NodeSize(stray, 1 + number % SIZE_MAX))
            case 6:
                tree.insert(at, Merges((stray, stray.parent), number % 2 == 0, None if number % 3 else number % 64))
            case 7:
                tree[at : at + 2] = reversed(tree[at : at + 2])
    return owner


class AnyView(NamedTuple):
    """Lines that cover the messages 0 to their end, whatever is built, a count of messages and a budget."""

    lines: tuple[Part, ...]
    sizes: dict[Part, int]
    t: int
    floor: int

    def view(self) -> View:
        view = View(dict(self.sizes))
        for line in self.lines:
            view.put(*line)
        return view


@st.composite
def any_views(draw: st.DrawFn) -> AnyView:
    """Any view, also one that no history leads to."""
    lines: list[Part] = []
    end = 0
    count = draw(st.integers(0, 24))
    for wish in draw(st.lists(st.integers(0, 5), min_size=count, max_size=count)):
        level = min(wish, (end & -end).bit_length() - 1) if end else wish
        lines.append(Part(level, end >> level))
        end = lines[-1].end
    above = sorted({part for line in lines for part in _with_parents(line, end.bit_length())})
    built = draw(st.just(b"\0") | st.binary(min_size=len(above)))  # a byte a node; from 128 on it is not built
    sizes = {part: 1 + (7 * at) % 50 for at, part in enumerate(above) if built[at % len(built)] < 128}
    return AnyView(tuple(lines), sizes, end + draw(st.integers(0, 9)), draw(st.integers(0, LIMIT_MAX)))


def _with_parents(part: Part, level_max: int) -> Iterator[Part]:
    while part.level <= level_max:
        yield part
        part = part.parent
