"""builtin/recall: a turn answered from the memory alone, without a model. Pure: no clock, disk or threads.

It looks as a reader would who knows nothing but the words of the question: it searches for the rarest of them, a few
at a time, reads the hits whole, and zooms where the view promises most (`seek`). Then it shows the passages that have
most of these words, each with the id under which it is found.

It keeps nothing between its calls: the talk holds every look and what it showed, so that the next one follows from it.
The looks are few, since each is logged: they end as soon as a passage has nearly all of the words, or after some
rounds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, islice, takewhile
from typing import Final, NamedTuple

import orjson

from eukhe.limits import (
    PLACEHOLDER,
    RECALL_CALL_WEIGHT,
    RECALL_HITS_READ,
    RECALL_LINE_WEIGHT,
    RECALL_LOOKS,
    RECALL_ROUNDS_MAX,
    RECALL_SEARCH_WORDS,
)
from eukhe.model.part import Part, part_of
from eukhe.model.passages import Passage, Seen, best, is_enough
from eukhe.model.seek import Seeker, words
from eukhe.model.talk import Reply, Result, Talk, Text, Use, last_text, text_of

WHAT_IT_IS: Final = "builtin/recall: no model is set; this is what the memory itself has"
_LINE: Final = re.compile(r"(\d+)\+(\d+)\|(.*)")
_HIT: Final = re.compile(r"(\d+)\|[^|]*\|(\w+: .*)")
_CHAT: Final = re.compile(r"<chat>\n(.*?)</chat>", re.DOTALL)
_TOKEN: Final = re.compile(r"\w+")
_LOOKED: Final = re.compile(
    r"tool: (search|zoom|at|date) \{|echo: (\d+\+\d+\||.*?\d+\|\d{4}-\d\d-\d\d |(user|eukhe|tool|echo|work|note): )"
)


class _Known(NamedTuple):
    """What the talk shows of the memory. `lines`: every line seen, by its node; `view`: those of the view.

    `messages`: those read whole; `hits`: those that searches found, best first; `looks`: what was asked already.
    """

    view: list[Part]
    lines: dict[Part, str]
    messages: dict[int, str]
    hits: list[int]
    looks: set[tuple[str, str]]

    @property
    def end(self) -> int:
        """The first message that is not in the view: the turn's own begin there."""
        return self.view[-1].end if self.view else 0


def recall(talk: Talk) -> Reply:
    """The next looks into the memory, or the answer."""
    question = last_text(talk)
    if not words(question):
        return _said("builtin/recall: no model is set; ask with words that the memory may hold, and I look for them.")
    known = _known(talk)
    found = best(question, _seen(known, question))
    if not is_enough(found) and _rounds(talk) < RECALL_ROUNDS_MAX:
        taken = sum(isinstance(block, Use) for speech in talk.speeches for block in speech.blocks)
        looks = _looks(known, question, found, {tool.name for tool in talk.tools})
        if looks:
            return Reply(tuple(Use(f"look_{at}", *look) for at, look in enumerate(looks, taken)), "tools")
    return _said(_answer(question, found))


def _said(text: str) -> Reply:
    return Reply((Text(text),), "end")


def _answer(question: str, found: list[Passage]) -> str:
    if not found:
        return f"{WHAT_IT_IS} on this: nothing with the words {', '.join(dict.fromkeys(_tokens(question)))}."
    shown = "\n\n".join(f"[{passage.name}] {passage.text}" for passage in found)
    return f"{WHAT_IT_IS} on this, best first, each with the id to zoom into.\n\n{shown}"


def _rounds(talk: Talk) -> int:
    """How often it has looked since the user last spoke."""
    looks = takewhile(lambda said: not any(isinstance(block, Text) for block in said.blocks), reversed(talk.speeches))
    return sum(said.role == "assistant" for said in looks)


# --- what to look at next ---


def _looks(known: _Known, question: str, found: Sequence[Passage], tools: set[str]) -> list[tuple[str, str]]:
    """The next looks, by tool and input."""
    fresh = (look for look in dict.fromkeys(_worthy(known, question, found, tools)) if look not in known.looks)
    return list(islice(fresh, RECALL_LOOKS))


