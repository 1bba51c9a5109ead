"""Changing a passage of a file, and a change as people read it. Pure: no clock, disk or threads."""

import difflib
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from eukhe.limits import (
    DIFF_CHARS_MAX,
    DIFF_CONTEXT_LINES,
    DIFF_LINES_MAX,
    DIFF_MATCHED_LINES_MAX,
    EDIT_NEAR_CHARS_MAX,
    EDIT_NEAR_LINES_MAX,
    EDIT_NEAR_SHARE,
    EDIT_PLACES_SHOWN,
)
from eukhe.model.text import clip

_NEWLINE = re.compile("\r?\n")


class Edited(NamedTuple):
    """The whole text after it, and in how many places it was changed."""

    text: str
    places: int


class NoEdit(NamedTuple):
    """It can't be done; `why` is for the model."""

    why: str


def edit(text: str, old: str, new: str, *, everywhere: bool = False) -> Edited | NoEdit:
    """Puts `new` where `old` stands: in its one place, or everywhere.

    A model sees and gives plain newlines; in a file whose lines end in CRLF they stand for that.
    """
    if old == new:
        return NoEdit("`old` and `new` are the same: there is nothing to change.")
    if "\r\n" in text and (old not in text or text.count("\n") == text.count("\r\n")):
        old, new = (_NEWLINE.sub("\r\n", part) for part in (old, new))
    places = text.count(old)
    if places == 0:
        return NoEdit("`old` does not stand in it to the letter." + _nearest(text, old))
    if places > 1 and not everywhere:
        lines = ", ".join(map(str, islice(_lines_of(text, old), EDIT_PLACES_SHOWN)))
        more = ", …" if places > EDIT_PLACES_SHOWN else ""
        return NoEdit(f"`old` stands in it {places} times, at lines {lines}{more}: give more around it, or set `all`.")
    return Edited(text.replace(old, new), places)


def diff(path: str, before: str | None, after: str) -> str:
    """A change as a unified diff, bounded. `before` is None of a file that is not there yet."""
    old, new = _lines([] if before is None else before.split("\n")), _lines(after.split("\n"))
    same = _same_at_start(old, new)
    tail = _same_at_start(old[same:][::-1], new[same:][::-1])
    skipped = max(same - DIFF_CONTEXT_LINES, 0)
    left = max(tail - DIFF_CONTEXT_LINES, 0)
    lines = _hunks(old[skipped : len(old) - left], new[skipped : len(new) - left], skipped)
    head = [f"--- {path if before is not None else 'no file'}", f"+++ {path}"]
    shown = list(islice(lines, DIFF_LINES_MAX + 1))
    if len(shown) > DIFF_LINES_MAX:
        shown[-1] = "[and more]"
    return clip("\n".join(head + shown), DIFF_CHARS_MAX)


def _lines(parts: list[str]) -> list[str]:
    """Its lines. A last one without a newline says so, as it is another than one with."""
    if parts and parts[-1]:
        return [*parts[:-1], f"{parts[-1]}\n\\ no newline at its end"]
    return parts[:-1]


def _same_at_start(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _hunks(old: list[str], new: list[str], skipped: int) -> Iterator[str]:
    """What differs, with some lines around it. Of very many lines the places that are alike are not looked for."""
    if len(old) + len(new) > DIFF_MATCHED_LINES_MAX:
        groups = [[("replace", 0, len(old), 0, len(new))]]
    else:
        groups = list(difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(DIFF_CONTEXT_LINES))
    for group in groups:
        (_, first, _, now, _), (_, _, last, _, then) = group[0], group[-1]
        yield f"@@ -{skipped + first + 1},{last - first} +{skipped + now + 1},{then - now} @@"
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[a:b])
            else:
                yield from (f"-{line}" for line in old[a:b])
                yield from (f"+{line}" for line in new[c:d])


def _lines_of(text: str, passage: str) -> Iterator[int]:
    """The lines in which a passage begins, from 1."""
    at, line, end = text.find(passage), 1, 0
    while at >= 0:
        line += text.count("\n", end, at)
        yield line
        end = at
        at = text.find(passage, at + len(passage))


def _nearest(text: str, old: str) -> str:
    """A word on the line that is nearest to the passage's first, where one is near; empty where none is."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")[:EDIT_NEAR_CHARS_MAX]
    lines = [line.strip()[:EDIT_NEAR_CHARS_MAX] for line in text.split("\n", EDIT_NEAR_LINES_MAX)[:EDIT_NEAR_LINES_MAX]]
    near = [wanted] if wanted in lines else difflib.get_close_matches(wanted, lines, 1, EDIT_NEAR_SHARE)
    if not wanted or not near:
        return ""
    return f" The nearest to its first line is line {lines.index(near[0]) + 1}: {near[0]}"
