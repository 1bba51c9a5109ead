"""Prompts typed while Claude Code worked. They stand in its queue's lines, and often nowhere else.

`enqueue` carries what was typed. Then: `remove`, it was taken into the running turn, so it was said, at that place;
`dequeue`, an ordinary user line follows; `popAll`, it went back into the editor. The last three may name the text or
not; without one it is the first in that is the first out. What is still waiting when the file ends was not said yet.

Newer versions also write an attachment when such a prompt reaches the model. Each attachment is paired with the queue's
prompt of the same text in the same file, the first with the first; paired, it says nothing of its own.
"""

from typing import Any

from eukhe.world.transcripts.catalog import Catalog, Place
from eukhe.world.transcripts.claude_pieces import content_blocks, text_of
from eukhe.world.transcripts.identity import as_json, digest, identity
from eukhe.world.transcripts.lines import Record

QUEUE = "queue"
ATTACHMENT = "attachment"


def scan_queue(record: Record, place: Place, catalog: Catalog) -> None:
    """Notes a line of the queue, and the prompt that it says was taken into the turn."""
    match record.get("operation"):
        case "enqueue":
            _enqueue(record, place, catalog)
        case "remove":
            _remove(record, place, catalog)
        case "dequeue":
            _take(record.get("content"), catalog)
        case "popAll":
            if not record.get("content") or _take(record["content"], catalog) is None:
                catalog.sql.execute(
                    "DELETE FROM waiting WHERE file = ? AND session = ?", (catalog.file, catalog.session)
                )


def twin_of(content: Any) -> str:
    """What a prompt has in common in all the places where it may be written."""
    return digest(text_of(content_blocks(content)).strip().encode())


def settle_queue(catalog: Catalog) -> None:
    """Silences the attachments whose prompts the queue has given already."""
    catalog.sql.execute(
        "WITH one AS (SELECT file, session, twin, role, id, MIN(rowid) AS r FROM record WHERE twin NOT NULL"
        "             AND role IN ('queue', 'attachment') GROUP BY file, role, id),"
        " numbered AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY file, session, twin, role ORDER BY r) AS n FROM one)"
        " UPDATE record SET says = 0 WHERE role = 'attachment' AND id IN (SELECT a.id FROM numbered a JOIN numbered q"
        " USING (file, session, twin, n) WHERE a.role = 'attachment' AND q.role = 'queue')"
    )


def _enqueue(record: Record, place: Place, catalog: Catalog) -> None:
    content = record.get("content")
    key = identity(catalog, "queue", as_json([record.get("timestamp"), content]).encode(), "timestamp" in record)
    catalog.sql.execute(
        "INSERT INTO waiting VALUES (?,?,?,?,?,?,?,?,?)",
        (
            catalog.file,
            catalog.session,
            twin_of(content),
            place.start,
            place.nth,
            place.line,
            place.length,
            catalog.ms,
            key,
        ),
    )


def _remove(record: Record, place: Place, catalog: Catalog) -> None:
    content = record.get("content")
    taken = _take(content, catalog)
    if taken:
        start, nth, line, length, ms, key, twin = taken
        source = Place(line, start, length, nth)
    elif content:  # its enqueue is not in this file
        source, ms, twin = place, catalog.ms, twin_of(content)
        key = identity(catalog, "queue", as_json([record.get("timestamp"), content]).encode(), "timestamp" in record)
    else:
        return
    catalog.note(source, key, says=True, role=QUEUE, twin=twin, at=place.start, ms=ms)


def _take(content: Any, catalog: Catalog) -> tuple[Any, ...] | None:
    """Takes from the queue the first prompt of this content, or the first one when none is named."""
    where = "FROM waiting WHERE file = ? AND session = ?"
    bound: list[Any] = [catalog.file, catalog.session]
    if content:
        where += " AND hash = ?"
        bound.append(twin_of(content))
    row = catalog.sql.execute(
        f"SELECT start, nth, line, length, ms, key, hash, rowid {where} ORDER BY rowid LIMIT 1", bound
    ).fetchone()
    if row is None:
        return None
    catalog.sql.execute("DELETE FROM waiting WHERE rowid = ?", (row[-1],))
    return tuple(row[:-1])
