"""Looks on while a machine runs: at every message, every write, every start, and now and then at the whole."""

import re
from collections.abc import Callable
from typing import Any, Final

from eukhe.actors.behaviour import Behaviour
from eukhe.actors.gate import NAME as GATE
from eukhe.actors.messages import (
    AppendDone,
    BuildDone,
    BuildFailed,
    Entry,
    IndexLost,
    Logging,
    Msg,
    OwnerFailed,
    Poisoned,
    ViewTaken,
    WriterLate,
)
from eukhe.actors.opening import Opened, open_chat, saved_view
from eukhe.limits import MERGE_HALF_BYTES_MAX, NODE_BYTES_MAX
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.image import with_images
from eukhe.model.part import Part
from eukhe.model.record import NodeRecord
from eukhe.model.text import clean, clip, cut
from eukhe.model.verify import INDEX_FILE, Verification
from eukhe.sim.agents import AgentsTruth
from eukhe.sim.checks import CheckFailed
from eukhe.sim.disk import SimDisk
from eukhe.sim.faults import Faults
from eukhe.sim.index import IndexFile, SimIndex
from eukhe.sim.ledger import Ledger
from eukhe.sim.process_disk import ReadersDisk
from eukhe.sim.provider import Provider, line_of
from eukhe.sim.shadow import GateShadow, PlannerShadow

WRONG_CLOCKS: Final = ("clock-set", "summer-time", "clock-drift")
_HEAD = re.compile(r"\A\d+\+\d+\|")


