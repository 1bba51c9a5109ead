"""The passages of texts that answer a question best, by its words. Pure: no clock, disk or threads.

A text is taken apart into its lines and sentences. One of them is worth as much as the question's words in it are rare
among all that was seen, more where they are many of the question's, and a little for its neighbours' words; it is
shown with those. One that says nothing besides the question's words is not worth anything.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from eukhe.limits import (
    RECALL_ENOUGH_SHARE,
    RECALL_NEWS_MIN,
    RECALL_PASSAGE_CHARS_MAX,
    RECALL_PASSAGES_SHOWN,
    RECALL_PIECE_CHARS_MAX,
    RECALL_WORTH_SHARE,
    SEEK_NEIGHBOUR_SHARE,
    SEEK_SEEN_HALF,
)
from eukhe.model.seek import words

_PIECE: Final = re.compile(
    rf"\S.{{0,{RECALL_PIECE_CHARS_MAX}}}?(?:[.!?…](?=\s)|$)|\S.{{0,{RECALL_PIECE_CHARS_MAX}}}", re.M
)
_KIND: Final = re.compile(r"(user|eukhe|tool|echo|work|note): ")

Words = frozenset[str]
_KINDS: Final[Words] = frozenset(words("user eukhe tool echo work note"))


class Seen(NamedTuple):
    """A text of the memory, and its name: a message's id, or a line's `id+n`. `weight`: of what it says."""

    name: str
    text: str
    weight: float = 1.0


class Passage(NamedTuple):
    """The best of a text. `share`: how much of the question's words it has, by their worth. `says`: its own words."""

    name: str
    text: str
    worth: float
    share: float
    says: Words


def best(question: str, seen: Iterable[Seen]) -> list[Passage]:
    """The best passages, the best first: one of each text, and none twice."""
    asked = frozenset(words(question))
    texts = [(text, _PIECE.findall(text.text)) for text in seen]
    said = [[frozenset(words(piece)) for piece in pieces] for _, pieces in texts]
    having = Counter(word for pieces in said for piece in pieces for word in piece & asked)
    count = sum(map(len, said))
    rarity = {word: math.log((count + 1) / (having[word] + SEEK_SEEN_HALF)) for word in sorted(asked)}
    found = [
        _best(text, pieces, said_of, rarity) for (text, pieces), said_of in zip(texts, said, strict=True) if pieces
    ]
    ranked = sorted((one for one in found if one.worth > 0), key=lambda one: (-one.worth, one.name))
    alike = {one.says: one for one in reversed(ranked)}  # a line says again what its messages say
    good = [one for one in ranked if alike[one.says] is one and one.worth >= RECALL_WORTH_SHARE * ranked[0].worth]
    return good[:RECALL_PASSAGES_SHOWN]


def is_enough(found: Sequence[Passage]) -> bool:
    """Whether the best is of a message and has nearly all of the question's words: to look on finds no better one."""
    return bool(found) and found[0].name.isdecimal() and found[0].share >= RECALL_ENOUGH_SHARE


def _best(text: Seen, pieces: Sequence[str], said: Sequence[Words], rarity: Mapping[str, float]) -> Passage:
    own = [0.0, *(_worth(piece, rarity) for piece in said), 0.0]
    worths = [own[at + 1] + SEEK_NEIGHBOUR_SHARE * max(own[at], own[at + 2]) for at in range(len(pieces))]
    at = max(range(len(pieces)), key=worths.__getitem__)
    around = range(max(0, at - 1), min(len(pieces), at + 2))
    having = frozenset().union(*(said[near] for near in around)) & rarity.keys()
    share = sum(rarity[word] for word in sorted(having)) / max(sum(rarity.values()), 1)
    return Passage(text.name, _shown(text.text, pieces, at), worths[at] * text.weight, share, said[at] - _KINDS)


def _worth(piece: Words, rarity: Mapping[str, float]) -> float:
    found = piece & rarity.keys()
    if len(piece - found) < RECALL_NEWS_MIN:
        return 0.0
    return sum(rarity[word] for word in sorted(found)) * math.sqrt(len(found) / max(1, len(rarity)))


def _shown(text: str, pieces: Sequence[str], at: int) -> str:
    """A piece with what stands after and before it, as far as there is room; and whose words it is."""
    first = last = at
    size = len(pieces[at])
    for near in (at + 1, at - 1):
        if 0 <= near < len(pieces) and size + len(pieces[near]) < RECALL_PASSAGE_CHARS_MAX:
            first, last = min(first, near), max(last, near)
            size += len(pieces[near])
    kind = _KIND.match(text)
    head = "" if first == 0 else f"{kind[0] if kind else ''}… "
    return head + "\n".join(pieces[first : last + 1]) + ("" if last == len(pieces) - 1 else " …")
