"""What came of a command, in the words of a transcript: answers, lines on disk, calls, timers, what is said.

In an order of their own, not in that of the steps, which is another one under each seed.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from eukhe.actors.messages import (
    AppendDone,
    AppendFailed,
    BuildDone,
    BuildFailed,
    IndexLost,
    Leaving,
    Msg,
    Poisoned,
    Settled,
    SettleFailed,
    StartBuild,
    StopBuild,
    ViewTaken,
    ViewTexts,
    WaitFailed,
)
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, NodeRecord, RecordError, TreeRecord, VoidRecord, decode_tree
from eukhe.model.text import size
from eukhe.sim.transcript_stage import SCRIPT, Call, Client, Stage

TEXT_CHARS_SHOWN: Final = 40  # number: of a text, in a line of a transcript
LINES_SHOWN: Final = 6  # number: of a view that is read, at either end
_TIMERS: Final = {"retry": "tries again", "resume": "goes on"}


class Outcome:
    """Made before a command; `lines` says what has come of it since."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._tree = _tree_bytes(stage)
        self._due = _due(stage)
        stage.told.clear()
        stage.said.clear()
        stage.calls.begun.clear()
        for client in stage.clients.values():
            client.heard.clear()

    def lines(self) -> list[str]:
        """A line each, at least one."""
        stage = self._stage
        lines = [*stage.said, *self._heard(_logged), *self._written(), *self._heard(_answered)]
        if stage.system is not None:  # else who began and ended what, until it died, is another one under each seed
            lines += [*_ended(stage.told), *_begun(stage.told, stage.calls.begun), *self._pause(), *self._timers()]
        return lines or ["nothing"]

    def _heard(self, told: Callable[[Client], Iterable[str]]) -> Iterator[str]:
        """Of each client in turn."""
        for name, client in sorted(self._stage.clients.items()):
            who = "" if name == SCRIPT else f"{name}: "
            yield from (f"{who}{line}" for line in told(client))

    def _written(self) -> Iterator[str]:
        """What is new in tree/."""
        after = _tree_bytes(self._stage)
        for path, data in after.items():
            for line in data[len(self._tree.get(path, b"")) :].split(b"\n")[:-1]:
                yield described(line)

    def _pause(self) -> Iterator[str]:
        paused = self._stage.status().paused
        if paused != self._stage.paused:
            yield "calls may start again" if paused is None else f"no call starts: {paused}"
        self._stage.paused = paused

    def _timers(self) -> Iterator[str]:
        now_s = self._stage.clock.monotonic_s()
        for name, due_s in _due(self._stage).items():
            if due_s is not None and due_s != self._due[name]:
                yield f"{_TIMERS[name]} in {due_s - now_s:g} s"


def _tree_bytes(stage: Stage) -> dict[str, bytes]:
    return {f"tree/{name}": stage.disk.read(f"tree/{name}") for name in stage.disk.names("tree")}


def _due(stage: Stage) -> dict[str, float | None]:
    return {name: stage.scheduler.due_s(("planner", name)) for name in _TIMERS}


# --- answers ---


def _logged(client: Client) -> Iterator[str]:
    """The ids that appends got, and those that were refused."""
    heard = client.heard
    entries = [entry for answer in heard if isinstance(answer, AppendDone) for entry in answer.entries]
    new = [i for entry in entries if entry.new for i in range(entry.first, entry.first + entry.count)]
    if new:
        yield f"logged {shortly(new)}"
    for entry in entries:
        if not entry.new:
            yield f"logged before as {entry.first}" + (", with another text, which stays" if entry.differs else "")
    yield from (f"refused: {answer.why}" for answer in heard if isinstance(answer, AppendFailed))