class Watch:
    """What one run's machine shows of itself. CheckFailed as soon as something does not hold.

    `acknowledged`: by key, the text and where it was said to stand. `given_up`: nodes whose calls failed too often.
    """

    def __init__(self, limits: ChatLimits, faults: Faults, provider: Provider, disk: SimDisk) -> None:
        self.limits = limits
        self.faults = faults
        self.ledger = Ledger(self._node)
        disk.synced = lambda path, data: self.ledger.synced(path, data)
        self.acknowledged: dict[str, tuple[Entry, Logging]] = {}
        self.agents = AgentsTruth(disk)
        self.given_up: set[Part] = set()
        self.provider = provider
        self.disk = disk
        self.raised = False  # a behaviour, as was injected
        self.planner: PlannerShadow | None = None
        self.gate: GateShadow | None = None
        self.poisoned = False
        self.fold_is_due = False
        self._told: dict[type[Msg], Callable[[str, Any], None]] = {
            AppendDone: self._append_done,
            ViewTaken: self._view_taken,
            OwnerFailed: self._owner_failed,
            Poisoned: self._poisoned,
            IndexLost: lambda to, message: self.faults.meet("index-full"),
            WriterLate: lambda to, message: self.faults.meet("slow-call"),
            BuildDone: self._build_ended,
            BuildFailed: self._build_ended,
        }

    # --- as it happens ---

    def told(self, to: str, message: Msg) -> None:
        """A message is sent."""
        look = self._told.get(type(message))
        if look is not None:
            look(to, message)

    def _append_done(self, to: str, message: AppendDone) -> None:
        there = len(self.ledger.messages)
        if any(logging.new for logging in message.entries):
            for name in WRONG_CLOCKS:
                self.faults.meet(name)  # something was dated by it
        for logging in message.entries:
            last = logging.first + (logging.count if logging.new == logging.count else 1)
            if last > there:
                raise CheckFailed("acknowledged", f"message {last - 1} on the disk", f"{there} messages there")

    def acknowledge(self, entry: Entry, logging: Logging) -> None:
        """A client heard that its text is logged."""
        assert entry.key is not None
        _, before = self.acknowledged.setdefault(entry.key, (entry, logging))
        if (before.first, before.count) != (logging.first, logging.count):
            raise CheckFailed("key-once", before, logging)
        self._is_logged(entry, logging)

    def acknowledge_once(self, entry: Entry, logging: Logging) -> None:
        """The same of a text without a key."""
        logged = self.ledger.messages[logging.first : logging.first + logging.count]
        if self._text_of(entry) != "".join(message.text for message in logged):
            raise CheckFailed("acknowledged", f"{entry} at {logging}", logged)

    def _is_logged(self, entry: Entry, logging: Logging) -> None:
        assert entry.key is not None
        ids = self.ledger.keys.get(entry.key, [])
        if not ids or logging.first not in ids or logging.count != len(ids):
            raise CheckFailed("acknowledged", f"{entry.key} at {logging}", ids)
        if (text := self._text_of(entry)) != (logged := self.ledger.text_of(entry.key)):
            raise CheckFailed("acknowledged", text, logged)

    def _text_of(self, entry: Entry) -> str:
        """An entry's text as it is logged, all pieces of it; its images are on the disk."""
        text, images = with_images(clean(entry.text), entry.images)
        for name, data in images.items():
            if self.disk.platter(f"images/{name}") != data:
                raise CheckFailed("acknowledged", f"image {name} on the disk", "it is not, or is another")
        return clip(text) if entry.kind == "echo" else text

    def _view_taken(self, to: str, message: ViewTaken) -> None:
        assert self.planner is not None
        found = (message.t, message.lines, message.unbuilt)
        expected = self.planner.taken.pop((to, message.ticket), None)
        if found != expected:
            raise CheckFailed("view-pinned", expected, found)
        unbuilt = set(message.unbuilt)
        nodes, merged = self.ledger.nodes, self.ledger.merged
        if message.t > len(self.ledger.messages):
            raise CheckFailed("view-on-disk", f"{message.t} messages", len(self.ledger.messages))
        for part in message.lines:
            if (part not in unbuilt and part not in nodes) or (part.level and part not in merged):
                raise CheckFailed("view-on-disk", f"{part.name} on the disk", "it is not there")

    def _owner_failed(self, to: str, message: OwnerFailed) -> None:
        if not self.raised:
            raise CheckFailed("no-crash", "no actor fails", message.why)
        self.faults.meet("raise")

    def _poisoned(self, to: str, message: Poisoned) -> None:
        self.poisoned = True
        self.faults.meet("index-astray" if message.why.startswith(INDEX_FILE) else "disk-error")

    def _build_ended(self, to: str, message: BuildDone | BuildFailed) -> None:
        self.provider.noticed(message.part)

    def _node(self, record: NodeRecord) -> None:
        """A node's line is on the disk: what may stand there."""
        part, text, size = record.part, record.text, record.size
        if not 1 <= size <= NODE_BYTES_MAX:
            raise CheckFailed("line-bytes", f"{part.name}: 1 to {NODE_BYTES_MAX} bytes", size)
        sources = self.sources(part)
        whole = "\n".join(sources)
        if len(whole.encode()) <= NODE_BYTES_MAX:
            if text != whole:
                raise CheckFailed("line-text", f"{part.name}: {whole!r}", repr(text))
        elif text != line_of(sources) and text not in self._instead(part, sources):
            raise CheckFailed("line-text", f"{part.name}: {line_of(sources)!r}", repr(text))

    def _instead(self, part: Part, sources: tuple[str, ...]) -> set[str]:
        """What may stand where the model did not reply with its line, or was given up."""
        lines = {cut(_HEAD.sub("", clean(reply).strip())) for reply in self.provider.odd.get(part, ()) if reply}
        if None in self.provider.odd.get(part, ()):
            lines.add(cut("\n".join(sources)))
        if part in self.given_up:
            lines.add(
                cut(sources[0]) if len(sources) == 1 else "\n".join(cut(half, MERGE_HALF_BYTES_MAX) for half in sources)
            )
        return lines

    def sources(self, part: Part) -> tuple[str, ...]:
        """What a node is made of, as the disk has it."""
        if part.level == 0:
            if part.i >= len(self.ledger.messages):
                raise CheckFailed("built-only", f"message {part.i} before its node", "it is not on the disk")
            return (self.ledger.messages[part.i].label,)
        halves = [self.ledger.nodes.get(half) for half in part.halves]
        if None in halves:
            raise CheckFailed("built-only", f"both halves of {part.name} before it", "one is not on the disk")
        return tuple(half.text for half in halves if half is not None)

    # --- starts ---

    def gone(self) -> None:
        """An owner is, however it went: only the disk counts."""
        self.planner = self.gate = None
        self.poisoned = self.raised = False
        self.ledger = Ledger(self._node)
        self.ledger.read(self.disk)

    def before_start(self) -> None:
        """As the owner before left it, all that was acknowledged is there."""
        for entry, logging in self.acknowledged.values():
            self._is_logged(entry, logging)
        self.agents.check_all()

    def alone(self) -> Opened:
        """What the files alone say, to one who only reads them."""
        return open_chat(ReadersDisk(self.disk), SimIndex(IndexFile()), self.limits, owner=False)

    def started(self, opened: Opened, whole: Opened) -> None:
        """`opened` is what the owner goes on from, `whole` what the files alone say."""
        if opened.damage is not None:
            raise CheckFailed("files", "a chat that can be written", opened.damage)
        if state(opened.chat) != state(whole.chat) or opened.free != whole.free:
            raise CheckFailed("checkpoint", (state(whole.chat), whole.free), (state(opened.chat), opened.free))
        oracle = self.ledger.oracle(self.limits)
        lines = opened.chat.view.parts()
        if lines != oracle.lines or opened.chat.shrinking != oracle.shrinking:
            raise CheckFailed("restart", (oracle.lines, oracle.shrinking), (lines, opened.chat.shrinking))

    def wraps(self, name: str, behaviour: Behaviour) -> Behaviour:
        """Planner and gate are looked at from near."""
        if name == "planner":
            self.planner = PlannerShadow(behaviour, self.ledger.oracle(self.limits), self.given_up)  # type: ignore[arg-type]
            return self.planner
        if name == GATE:
            self.gate = GateShadow(behaviour)  # type: ignore[arg-type]
            return self.gate
        return behaviour

    # --- the whole ---

    def full(self) -> None:
        """The live chat is the oracle's; and the files', as soon as nothing is on its way to the disk."""
        if self.planner is not None:
            self.planner.whole()
            self.fold_is_due = True

    def fold(self) -> None:
        """Where it is due and can be: the files, folded, are the live chat."""
        shadow = self.planner
        if shadow is None or self.poisoned or not shadow.is_quiet or shadow.oracle.t != len(self.ledger.messages):
            return
        self.fold_is_due = False
        chat = shadow.planner.chat
        folded = self.ledger.fold(self.limits)
        if folded.problems or folded.free or state(folded.chat) != state(chat):
            raise CheckFailed("fold", state(folded.chat), (state(chat), folded.problems, folded.free))

    def ended(self, index: IndexFile) -> None:
        """At the end, after a clean stop: the files prove everything, and nothing is left to build."""
        disk = self.disk
        verification = Verification(disk.files("main"), disk.files("tree"), saved_view(disk), SimIndex(index))
        problems = [problem for problem in verification.problems() if not problem.harmless]
        if problems:
            raise CheckFailed("files", [], problems)
        self.started(open_chat(disk, SimIndex(index), self.limits, owner=True), self.alone())
        self.before_start()
        self._tree()

    def _tree(self) -> None:
        """All nodes that there can be, and where the model wrote them all, those of a run without faults."""
        t = len(self.ledger.messages)
        expected = {Part(level, i) for level in range(t.bit_length()) for i in range(t >> level)}
        if self.ledger.nodes.keys() != expected:
            raise CheckFailed("queue-empties", sorted(expected), sorted(self.ledger.nodes))
        texts = {part: node.text for part, node in self.ledger.nodes.items()}
        # It holds where `line-text` did at every node; so this one also finds a check of those that lets too much pass.
        if self.is_models and texts != (without_faults := self.tree_without_faults()):
            raise CheckFailed("tree", without_faults, texts)

    @property
    def is_models(self) -> bool:
        """Whether the model has written every line, and none was cut or given up."""
        return not (self.provider.odd or self.given_up)

    def tree_without_faults(self) -> dict[Part, str]:
        """The lines of the messages that are there, had every call gone well: from the bottom to the top."""
        texts: dict[Part, str] = {}
        t = len(self.ledger.messages)
        for level in range(t.bit_length()):
            for i in range(t >> level):
                part = Part(level, i)
                sources = tuple(texts[half] for half in part.halves) if level else (self.ledger.messages[i].label,)
                whole = "\n".join(sources)
                texts[part] = whole if len(whole.encode()) <= NODE_BYTES_MAX else line_of(sources)
        return texts


def state(chat: Chat) -> tuple[Any, ...]:
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
