"""Fills a line by worth. Pure: no clock, disk or threads.

The clauses that say most for their bytes stand whole, in their order. Of the others the names that no clause has said
yet are listed after a "…", the most telling first, so that a later merge knows which to keep. What is said again is
worth little; what many clauses speak of is worth more, since that is what they are about. Of a merge's halves, the one
that has had more than half of the bytes pays double for more.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from eukhe.limits import (
    EXTRACT_CLAUSE_GAIN,
    EXTRACT_CLAUSE_OVERHEAD_BYTES,
    EXTRACT_CODE_BOOST,
    EXTRACT_CUT_BYTES_MIN,
    EXTRACT_KIND_WORTH,
    EXTRACT_LISTED_BOOST,
    EXTRACT_NAME_EVEN,
    EXTRACT_NAME_OVERHEAD_BYTES,
    EXTRACT_OFTEN_MAX,
    EXTRACT_RUNS_MAX,
)
from eukhe.model.extract.pieces import CUT, shorten
from eukhe.model.extract.words import TOKEN, key, name, worth
from eukhe.model.text import size

_SCALE = 1 << 16  # densities are whole numbers
_ENDS = ".!?…"  # after these a sentence follows without a mark
_UNSPOKEN = ("tool", "echo")  # whose clauses are no sentences


class Clause(NamedTuple):
    """A piece in its line: whose it is, and from which half."""

    kind: str
    text: str
    boost: int
    half: int = 0

    @property
    def listed(self) -> bool:
        """A list of names that an earlier line made of what it dropped."""
        return self.text.startswith(CUT) and len(self.text) > 1


class _Name(NamedTuple):
    """A name that may be listed: the clause it is from, and its worth for its bytes."""

    text: str
    at: int
    density: int


def fill(clauses: Sequence[Clause], bytes_max: int, phrase_percent: int) -> str:
    """A line of at most `bytes_max` bytes, of at least one clause; so many percent of it for whole clauses."""
    whole = _line(clauses, {at: clause.text for at, clause in enumerate(clauses)}, [])
    if size(whole) <= bytes_max:
        return whole
    words = [TOKEN.findall(clause.text) for clause in clauses]
    often = _often(words)
    phrase_bytes_max = bytes_max * phrase_percent // 100  # number: percent
    shown = _phrases(clauses, words, often, phrase_bytes_max)
    names = _names(clauses, words, often, shown, bytes_max - size(_line(clauses, shown, [])))
    if not shown and not names:
        shown = {0: shorten(clauses[0].text, phrase_bytes_max)}
    while size(line := _marked(_line(clauses, shown, names))) > bytes_max:
        if names:
            names.pop()
        else:
            shown.popitem()
    return line


def _marked(line: str) -> str:
    """The line of which something was left out."""
    return line if CUT in line else f"{line} {CUT}"


def _often(words: Sequence[list[str]]) -> dict[str, int]:
    """In how many clauses a name stands, and one more."""
    often: dict[str, int] = {}
    for clause in words:
        for word in dict.fromkeys(map(key, clause)):
            often[word] = min(often.get(word, 1) + 1, EXTRACT_OFTEN_MAX)
    return often


def _phrases(
    clauses: Sequence[Clause], words: Sequence[list[str]], often: dict[str, int], bytes_max: int
) -> dict[int, str]:
    """The clauses that stand whole, by their place; one that is too long is cut."""
    said: set[str] = set()
    ranked: list[tuple[int, int, int]] = []
    for at in sorted(range(len(clauses)), key=lambda at: -clauses[at].boost * EXTRACT_KIND_WORTH[clauses[at].kind]):
        clause = clauses[at]
        if clause.listed or clause.boost <= EXTRACT_CODE_BOOST:
            continue
        gain = EXTRACT_CLAUSE_GAIN
        for word in words[at]:
            if (known := key(word)) not in said:
                said.add(known)
                gain += worth(word) * often[known]
        value = gain * clause.boost * EXTRACT_KIND_WORTH[clause.kind]
        ranked.append((value * _SCALE // (size(clause.text) + EXTRACT_CLAUSE_OVERHEAD_BYTES), clause.half, at))
    shown: dict[int, str] = {}
    used = 0
    for at in _shared(ranked, lambda at: size(clauses[at].text), bytes_max):
        text = clauses[at].text
        room = bytes_max - used
        if size(text) > room:
            if room < EXTRACT_CUT_BYTES_MIN or (shown and clauses[at].kind != "user"):
                continue
            text = shorten(text, room)
        shown[at] = text
        used += size(text) + 2
    return shown


def _names(
    clauses: Sequence[Clause],
    words: Sequence[list[str]],
    often: dict[str, int],
    shown: dict[int, str],
    bytes_max: int,
) -> list[_Name]:
    """Names of the clauses that are not shown, best first."""
    said = {key(word) for text in shown.values() for word in TOKEN.findall(text)}
    found: list[_Name] = []
    for at, clause in enumerate(clauses):
        if shown.get(at) == clause.text:
            continue
        kind = EXTRACT_KIND_WORTH[clause.kind] + EXTRACT_NAME_EVEN
        for rank, word in enumerate(words[at]):
            if key(word) in said or not (points := worth(word)) or not (text := name(word)):
                continue
            said.add(key(word))
            boost = max(EXTRACT_LISTED_BOOST - (rank >> 1), EXTRACT_CODE_BOOST) if clause.listed else clause.boost
            value = points * often[key(word)] * kind * boost
            found.append(_Name(text, at, value * _SCALE // (size(text) + EXTRACT_NAME_OVERHEAD_BYTES)))
    names: list[_Name] = []
    used = 0
    ranked = [(one.density, clauses[one.at].half, place) for place, one in enumerate(found)]
    for place in _shared(ranked, lambda place: size(found[place].text) + 2, bytes_max):
        cost = size(found[place].text) + 2
        if used + cost <= bytes_max:
            names.append(found[place])
            used += cost
    return names


def _shared(ranked: list[tuple[int, int, int]], cost: Callable[[int], int], bytes_max: int) -> Iterator[int]:
    """Places by falling density; a half that had more than half of the bytes pays double for more."""
    left, right = (sorted((density, -at) for density, half, at in ranked if half == side) for side in (0, 1))
    had = [0, 0]
    while left or right:
        if left and right:
            asked = [half[-1][0] >> (1 if had[side] << 1 > bytes_max else 0) for side, half in enumerate((left, right))]
            side = 0 if asked[0] >= asked[1] else 1
        else:
            side = 0 if left else 1
        _, at = (right if side else left).pop()
        had[side] += cost(-at)
        yield -at


def _line(clauses: Sequence[Clause], shown: dict[int, str], names: Sequence[_Name]) -> str:
    """The line of what was chosen, by runs of a kind, or by kind where there are many; names at the end of each."""
    runs: dict[int, int] = {}  # of each place
    kinds: list[str] = []
    for at in sorted({*shown, *(one.at for one in names)}):
        if not kinds or kinds[-1] != clauses[at].kind:
            kinds.append(clauses[at].kind)
        runs[at] = len(kinds) - 1
    if len(kinds) > EXTRACT_RUNS_MAX:
        kinds = list(dict.fromkeys(kinds))
        runs = {at: kinds.index(clauses[at].kind) for at in runs}
    parts: list[list[str]] = [[] for _ in kinds]
    lists: list[list[str]] = [[] for _ in kinds]
    for at, text in sorted(shown.items()):
        parts[runs[at]].append(text)
    for one in names:
        lists[runs[one.at]].append(one.text)
    return "; ".join(_item(kind, *said) for kind, *said in zip(kinds, parts, lists, strict=True))


def _item(kind: str, texts: list[str], names: list[str]) -> str:
    item = f"{kind}:"
    joint = " "
    if names:
        texts = [*texts, CUT + ", ".join(names)]
    for text in texts:
        item += joint + text
        joint = " " if text[-1] in _ENDS and kind not in _UNSPOKEN else "; "
    return item
