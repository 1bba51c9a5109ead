"""Fills a line by worth. Pure: no clock, disk or threads.

The clauses that say most for their bytes stand whole; of the others the names that no clause has said yet are listed
after a "…", in the place where the clause stood. A word counts once a line: what is said again is worth little. Of a
merge's halves, the one that has had more than half of the bytes pays double for more.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from eukhe.limits import (
    EXTRACT_CUT_BYTES_MIN,
    EXTRACT_KIND_WORTH,
    EXTRACT_NAME_BYTES_MAX,
    EXTRACT_NAME_EVEN,
    EXTRACT_PHRASE_PERCENT,
    EXTRACT_RUNS_MAX,
)
from eukhe.model.extract.pieces import CUT, shorten
from eukhe.model.extract.words import TOKEN, key, worth
from eukhe.model.text import cut, size

_SCALE = 1 << 16  # densities are whole numbers
_ENDS = ".!?…:"


class Clause(NamedTuple):
    """A piece in its line: whose it is, and from which half."""

    kind: str
    text: str
    boost: int
    half: int = 0

    @property
    def names_only(self) -> bool:
        """A list of names that an earlier line made of what it dropped."""
        return self.text.startswith(CUT) and len(self.text) > 1


def fill(clauses: Sequence[Clause], bytes_max: int) -> str:
    """A line of at most `bytes_max` bytes, of at least one clause."""
    whole = render([(clause.kind, clause.text) for clause in clauses])
    if size(whole) <= bytes_max:
        return whole
    words = [TOKEN.findall(clause.text) for clause in clauses]
    shown = _phrases(clauses, words, bytes_max * EXTRACT_PHRASE_PERCENT // 100)  # number: percent
    used = size(_line(clauses, shown, {}))
    names = _names(clauses, words, shown, bytes_max - used)
    while size(line := _line(clauses, shown, _by_clause(names))) > bytes_max:
        if names:
            names.pop()
        else:
            return cut(line, bytes_max).rstrip()
    return line


def render(parts: Sequence[tuple[str, str]]) -> str:
    """Items one after another, each with its kind; what follows in the same kind needs no new tag."""
    kinds = [kind for at, (kind, _) in enumerate(parts) if at == 0 or parts[at - 1][0] != kind]
    if len(kinds) > EXTRACT_RUNS_MAX:
        parts = sorted(parts, key=lambda part: kinds.index(part[0]))
    line = before = ""
    for kind, text in parts:
        if kind != before:
            line += f"; {kind}: {text}" if line else f"{kind}: {text}"
        elif text[0] == CUT and len(text) > 1 and line.rpartition("; ")[2].startswith(CUT):
            line += f", {text[1:]}"
        else:
            line += f" {text}" if line[-1] in _ENDS else f"; {text}"
        before = kind
    return line


def _phrases(clauses: Sequence[Clause], words: Sequence[list[str]], bytes_max: int) -> dict[int, str]:
    """The clauses that stand whole, by their place; one that is too long is cut."""
    said: set[str] = set()
    ranked: list[tuple[int, int, int]] = []
    for at in sorted(range(len(clauses)), key=lambda at: -clauses[at].boost * EXTRACT_KIND_WORTH[clauses[at].kind]):
        clause = clauses[at]
        if clause.names_only:
            continue
        gain = 1
        for word in words[at]:
            if (name := key(word)) not in said:
                said.add(name)
                gain += worth(word)
        value = gain * clause.boost * EXTRACT_KIND_WORTH[clause.kind]
        ranked.append((value * _SCALE // (size(clause.text) + 2), clause.half, at))
    shown: dict[int, str] = {}
    used = 0
    for at in _shared(ranked, lambda at: size(clauses[at].text) + 2, bytes_max):
        clause = clauses[at]
        room = bytes_max - used
        if size(clause.text) > room:
            if room < EXTRACT_CUT_BYTES_MIN or (shown and clause.kind != "user"):
                continue
            shown[at] = shorten(clause.text, room)
        else:
            shown[at] = clause.text
        used += size(shown[at]) + 2
    return shown


def _names(
    clauses: Sequence[Clause], words: Sequence[list[str]], shown: dict[int, str], bytes_max: int
) -> list[tuple[int, str]]:
    """Names of the other clauses and the clause each is from, best first."""
    said = {key(word) for text in shown.values() for word in TOKEN.findall(text)}
    ranked: list[tuple[int, int, int]] = []
    found: list[tuple[int, str]] = []
    for at, clause in enumerate(clauses):
        if shown.get(at) == clause.text:
            continue
        for word in words[at]:
            name = key(word)
            if name in said or not (points := worth(word)) or len(word) > EXTRACT_NAME_BYTES_MAX:
                continue
            said.add(name)
            value = points * (EXTRACT_KIND_WORTH[clause.kind] + EXTRACT_NAME_EVEN)
            ranked.append((value * _SCALE // (size(word) + 2), clause.half, len(found)))
            found.append((at, word))
    names: list[tuple[int, str]] = []
    used = 0
    for place in _shared(ranked, lambda place: size(found[place][1]) + 2, bytes_max):
        if used + size(found[place][1]) + 2 <= bytes_max:
            names.append(found[place])
            used += size(found[place][1]) + 2
    return names


def _shared(ranked: list[tuple[int, int, int]], cost: Callable[[int], int], bytes_max: int) -> Iterator[int]:
    """Places by falling density; a half that had more than half of the bytes pays double for more."""
    halves = [sorted((-density, at) for density, half, at in ranked if half == side) for side in (0, 1)]
    halves = [half[::-1] for half in halves]
    had = [0, 0]
    while halves[0] or halves[1]:
        offers = [(_asked(-half[-1][0], had[side], bytes_max), -side) for side, half in enumerate(halves) if half]
        side = -max(offers)[1]
        _, at = halves[side].pop()
        had[side] += cost(at)
        yield at


def _asked(density: int, had: int, bytes_max: int) -> int:
    return density >> 1 if had << 1 > bytes_max else density


def _by_clause(names: list[tuple[int, str]]) -> dict[int, list[str]]:
    by: dict[int, list[str]] = {}
    for at, name in names:
        by.setdefault(at, []).append(name)
    return by


def _line(clauses: Sequence[Clause], shown: dict[int, str], names: dict[int, list[str]]) -> str:
    parts = []
    for at, clause in enumerate(clauses):
        if at in shown:
            parts.append((clause.kind, shown[at]))
        if at in names:
            parts.append((clause.kind, CUT + ", ".join(names[at])))
    if CUT not in "".join(text for _, text in parts):
        parts.append((parts[-1][0], CUT) if parts else (clauses[0].kind, CUT))
    return render(parts)
