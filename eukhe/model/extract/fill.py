"""Fills a line by worth. Pure: no clock, disk or threads.

The clauses that say most for their bytes stand whole, in their order. Of the others the names that no clause has said
yet are listed after a "…", the most telling first, so that a later merge knows which to keep. What is said again is
worth little; what many clauses speak of is worth more, since that is what they are about. Of a merge's halves, the one
that has had more than half of the bytes pays double for more.
"""

from collections.abc import Iterator, Sequence
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
    EXTRACT_PLAIN_BOOST,
    EXTRACT_RUNS_MAX,
)
from eukhe.model.extract.pieces import CUT, shorten
from eukhe.model.extract.words import Word, words
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
        return self.text.startswith(CUT) and self.text[1:2] not in ("", "/", " ")


_Offer = tuple[int, int, int, str]
"""Something for the line: worth for its bytes; the clause it is from, negative, so that the first of equals is the
largest; bytes; a name of the clause, empty for all of it."""


def fill(clauses: Sequence[Clause], bytes_max: int, phrase_percent: int) -> str:
    """A line of at most `bytes_max` bytes, of at least one clause; so many percent of it for whole clauses."""
    sizes = [size(clause.text) for clause in clauses]
    if sum(sizes) < bytes_max:
        whole = _line(clauses, {at: clause.text for at, clause in enumerate(clauses)}, [])
        if size(whole) <= bytes_max:
            return whole
    said = [words(clause.text) for clause in clauses]
    often = _often(said)
    phrase_bytes_max = bytes_max * phrase_percent // 100  # number: percent
    shown = _phrases(clauses, sizes, said, often, phrase_bytes_max)
    names = _names(clauses, said, often, shown, bytes_max - size(_line(clauses, shown, [])))
    if not shown and not names:
        shown = {0: shorten(clauses[0].text, phrase_bytes_max)}
    while size(line := _marked(_line(clauses, shown, names), names)) > bytes_max:
        if names:
            names.pop()
        else:
            shown.popitem()
    return line


def _marked(line: str, names: Sequence[_Offer]) -> str:
    """The line of which something was left out: a list of names says so, else a mark at its end."""
    return line if names or line.endswith(CUT) else f"{line} {CUT}"


def _often(said: Sequence[list[Word]]) -> dict[str, int]:
    """In how many clauses a name stands, and one more."""
    often: dict[str, int] = {}
    for clause in said:
        for known in {word.key: None for word in clause}:
            often[known] = min(often.get(known, 1) + 1, EXTRACT_OFTEN_MAX)
    return often


def _phrases(
    clauses: Sequence[Clause],
    sizes: Sequence[int],
    said: Sequence[list[Word]],
    often: dict[str, int],
    bytes_max: int,
) -> dict[int, str]:
    """The clauses that stand whole, by their place; one that is too long is cut."""
    known: set[str] = set()
    offers: tuple[list[_Offer], list[_Offer]] = ([], [])
    for at in sorted(range(len(clauses)), key=lambda at: -clauses[at].boost * EXTRACT_KIND_WORTH[clauses[at].kind]):
        clause = clauses[at]
        if clause.boost <= EXTRACT_CODE_BOOST or clause.listed:
            continue
        gain = EXTRACT_CLAUSE_GAIN * clause.boost // EXTRACT_PLAIN_BOOST
        for word in said[at]:
            if word.points and word.key not in known:
                known.add(word.key)
                gain += word.points * often[word.key]
        value = gain * clause.boost * EXTRACT_KIND_WORTH[clause.kind]
        density = value * _SCALE // (sizes[at] + EXTRACT_CLAUSE_OVERHEAD_BYTES)
        offers[clause.half].append((density, -at, sizes[at] + 2, ""))
    shown: dict[int, str] = {}
    used = 0
    for _, place, cost, _ in _shared(offers, bytes_max):
        clause = clauses[-place]
        room = bytes_max - used
        if cost <= room:
            shown[-place] = clause.text
            used += cost
        elif room >= EXTRACT_CUT_BYTES_MIN and (clause.kind == "user" or not shown):
            shown[-place] = shorten(clause.text, room)
            used += size(shown[-place]) + 2
    return shown


def _names(
    clauses: Sequence[Clause], said: Sequence[list[Word]], often: dict[str, int], shown: dict[int, str], bytes_max: int
) -> list[_Offer]:
    """Names of the clauses that are not shown, best first."""
    known: set[str] = set()
    for at, text in shown.items():
        known.update(word.key for word in (said[at] if text == clauses[at].text else words(text)))
    offers: tuple[list[_Offer], list[_Offer]] = ([], [])
    for at, clause in enumerate(clauses):
        if shown.get(at) == clause.text:
            continue
        worth = (EXTRACT_KIND_WORTH[clause.kind] + EXTRACT_NAME_EVEN) * _SCALE
        listed, boost = clause.listed, clause.boost
        for rank, (key, points, name, name_bytes) in enumerate(said[at]):
            if not name or key in known:
                continue
            known.add(key)
            if listed:
                boost = max(EXTRACT_LISTED_BOOST - (rank >> 1), EXTRACT_CODE_BOOST)
            density = points * often[key] * boost * worth // (name_bytes + EXTRACT_NAME_OVERHEAD_BYTES)
            offers[clause.half].append((density, -at, name_bytes + 2, name))
    names: list[_Offer] = []
    used = 0
    for offer in _shared(offers, bytes_max):
        if used + offer[2] <= bytes_max:
            names.append(offer)
            used += offer[2]
    return names


def _shared(offers: tuple[list[_Offer], list[_Offer]], bytes_max: int) -> Iterator[_Offer]:
    """Offers by falling density; a half that had more than half of the bytes pays double for more."""
    left, right = map(sorted, offers)
    had = [0, 0]
    while left or right:
        if not left or not right:
            side = 0 if left else 1
        else:
            asked = left[-1][0] >> (had[0] << 1 > bytes_max)
            side = 0 if asked >= right[-1][0] >> (had[1] << 1 > bytes_max) else 1
        offer = (right if side else left).pop()
        had[side] += offer[2]
        yield offer


def _line(clauses: Sequence[Clause], shown: dict[int, str], names: Sequence[_Offer]) -> str:
    """The line of what was chosen, by runs of a kind, or by kind where there are many; names at the end of each."""
    runs: dict[int, int] = {}  # of each place
    kinds: list[str] = []
    for at in sorted({*shown, *(-place for _, place, _, _ in names)}):
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
    for _, place, _, name in names:
        lists[runs[-place]].append(name)
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