def shortly(ids: list[int]) -> str:
    """`3`, `0-19`, `0-3 7`."""
    runs: list[list[int]] = []
    for i in ids:
        if runs and runs[-1][-1] + 1 == i:
            runs[-1].append(i)
        else:
            runs.append([i])
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _answered(client: Client) -> Iterator[str]:
    """What those hear who wait, or read."""
    for answer in client.heard:
        match answer:
            case ViewTaken(_, t, lines, unbuilt, paused):
                yield f"gets the view of {t}: {view_of(lines, set(unbuilt))}" + (f", since {paused}" if paused else "")
            case WaitFailed(_, why):
                yield f"waits in vain: {why}"
            case Settled(_, calls, left):
                yield f"settled; calls {calls}, unbuilt {left}"
            case SettleFailed(_, why):
                yield f"does not settle: {why}"
            case ViewTexts(_, texts):
                yield from _read(client, texts)


def _read(client: Client, texts: tuple[str, ...]) -> Iterator[str]:
    assert client.view is not None
    yield f"reads {len(texts)} lines, {sum(map(size, texts)):,} bytes"
    shown = [f"  {part.name}|{shortened(text)}" for part, text in zip(client.view.lines, texts, strict=True)]
    if len(shown) > 2 * LINES_SHOWN:
        shown[LINES_SHOWN:-LINES_SHOWN] = [f"  and {len(shown) - 2 * LINES_SHOWN} more"]
    yield from shown


def view_of(lines: tuple[Part, ...] | list[Part], unbuilt: set[Part]) -> str:
    """`0+4 4+2?`, where what is not built has a question mark."""
    return " ".join(f"{part.name}?" if part in unbuilt else part.name for part in lines) or "no lines"


def shortened(text: str) -> str:
    """One line of it, and its bytes where not all is shown."""
    flat = text.replace("\n", "⏎")
    return flat if len(flat) <= TEXT_CHARS_SHOWN else f"{flat[:TEXT_CHARS_SHOWN].rstrip('.')}… ({size(text)} bytes)"


# --- the tree ---


def described(line: bytes) -> str:
    """A line of tree/."""
    try:
        return told(decode_tree(line))
    except RecordError:
        return f"a broken line of {len(line)} bytes"


def told(record: TreeRecord) -> str:
    match record:
        case NodeRecord(part, text):
            return f"{part.name}|{shortened(text)}"
        case BatchRecord(merge, open_, t):
            state = "stays above its floor" if open_ else "is at its floor"
            return f"batch at {t}: {view_of(merge, set())}; the view {state}".replace("no lines", "merges nothing")
        case VoidRecord(void):
            return f"void: {view_of(void, set())}"


# --- calls ---


def _ended(told: list[Msg]) -> Iterator[str]:
    for message in told:
        match message:
            case BuildFailed(call, part, why, outage=outage):
                yield f"call {call} {'met an outage' if outage else 'failed'}: {part.name}, {why}"
            case StopBuild(call):
                yield f"call {call} is stopped"
            case Poisoned(why):
                yield f"nothing more is written: {why}"
            case Leaving():
                yield "the owner is to leave"
            case IndexLost(why):
                yield f"the index is lost: {why}"


def _begun(told: list[Msg], begun: list[Call]) -> Iterator[str]:
    """Lines that were ordered, and calls that the gate let through, or that ask once more."""
    sent = {call.order: call for call in begun}
    free = {message.call for message in told if isinstance(message, BuildDone) and not message.calls}
    ordered = {message.call: message for message in told if isinstance(message, StartBuild)}
    for number, order in sorted(ordered.items()):
        how = "" if number in sent else ", needs no model" if number in free else ", waits at the gate"
        seen = view_of(order.context, set()) if order.context else "nothing"
        yield f"call {number}: {order.part.name} sees {seen}{how}"
    for number, call in sorted(sent.items()):
        name = call.request.part.name
        if call.request.replies:
            yield f"call {number} asks again: {name}, since {size(call.request.replies[-1])} bytes are too long"
        elif number not in ordered:
            yield f"call {number} goes: {name}"
