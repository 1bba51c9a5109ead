"""Names of subagents: safe as a file's name, and no two alike on any disk. Pure: no clock, disk or threads."""

import re
import unicodedata
from collections.abc import Collection
from itertools import count
from typing import Final

from eukhe.limits import AGENT_NAME_CHARS_MAX

_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]+")
_NAMELESS: Final = "Agent"


def agent_name(wanted: str, taken: Collection[str]) -> str:
    """The wanted name as far as it can be had: letters, digits, `-` and `_`, with a letter first.

    `taken`: those that others have, casefolded. A name that is there already gets a number.

    >>> agent_name("Jürgen, the 2nd", ()), agent_name("Rita", ("rita",)), agent_name("7", ())
    ('Jurgen-the-2nd', 'Rita-2', 'Agent-7')
    """
    name = _cleaned(wanted)
    if name.casefold() not in taken:
        return name
    numbered = (f"{name[: AGENT_NAME_CHARS_MAX - len(ending)]}{ending}" for ending in _endings())
    return next(other for other in numbered if other.casefold() not in taken)


def _cleaned(wanted: str) -> str:
    """Accents are left away, since disks write them in more than one way."""
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", wanted) if not unicodedata.combining(letter))
    name = _OTHER.sub("-", plain).strip("-_")
    if not name[:1].isalpha():  # a number alone would be a message's
        name = f"{_NAMELESS}-{name}" if name else _NAMELESS
    return name[:AGENT_NAME_CHARS_MAX].rstrip("-_")


def _endings() -> "map[str]":
    return map("-{}".format, count(2))
