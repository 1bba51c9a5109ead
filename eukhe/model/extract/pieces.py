"""A message taken apart into clauses, each with what it is worth. Pure: no clock, disk or threads.

A piece is a whole clause: a sentence, a line of a list, a line of a result. It is kept or dropped as one, so that a
negation or a condition stays with what it turns: a sentence that begins "But" or "Unless" belongs to the one before,
and a heading that negates ("Not done yet:") goes before each line under it.

In a line, pieces of one kind are joined by "; " and kinds are told apart by "; kind: ". So no piece holds "; ", nor
begins like a tag: what a message says stays inside the item of its own kind.
"""

import re
from typing import NamedTuple

from eukhe.limits import (
    EXTRACT_CODE_BOOST,
    EXTRACT_DECISION_BOOST,
    EXTRACT_FILLER_BOOST,
    EXTRACT_GLUED_BYTES_MAX,
    EXTRACT_HEAD_BOOST,
    EXTRACT_HEADING_BOOST,
    EXTRACT_LAST_BOOST,
    EXTRACT_LEAD_BYTES_MAX,
    EXTRACT_OUTCOME_BOOST,
    EXTRACT_PLAIN_BOOST,
)
from eukhe.model.extract.words import DECISION, OUTCOME, TURNING
from eukhe.model.text import cut, size

CUT = "…"
_TAG = re.compile(r"^(user|eukhe|talk|tool|echo|work|note): ")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1b\x7f\u200b\u202a-\u202e\u2066-\u2069\ufeff]")
_JOINT = re.compile(rf"; | (?={CUT}[^\s/])")  # "…/" is a path that was shortened
_SENTENCE = re.compile(rf" (?={CUT}[^\s/])|(?<=[.!?…。！？])(?<!e\.g\.)(?<!i\.e\.)(?<!\b\d\.)\s+|(?<=[。！？])|;\s+")
_MARK = re.compile(r"^(?:#{1,6}|[-*•>]|\|)\s+")
_RULE = re.compile(r"^[-=_*|:+`~\s]*$")
_SAID = re.compile(r"\w")
_WORD = re.compile(r"[^\W\d_][\w'’]*")
_TURNS = re.compile(r"^(?:but|however|except|unless|otherwise|though|although|aber)\b", re.I)
_TURNS_BESIDE = re.compile(r"^(?:only|instead|not|nur)\b", re.I)  # begins many a line of a list, which is its own
_FILLER = re.compile(
    r"^(?:(?:now |first,? |next,? |then )?(?:let me|let's|i'll|i will|i'm going to|i need to|i can see)\b"
    r"|(?:would you like|want me to|should i|shall i|do you want|does (?:this|that)|ready to)\b"
    r"|(?:great|perfect|good|excellent|sure|thanks|ok|okay)\b[^.!]{0,24}[.!])",
    re.I,
)


class Piece(NamedTuple):
    """A clause. `boost` is its worth against a plain one's, before the words in it count."""

    text: str
    boost: int


def plain(text: str) -> str:
    """The text without what can't be seen or reorders what can: control characters, colours, bidirectional marks."""
    return _INVISIBLE.sub("", _ANSI.sub("", text))


def tidy(text: str) -> str:
    """One clause on one line, which neither ends an item nor begins one; empty where it has no word."""
    if not _SAID.search(text):
        return ""
    if "\\" in text:
        text = text.replace("\\n", " ").replace("\\t", " ")
    text = " ".join(text.split()).replace("; ", ";").strip("; ")
    return _TAG.sub(r"\1:", text) if ": " in text else text


def shorten(text: str, bytes_max: int) -> str:
    """A clause cut at a word. A word in what is cut that turns the meaning stays, between two marks.

    >>> shorten("delete the old branch as soon as it can be done, but not if somebody has it checked out", 40)
    'delete the old branch as … but …'
    """
    if size(text) <= bytes_max:
        return text
    kept = cut(text, bytes_max - size(f" {CUT}"))
    at = kept.rfind(" ", len(kept) >> 1)
    turned = ""
    end = at if at > 0 else len(kept)
    for word in _WORD.findall(text[end : end + bytes_max]):
        if word.lower() in TURNING:
            turned = f" {word} {CUT}"
            break
    room = bytes_max - size(f" {CUT}{turned}")
    kept = cut(text[:end], room)
    if len(kept) < end and (at := kept.rfind(" ", len(kept) >> 1)) > 0:
        kept = kept[:at]
    return f"{kept.rstrip()} {CUT}{turned}".strip()


def prose(text: str) -> list[Piece]:
    """The clauses of what someone wrote, worth more where they tell of results, wishes and reasons."""
    found: list[Piece] = []
    lead, led, code = "", False, False  # what turns the lines under it, whether one has it, whether it is code
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("```"):
            code = not code
            continue
        if _RULE.match(line):
            continue
        heading = line.startswith("#")
        marked = _MARK.match(line)
        line = line[marked.end() :].rstrip("|").replace("**", "") if marked else line.replace("**", "")
        if code:
            if clause := tidy(line):
                found.append(Piece(clause, EXTRACT_CODE_BOOST))
            continue
        if heading:
            lead = ""
        if line.endswith(":") and size(line) <= EXTRACT_LEAD_BYTES_MAX and turned(line):
            lead, led = line + " ", False
            continue
        if heading:
            found.append(Piece(tidy(line), EXTRACT_HEADING_BOOST))
            continue
        if lead and led and not (marked or line[:1].isdigit()):
            lead = ""
        _sentences(lead + line, found)
        led = True
    return _placed(found)


def turned(text: str) -> bool:
    """Whether a word of it negates or conditions what follows."""
    return any(word.lower() in TURNING for word in _WORD.findall(text))


def split(text: str) -> list[str]:
    """The clauses of an item as a line has it: joined by "; ", names before a space."""
    return _JOINT.split(text)


def _sentences(line: str, found: list[Piece]) -> None:
    first = True
    for part in _SENTENCE.split(line):
        clause = tidy(part)
        if not clause:
            continue
        if found and (_TURNS.match(clause) or (not first and _TURNS_BESIDE.match(clause))):
            glued = f"{found[-1].text} {clause}"
            if size(glued) <= EXTRACT_GLUED_BYTES_MAX:
                found[-1] = Piece(glued, max(found[-1].boost, _boost(clause)))
                continue
        first = False
        found.append(Piece(clause, _boost(clause)))


def _boost(clause: str) -> int:
    if _FILLER.match(clause):
        return EXTRACT_FILLER_BOOST
    words = {word.lower() for word in _WORD.findall(clause)}
    boost = EXTRACT_PLAIN_BOOST
    if not words.isdisjoint(OUTCOME):
        boost += EXTRACT_OUTCOME_BOOST
    if not words.isdisjoint(DECISION):
        boost += EXTRACT_DECISION_BOOST
    return boost


def _placed(pieces: list[Piece]) -> list[Piece]:
    """The first and the last clause count more, lines of code apart."""
    for at, extra in ((0, EXTRACT_HEAD_BOOST), (-1, EXTRACT_LAST_BOOST)):
        if pieces and pieces[at].boost > EXTRACT_CODE_BOOST:
            pieces[at] = Piece(pieces[at].text, pieces[at].boost + extra - EXTRACT_PLAIN_BOOST)
    return pieces
