"""Sessions of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, a record a line.

A record has its own `uuid` and names the one before it as `parentUuid`; copies of it, in a resumed or forked session
or after a compaction, have the same uuid. Lines of the queue have none. A subagent talks in lines marked
`isSidechain`, inside its master's file or in one of its own; its report is the result of the master's call, so its
talk is no message, unless no file given has that result: then the last thing it said is its report.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from eukhe.limits import IMAGE_BYTES_MAX
from eukhe.model.text import clean, clip
from eukhe.world.transcripts.catalog import Catalog, Entry, Place
from eukhe.world.transcripts.claude_pieces import (
    Fault,
    Piece,
    content_blocks,
    is_launch_note,
    message_blocks,
    pieces,
    queued,
    report_of,
    talk,
    text_of,
)
from eukhe.world.transcripts.claude_queue import ATTACHMENT, UNSAID, scan_queue, settle_queue, twin_of
from eukhe.world.transcripts.claude_user import reported_tasks
from eukhe.world.transcripts.identity import identity, own_id, short
from eukhe.world.transcripts.images import BadImage, image_bytes
from eukhe.world.transcripts.lines import Record
from eukhe.world.transcripts.said import Said, Unreadable, unreadable

_AGENT = "agent"  # the role of a subagent's last words, and what a record of its talk is until then
_EPOCH = datetime.fromtimestamp(0, UTC)
_MS = timedelta(milliseconds=1)
_WARMUP = "Warmup"  # the whole prompt of a subagent that was only started to fill a cache
_TALK = frozenset({"user", "assistant"})


class Claude:
    """The reader of session files."""

    name = "claude-code"
    whole_file = False

    def opens(self, head: bytes) -> bool:
        return False

    def knows(self, record: Record) -> bool:
        match record:
            case {"type": "user" | "assistant", "message": dict(), "sessionId": str()}:
                return True
            case {"type": "system" | "progress" | "attachment", "uuid": str(), "sessionId": str()}:
                return True
            case {"type": "queue-operation", "operation": str(), "sessionId": str()}:
                return True
            case {"type": "file-history-snapshot", "messageId": str()} | {"type": "summary", "leafUuid": str()}:
                return True
            case {"type": "permission-mode" | "mode" | "custom-title" | "ai-title" | "last-prompt", "sessionId": str()}:
                return True
        return False

    def records(self, record: Record) -> Sequence[Record]:
        return (record,)

    def scan(self, record: Record, place: Place, catalog: Catalog) -> None:
        if isinstance(session := record.get("sessionId"), str):
            catalog.session = short(session)
        if (moment := _moment(record)) is not None:
            catalog.ms = (moment - _EPOCH) // _MS
        _note_agents(record, catalog)
        if record.get("type") == "queue-operation":
            scan_queue(record, place, catalog)
            return
        if record.get("type") in _TALK and not record.get("isSidechain"):
            catalog.count("master", str(catalog.file))
        role, twin = _role(record)
        says = role != _AGENT and any(True for _ in pieces(record))
        if role == ATTACHMENT and not says:
            role = UNSAID
        name, parent = _name(record.get("uuid")), _name(record.get("parentUuid"))
        content = [record.get("type"), record.get("timestamp"), record.get("message"), record.get("attachment")]
        if name:
            id_ = own_id(name, content)
        elif says or role:
            id_ = identity(catalog, "record", content, dated=isinstance(record.get("timestamp"), str))
        else:
            return
        catalog.note(place, id_, name=name, parent=parent, says=says, role=role, twin=twin)

    def settle(self, catalog: Catalog) -> None:
        settle_queue(catalog)
        # An agent's own file has no talk but its own. Of its last words, the last copy by time: a file may have grown.
        catalog.sql.execute(
            "UPDATE record SET says = 1 WHERE rowid IN (SELECT r FROM (SELECT rowid AS r, ROW_NUMBER() OVER"
            " (PARTITION BY twin ORDER BY ms DESC, at DESC, nth DESC) AS n FROM record WHERE role = 'agent'"
            "  AND NOT EXISTS (SELECT 1 FROM seen WHERE what = 'master' AND name = CAST(file AS TEXT))"
            "  AND NOT EXISTS (SELECT 1 FROM seen WHERE what = 'reported' AND name = twin)) WHERE n = 1)"
        )

    def say(self, record: Record, entry: Entry, catalog: Catalog) -> Iterator[Said | Unreadable]:
        moment = _moment(record)
        if moment is None:
            moment = _EPOCH + entry.ms * _MS
        date = moment.isoformat(timespec="seconds")
        for piece in _pieces_by_role(record, entry.role):
            if isinstance(piece, Fault):
                yield unreadable(entry.path, entry.place.line, piece.why)
                continue
            kind, text = piece.kind, piece.text
            is_report = piece.call and catalog.has("agent call", short(piece.call))
            if is_report and (report := report_of(record, piece.part)):
                kind, text = "work", report
            images = []
            for block in piece.images:
                try:
                    images.append(image_bytes(block, IMAGE_BYTES_MAX))
                except BadImage as error:
                    yield unreadable(entry.path, entry.place.line, str(error))
            if kind == "user" and not text and not images:
                continue
            text = clip(clean(text)) if kind == "echo" else clean(text)
            yield Said(kind, text, date, f"claude:{entry.id}:{piece.part}", tuple(images))


def _pieces_by_role(record: Record, role: str) -> Iterator[Piece | Fault]:
    match role:
        case "queue":
            return queued(record.get("content"))
        case "agent":
            return _last_words(record)
        case _:
            return pieces(record)


def _last_words(record: Record) -> Iterator[Piece | Fault]:
    """What a subagent said last, as its report."""
    return (piece._replace(kind="work") for piece in talk(record))


def _role(record: Record) -> tuple[str, str | None]:
    """The record's role and its twin's mark, or the agent's id."""
    match record:
        case {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt}}:
            return ATTACHMENT, twin_of(prompt)
        case {"type": "assistant", "isSidechain": True, "agentId": str(agent)} if any(True for _ in talk(record)):
            return _AGENT, short(agent)
    return "", None


def _note_agents(record: Record, catalog: Catalog) -> None:
    """Notes calls for agents, and the agents whose reports are there or are none."""
    match record:
        case {"agentId": str(agent)} if text_of(message_blocks(record)) == _WARMUP:
            catalog.count("reported", short(agent))
        case {"toolUseResult": {"agentId": str(agent)}} if not is_launch_note(record, ""):
            catalog.count("reported", short(agent))
    for block in message_blocks(record):
        match block:
            case {"type": "tool_use", "name": "Task" | "Agent", "id": str(call)}:
                catalog.count("agent call", short(call))
    for text in _notifying_texts(record):
        for task in reported_tasks(text):
            catalog.count("reported", short(task))


def _notifying_texts(record: Record) -> Iterator[str]:
    """The texts in which reports of background tasks may stand."""
    match record:
        case {"type": "user"} if not record.get("isSidechain"):
            yield text_of(message_blocks(record))
        case {"type": "queue-operation", "content": content}:
            yield text_of(content_blocks(content))
        case {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt}}:
            yield text_of(content_blocks(prompt))


def _name(uuid: Any) -> str | None:
    return short(uuid) if isinstance(uuid, str) and uuid else None


def _moment(record: Record) -> datetime | None:
    """The record's time; one without a zone is taken as UTC, as all of this program's are."""
    stamp = record.get("timestamp")
    if not isinstance(stamp, str):
        return None
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
