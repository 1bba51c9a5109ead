"""The words of a transcript's commands: what they mean, or CommandError where they mean nothing."""

import re
from collections.abc import Sequence
from typing import Final, Literal, get_args

from eukhe.limits import SIM_DAY_S, SIM_HOUR_S
from eukhe.model.part import Part, part_of
from eukhe.model.text import size

Words = Sequence[str]
Unsynced = Literal["keep", "drop", "tear"]
"""What becomes of bytes, and of names, that were not synced."""

OPERATIONS: Final = {
    "main write": ("main/", 1),
    "main sync": ("main/", 2),
    "tree write": ("tree/", 1),
    "tree sync": ("tree/", 2),
    "view write": ("view.json", 1),
    "view rename": ("view.json", 2),
}
"""The disk's operations that have names: of which files, and the how many-th of an append or a replacing."""

_UNITS_S: Final = {"s": 1, "m": 60, "h": SIM_HOUR_S, "d": SIM_DAY_S}  # number: a minute's seconds
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_NODE: Final = re.compile(r"(\d+)\+(\d+)")


class CommandError(Exception):
    """Words that are no command, or not now; str() says why."""


def whole(word: str) -> int:
    if not word.isascii() or not word.isdigit():
        raise CommandError(f"{word or 'nothing'} is no whole number")
    return int(word)


def seconds(word: str) -> float:
    """`10s`, `0.5s`, `5m`, `2h`, `1d`."""
    found = _DURATION.fullmatch(word)
    if found is None:
        raise CommandError(f"{word} is no time like 10s, 5m, 2h or 1d")
    return float(found[1]) * _UNITS_S[found[2]]


def node(word: str) -> Part:
    """`8+4`."""
    found = _NODE.fullmatch(word)
    part = part_of(int(found[1]), int(found[2])) if found else None
    if part is None:
        raise CommandError(f"{word or 'nothing'} names no node; one is named like 8+4")
    return part


def bytes_in(words: Words) -> int | None:
    """Of `600 bytes`; None of anything else."""
    return int(words[0]) if len(words) == 2 and words[1] == "bytes" and words[0].isdigit() else None


def operation(words: Words) -> tuple[str, Words]:
    """An operation of the disk's, and the words after it."""
    name = " ".join(words[:2])
    if name not in OPERATIONS:
        raise CommandError(f"{name or 'nothing'} is no operation; there are {', '.join(OPERATIONS)}")
    return name, words[2:]


def unsynced(words: Words) -> Unsynced:
    """`keep`, `drop` or `tear`; `drop` where nothing is said."""
    match words:
        case []:
            return "drop"
        case ["keep" | "drop" | "tear" as what]:
            return what
    raise CommandError(f"{' '.join(words)} is none of {', '.join(get_args(Unsynced))}")


def one(words: Words) -> str:
    """A name, and nothing after it."""
    if len(words) != 1:
        raise CommandError("give one word after it")
    return words[0]


def none(words: Words) -> None:
    if words:
        raise CommandError(f"{' '.join(words)}: too many words")


def after(word: str, words: Words) -> Words:
    """The words after this one, which comes first."""
    if words[:1] != [word]:
        raise CommandError(f"{word} comes here")
    return words[1:]


def padded(text: str, bytes_: int) -> str:
    """The text, made as long as is wanted."""
    if bytes_ < size(text):
        raise CommandError(f"{bytes_} bytes are too few for {text}")
    return text + "." * (bytes_ - size(text))
