"""From the logs to the chat's state. Pure: no clock, disk or threads.

The view is not computed anew at a start: the batches that the live chat ran are in the log, and are done over in their
order, so that the view is the very one that the provider has cached (D1). A checkpoint is the same state, written
down; from it only what was logged since is folded.

Between two batches the two logs may be read in any order: a message only appends, a node only gives a line its text,
a batch only replaces lines that are older than its message. So `fold` reads messages as far as a tree record needs
them, and memory stays that of the live chat.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from eukhe.model.built import Built
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.part import Part


class NodeSize(NamedTuple):
    """A node's line in the tree log."""

    part: Part
    size: int


class Merges(NamedTuple):
    """A batch line in the tree log. `t` None (older chats): as many messages as were read by then."""

    parents: tuple[Part, ...]
    open: bool
    t: int | None


class Folded(NamedTuple):
    """The chat, the free nodes that a crash kept from being logged, and what was wrong: tree record, words."""

    chat: Chat
    free: tuple[Part, ...]
    problems: tuple[tuple[int, str], ...]


def fold(
    checkpoint: bytes | None,
    messages: Iterable[int],
    tree: Iterable[NodeSize | Merges],
    limits: ChatLimits | None = None,
) -> Folded:
    """The chat's state from its logs.

    `messages`: the bytes of each `kind: text` in order of ids, from the checkpoint's count on; a lost one's those of
    `(lost)`. `tree`: nodes and batches in the log's order, voided ones left out. Problems name the record by its
    place in `tree`, from 0. The compaction view is the view merged on to its floor (D7). ValueError where the
    checkpoint is none.
    """
    chat = _restore(checkpoint, limits) if checkpoint else Chat(limits)
    reading = _Reading(chat, iter(messages))
    problems: list[tuple[int, str]] = []
    for place, record in enumerate(tree):
        said = reading.node(record) if isinstance(record, NodeSize) else reading.batch(record)
        problems += [(place, words) for words in said]
    reading.messages_until(None)
    free = reading.free_nodes()
    chat.parked.clear()
    chat.restart_compaction_view()
    return Folded(chat, tuple(free), tuple(problems))


class _Reading:
    """A fold under way. `small`: messages that are their own nodes, until their lines come."""

    def __init__(self, chat: Chat, messages: Iterator[int]) -> None:
        self.chat = chat
        self.messages = messages
        self.small: dict[int, int] = {}

    def messages_until(self, t: int | None) -> None:
        """Reads messages until there are `t`, or all."""
        chat = self.chat
        while t is None or chat.t < t:
            size = next(self.messages, None)
            if size is None:
                return
            if size <= chat.limits.node:
                self.small[chat.t] = size
            chat.view.append(chat.t)
            chat.t += 1

    def node(self, record: NodeSize) -> list[str]:
        part, size = record
        self.messages_until(part.end)
        if part.end > self.chat.t:
            return [f"node {part.name} stands past the last message"]
        if part.level == 0:
            self.small.pop(part.i, None)
        return [] if self.chat.built(part, size) else [f"a second line for node {part.name}; the first one counts"]

    def batch(self, record: Merges) -> list[str]:
        chat = self.chat
        self.messages_until(record.t or 0)
        chat.shrinking = record.open
        left_out = []
        for parent in record.parents:
            replaced = chat.view.replace(parent)
            if not replaced:
                left_out.append(f"the merge to {parent.name} is left out: {self._why_not(parent)}")
            for part in replaced:
                self._forget(Part(*part), parent)
        return left_out

    def _forget(self, line: Part, parent: Part) -> None:
        """Drops the size of a line that `parent` replaced, and of the nodes between that begin where it does."""
        part = line
        while part != parent and part.start == line.start:
            self.chat.sizes.pop(part, None)
            part = part.parent

    def _why_not(self, parent: Part) -> str:
        if not self.chat.built_nodes.has(*parent):
            return "its line is not there"
        return "no lines of the view fill it"

    def free_nodes(self) -> list[Part]:
        """Builds what needs no model and was not logged, messages first, then merges upwards."""
        chat = self.chat
        free: list[Part] = []
        for i, size in self.small.items():
            part = Part(0, i)
            if chat.built(part, size):
                free += [part, *chat.free_above(part)]
        for level, i in sorted(chat.ready):
            if (level, i) in chat.ready:
                free += chat.free_above(Part(level, i).halves[0])
        return free


class _State(msgspec.Struct, frozen=True, array_like=True):
    """A checkpoint. Lines as (first message, level), nodes as (level, index, bytes), all that is not derived."""

    t: int
    built: list[list[int]]
    lines: list[tuple[int, int]]
    sizes: list[tuple[int, int, int]]
    shrinking: bool


def checkpoint(chat: Chat, pending: Iterable[NodeSize] = ()) -> bytes:
    """The chat's state as bytes; `pending` are lines sent to the log that the chat does not count as built yet."""
    state = _State(
        chat.t,
        chat.built_nodes.levels,
        list(chat.view.lines.items()),
        [(level, i, size) for (level, i), size in chat.sizes.items()],
        chat.shrinking,
    )
    return msgspec.json.encode((state, [(*part, size) for part, size in pending]))


def messages_in(checkpoint: bytes) -> int:
    """How many messages a checkpoint has. ValueError where it is none."""
    return _decoded(checkpoint)[0].t


def _decoded(data: bytes) -> tuple[_State, list[tuple[int, int, int]]]:
    try:
        return msgspec.json.decode(data, type=tuple[_State, list[tuple[int, int, int]]])
    except msgspec.DecodeError as error:
        raise ValueError(f"no checkpoint: {error}") from error


def _restore(data: bytes, limits: ChatLimits | None) -> Chat:
    state, pending = _decoded(data)
    chat = Chat(limits)
    chat.t = state.t
    chat.built_nodes = Built(state.built)
    chat.sizes.update({(level, i): size for level, i, size in state.sizes})
    for start, level in state.lines:
        chat.view.put(level, start >> level)
    chat.shrinking = state.shrinking
    chat.find_ready()
    for level, i, size in pending:
        chat.built(Part(level, i), size)
    return chat
