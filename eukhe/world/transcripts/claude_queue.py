"""Prompts typed while Claude Code worked. They stand in its queue's lines, and often nowhere else.

`enqueue` carries what was typed. Then: `remove`, it was taken into the running turn, so it was said, at that place;
`dequeue`, an ordinary user line follows; `popAll`, it went back into the editor. The last three may name the text or
not; without one the first in is the first out. What is still waiting when the file ends was not said yet.

Newer versions also write an attachment when such a prompt reaches the model, before its `remove` or behind it. Each
attachment is paired with the queue's prompt of the same text in the same file, the first with the first. Of a pair the
one that is written first speaks, so that it stays the same when the other is written later.
"""

from typing import Any, NamedTuple

from eukhe.world.transcripts.catalog import Catalog, Place
from eukhe.world.transcripts.claude_pieces import content_blocks, queued, text_of
from eukhe.world.transcripts.identity import digest, identity
from eukhe.world.transcripts.lines import Record

QUEUE = "queue"
ATTACHMENT = "attachment"
UNSAID = "unsaid"  # the role of an attachment in which nothing is said


class _Waiting(NamedTuple):
    """A prompt in the queue: its place and time, its id, its twin's mark, whether it says anything."""

    start: int
    nth: int
    line: int
    length: int
    ms: int | None
    id: str
    twin: str
    says: bool


def scan_queue(record: Record, place: Place, catalog: Catalog) -> None:
    """Notes a line of the queue, and the prompt that it says was taken into the turn."""
    content = record.get("content")
    match record.get("operation"):
        case "enqueue":
            _put(_typed(record, place, catalog), catalog)
        case "remove":
            prompt = _take(content, catalog)
            if prompt is None and content:
                prompt = _typed(record, place, catalog)  # its enqueue is not in this file
            if prompt is not None:
                source = Place(prompt.line, prompt.start, prompt.length, prompt.nth)
                catalog.note(
                    source, prompt.id, says=prompt.says, role=QUEUE, twin=prompt.twin, at=place.start, ms=prompt.ms
                )
        case "dequeue":
            _take(content, catalog)
        case "popAll":
            if not content or _take(content, catalog) is None:
                catalog.sql.execute(
                    "DELETE FROM waiting WHERE file = ? AND session = ?", (catalog.file, catalog.session)
                )


def twin_of(content: Any) -> str:
    """What a prompt has in common in all the places where it may be written."""
    return digest(text_of(content_blocks(content)).strip().encode())


def settle_queue(catalog: Catalog) -> None:
    """Silences, of each pair, what is written last: in its file, and wherever it was copied to.

    An attachment that says nothing tells that its prompt was not the user's: then both are silent.
    """
    catalog.sql.execute(
        "WITH one AS (SELECT file, session, twin, role, id, MIN(rowid) AS r FROM record WHERE twin NOT NULL"
        "             AND role IN ('queue', 'attachment', 'unsaid') GROUP BY file, role, id),"
        " numbered AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY file, session, twin, role = 'queue' ORDER BY r)"
        "             AS n FROM one)"
        " UPDATE record SET says = 0 WHERE twin NOT NULL AND id IN (SELECT late.id FROM numbered late"
        " JOIN numbered early USING (file, session, twin, n) WHERE (late.role = 'queue') <> (early.role = 'queue')"
        "  AND (late.r > early.r OR early.role = 'unsaid'))"
    )


def _typed(record: Record, place: Place, catalog: Catalog) -> _Waiting:
    content, typed_at = record.get("content"), record.get("timestamp")
    id_ = identity(catalog, "queue", [typed_at, content], dated=isinstance(typed_at, str))
    says = any(True for _ in queued(content))
    return _Waiting(place.start, place.nth, place.line, place.length, catalog.ms, id_, twin_of(content), says)


def _put(prompt: _Waiting, catalog: Catalog) -> None:
    catalog.sql.execute("INSERT INTO waiting VALUES (?,?,?,?,?,?,?,?,?,?)", (catalog.file, catalog.session, *prompt))


def _take(content: Any, catalog: Catalog) -> _Waiting | None:
    """Takes the first prompt of this content out of the queue; the first of all when none is named."""
    row = catalog.sql.execute(
        "SELECT rowid, start, nth, line, length, ms, id, twin, says FROM waiting"
        " WHERE file = ?1 AND session = ?2 AND (?3 IS NULL OR twin = ?3) ORDER BY rowid LIMIT 1",
        (catalog.file, catalog.session, twin_of(content) if content else None),
    ).fetchone()
    if row is None:
        return None
    catalog.sql.execute("DELETE FROM waiting WHERE rowid = ?", (row[0],))
    return _Waiting(*row[1:])
