"""What a transcript can show: the views, the queue, the calls, the logs and all files."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from eukhe.actors.opening import saved_view
from eukhe.model.part import Part
from eukhe.model.record import MessageRecord, RecordError, decode_main
from eukhe.model.saved_view import VIEW_FILE, read_view
from eukhe.model.verify import Verification
from eukhe.model.view import View
from eukhe.sim.transcript_outcome import described, shortened, view_of
from eukhe.sim.transcript_stage import Stage, told_problem


def _view(stage: Stage) -> Iterator[str]:
    chat = stage.chat
    yield _viewed(chat.view, chat.shrinking)


def _compaction_view(stage: Stage) -> Iterator[str]:
    yield _viewed(stage.chat.compaction_view)


def _viewed(view: View, shrinking: bool = False) -> str:
    parts = view.parts()
    unbuilt = {part for part in parts if part.start in view.unbuilt}
    return f"{view_of(parts, unbuilt)} ({view.size:,} bytes{', shrinking' if shrinking else ''})"


def _queue(stage: Stage) -> Iterator[str]:
    """What would start if a slot were free, as far as there are any."""
    status = stage.status()
    queued = [] if status.paused else stage.chat.queue(need=bool(status.waiting))
    yield view_of(queued, set()).replace("no lines", "nothing can start")
    parked = sorted(stage.chat.parked)
    if parked:
        yield "parked: " + view_of([Part(*part) for part in parked], set())


def _calls(stage: Stage) -> Iterator[str]:
    running = sorted((call.order, call.request.part.name) for call in stage.calls.running.values())
    yield from (f"call {number}: {name}" for number, name in running)
    waiting = stage.status().running - len(running)
    if waiting or not running:
        yield f"at the gate: {waiting}" if waiting else "none"


def _status(stage: Stage) -> Iterator[str]:
    status = stage.status()
    yield f"messages {status.t}, nodes {status.nodes}, view {status.view_bytes:,} bytes, unbuilt {status.unsummarized}"
    yield f"calls {status.running}, parked {status.parked}, waiting {status.waiting}"
    if status.paused:
        yield f"no call starts: {status.paused}"
    if status.last_error:
        yield f"failed last: {status.last_error}"


def _log(stage: Stage) -> Iterator[str]:
    for _, line in _lines(stage, "main"):
        try:
            record = decode_main(line)
        except RecordError:
            yield f"a broken line of {len(line)} bytes"
            continue
        if isinstance(record, MessageRecord):
            key = f" key {record.key}" if record.key else ""
            date = record.date.partition("+")[0]
            yield f"{record.i} {date.replace('T', ' ')} {shortened(record.label)}{key}"


def _tree(stage: Stage) -> Iterator[str]:
    yield from (described(line) for _, line in _lines(stage, "tree"))


def _lines(stage: Stage, folder: str) -> Iterator[tuple[str, bytes]]:
    for name in stage.disk.names(folder):
        path = f"{folder}/{name}"
        yield from ((path, line) for line in stage.disk.read(path).split(b"\n") if line)


def _files(stage: Stage) -> Iterator[str]:
    """How many lines, and what of an unfinished one; of view.json what it says."""
    for folder in ("main", "tree"):
        for name in stage.disk.names(folder):
            *lines, rest = stage.disk.read(f"{folder}/{name}").split(b"\n")
            torn = f", and {len(rest)} bytes without an end" if rest else ""
            yield f"{folder}/{name}: {len(lines)} lines{torn}"
    if stage.disk.length(VIEW_FILE) is not None:
        parts = read_view(stage.disk.read(VIEW_FILE))
        yield f"{VIEW_FILE}: " + ("broken" if parts is None else view_of(parts, set()))


def _verify(stage: Stage) -> Iterator[str]:
    """Whether the files agree, as `eukhe chat verify` would say."""
    for problem in Verification(stage.disk.files("main"), stage.disk.files("tree"), saved_view(stage.disk)).problems():
        yield f"{'harmless: ' if problem.harmless else ''}{told_problem(problem)}"


Show = Callable[[Stage], Iterator[str]]
SHOWS: Final[dict[str, Show]] = {
    "view": _view,
    "compaction view": _compaction_view,
    "queue": _queue,
    "calls": _calls,
    "status": _status,
    "log": _log,
    "tree": _tree,
    "files": _files,
    "verify": _verify,
}
OF_FILES: Final = {"log", "tree", "files", "verify"}
"""These are shown also where no owner runs."""


def shown(command: str, stage: Stage) -> Sequence[str]:
    """What a command shows, never nothing."""
    return list(SHOWS[command](stage)) or ["nothing"]