def _worthy(known: _Known, question: str, found: Sequence[Passage], tools: set[str]) -> Iterator[tuple[str, str]]:
    """All that is worth a look: searches first, then their hits, the lines that say most, what the view promises."""
    if "search" in tools:
        for asked in _searches(question):
            yield "search", orjson.dumps({"words": asked}).decode()
        for hit in known.hits[:RECALL_HITS_READ]:
            yield "zoom", _zoom(Part(0, hit))
            if known.messages.get(hit, "").startswith("tool: ") and hit + 1 < known.end:
                yield "zoom", _zoom(Part(0, hit + 1))  # what came of it
    lines = [part for passage in found if (part := _part(passage.name)).level]
    for part in chain(lines, _promising(known, question)):
        yield "zoom", _zoom(part)


def _part(name: str) -> Part:
    """The node of a passage's name."""
    start, _, count = name.partition("+")
    part = part_of(int(start), int(count or 1))
    assert part is not None, name
    return part


def _zoom(part: Part) -> str:
    return orjson.dumps({"id": part.start, "n": part.messages}).decode()


def _searches(question: str) -> Iterator[str]:
    """Words to search for, all of which a hit has: the most telling of the question's, two at a time, then each."""
    telling = sorted(dict.fromkeys(_tokens(question)), key=lambda token: (not _is_name(token), -len(token)))
    telling = telling[:RECALL_SEARCH_WORDS]
    yield from (" ".join(pair) for pair in combinations(telling, 2))
    yield from telling


def _is_name(token: str) -> bool:
    """Whether it looks like a name, an identifier or a number: rarer than a word."""
    return not token.isalpha() or token[1:] != token[1:].lower()


def _tokens(question: str) -> list[str]:
    """The words of a question as they stand in it, without those that only ask."""
    return [token for token in _TOKEN.findall(question) if words(token)]


def _promising(known: _Known, question: str) -> Iterator[Part]:
    """Lines to zoom into, the most promising first; those that were are passed through."""
    seeker = Seeker(known.view, lambda part: known.lines.get(part, ""), question)
    while (part := seeker.next()) is not None:
        yield part


# --- what is known ---


def _known(talk: Talk) -> _Known:
    known = _Known([], {}, {}, [], set())
    shown = "".join(text_of(speech.blocks) for speech in talk.speeches[:1])
    for part, text in _lines("".join(_CHAT.findall(shown)[:1])):
        known.view.append(part)
        known.lines[part] = text
    uses = {block.id: block for speech in talk.speeches for block in speech.blocks if isinstance(block, Use)}
    for speech in talk.speeches:
        for block in speech.blocks:
            if isinstance(block, Result) and block.of in uses:
                _learn(known, uses[block.of], "" if block.failed else text_of(block.content))
    return known


def _learn(known: _Known, use: Use, text: str) -> None:
    """Takes in what a look has shown."""
    known.looks.add((use.name, use.input))
    if use.name == "search":
        hits = [(int(hit[1]), hit[2]) for hit in map(_HIT.fullmatch, text.split("\n")) if hit]
        known.hits.extend(i for i, said in hits if i < known.end and i not in known.hits and not _LOOKED.match(said))
        return
    asked = orjson.loads(use.input)
    part = part_of(asked["id"], asked["n"])
    if part is not None and part.level == 0 and text:
        known.messages[part.i] = text
    known.lines.update(_lines(text))


def _lines(text: str) -> Iterator[tuple[Part, str]]:
    """The lines of a view, or of a zoom. One that is not written yet hides all that it stands for."""
    for line in text.split("\n"):
        if (found := _LINE.fullmatch(line)) and (part := part_of(int(found[1]), int(found[2]))) is not None:
            yield part, "…" if found[3] == PLACEHOLDER else found[3]


def _seen(known: _Known, question: str) -> Iterator[Seen]:
    """Every text that may hold the answer: messages, then lines, which only point at them."""
    said: Mapping[Part, str] = known.lines | {Part(0, i): text for i, text in known.messages.items()}
    for part, text in said.items():
        is_question = question.strip() in text and len(text) < 2 * len(question) + len("user: ")
        if is_question or _LOOKED.match(text) or WHAT_IT_IS in text:
            continue
        if part.level:
            yield Seen(part.name, text, RECALL_LINE_WEIGHT)
        else:
            yield Seen(str(part.i), text, RECALL_CALL_WEIGHT if text.startswith("tool: ") else 1)
