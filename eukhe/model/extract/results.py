"""A tool's result: the error or the outcome. Pure: no clock, disk or threads.

Worth most are lines that report an error, a failed test, a refusal, an exit code; then the sums ("3 failed, 12
passed", "29 files changed"); then how the result begins and ends. Line numbers and times are taken off; what all lines
begin with is said once.
"""

import re

from eukhe.limits import (
    EXTRACT_CODE_BOOST,
    EXTRACT_COUNT_BOOST,
    EXTRACT_ERROR_BOOST,
    EXTRACT_FILLER_BOOST,
    EXTRACT_HEAD_BOOST,
    EXTRACT_LAST_BOOST,
    EXTRACT_PLAIN_BOOST,
    EXTRACT_PREFIX_CHARS_MIN,
    EXTRACT_PREFIX_LINES_MIN,
)
from eukhe.model.extract.calls import leaves
from eukhe.model.extract.pieces import Piece, split, tidy, turned


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split(";"))


_NUMBERED = re.compile(r"^ {0,8}\d{1,6}[→\t:|-]")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]{0,10}Z?\s?")
_ERROR = _phrases(
    """
    error; fail; panic; exception; traceback; fatal; denied; refused; rejected; blocked; not found; no such; cannot ;
    can't; doesn't want; doesn't exist; does not exist; undefined; exit code; requires approval; require approval;
    timed out; conflict; abort
    """
)
_CODE = re.compile(r"^(?://|#)|\b(?:return|if err|func|def|const|import|assert\.|require\.|t\.Errorf)\b|[{}]$")
_ROUTINE = re.compile(r"\bsuccessfully\b|\bha(?:s|ve) been (?:updated|modified|created|written)\b")
_OPENED = re.compile(r"<([a-z][a-z_-]{2,30})>")
_CLOSED = re.compile(r"</[a-z][a-z_-]{2,30}>")
_ALIKE = re.compile(r"ok\s|--- (?:PASS|SKIP)|=== (?:RUN|CONT|PAUSE)|\?\s|PASS\b|✓")
_COUNT = re.compile(
    r"(?<!\d)\d{1,9} (?:issue|file|passed|failed|error|warning|test|insertion|match|line|occurrence)"
    r"|^(?:ok|pass|fail)\s|^found \d"
)


def result(text: str) -> list[Piece]:
    """The pieces of a result."""
    stripped = text.strip()
    fields = leaves(stripped)
    if fields is not None:
        return [Piece(piece.text, _boost(piece.text)) for piece in fields if piece.text]
    numbered = 0
    lines = []
    for raw in stripped.split("\n") if "\n" in stripped else split(stripped):
        mark = _NUMBERED.match(raw)
        if mark and "→" in mark.group():
            numbered += 1
            raw = raw[mark.end() :]
        line = _TIME.sub("", raw).strip()
        if line:
            lines.append(line)
    if numbered << 1 > len(lines):
        return [Piece(tidy(line), EXTRACT_CODE_BOOST) for line in lines]
    head, lines = _prefix(_alike(lines))
    pieces = [Piece(tidy(_bare(line)), _boost(line)) for line in lines]
    for at, boost in ((-1, EXTRACT_LAST_BOOST), (0, EXTRACT_HEAD_BOOST)):
        if pieces and EXTRACT_CODE_BOOST < pieces[at].boost < boost:
            pieces[at] = Piece(pieces[at].text, boost)
    if head:
        pieces.insert(0, Piece(tidy(head), EXTRACT_HEAD_BOOST))
    return pieces


def _bare(line: str) -> str:
    """The line with what its elements say, without their brackets."""
    return _CLOSED.sub("", _OPENED.sub(r"\1: ", line)) if "<" in line else line


def _boost(line: str) -> int:
    if _CODE.search(line):
        return EXTRACT_CODE_BOOST
    lower = line.lower()
    if any(error in lower for error in _ERROR):
        return EXTRACT_ERROR_BOOST
    if _ROUTINE.search(lower):
        return EXTRACT_FILLER_BOOST
    return EXTRACT_COUNT_BOOST if _COUNT.search(lower) else EXTRACT_PLAIN_BOOST


def _alike(lines: list[str]) -> list[str]:
    """The lines, of those that say the same of test after test one of each sort, and how many there are."""
    sorts: dict[str, list[str]] = {}
    for line in lines:
        if mark := _ALIKE.match(line):
            sorts.setdefault(mark.group(), []).append(line)
    kept = [line for line in lines if not _ALIKE.match(line)]
    return kept + [same[0] if len(same) == 1 else f"{same[0]} ({len(same)} such lines)" for same in sorts.values()]


def _prefix(lines: list[str]) -> tuple[str, list[str]]:
    """What all lines begin with, up to its last slash or blank, and the lines without it.

    What negates them, or calls them errors, stays with each.
    """
    if len(lines) < EXTRACT_PREFIX_LINES_MIN:
        return "", lines
    first, last = min(lines), max(lines)  # what these two begin with, all others do
    same = 0
    while same < len(first) and first[same : same + 1] == last[same : same + 1]:
        same += 1
    head = first[:same]
    head = head[: max(head.rfind("/"), head.rfind(" ")) + 1]
    if len(head) < EXTRACT_PREFIX_CHARS_MIN or turned(head) or _boost(head) == EXTRACT_ERROR_BOOST:
        return "", lines
    return head, [line[len(head) :] for line in lines]
