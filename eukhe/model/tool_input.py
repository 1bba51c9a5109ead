"""What the tools that touch the user's machine take. Pure: no clock, disk or threads.

A model's input is JSON of its own making: what is wrong with it is said to the model, by the field's name.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from eukhe.limits import BASH_TIMEOUT_S, BASH_TIMEOUT_S_MAX, TOOL_READ_LINES


class WrongInput(ValueError):
    """Said to the model as it is."""


class Bash(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: str
    timeout_s: float = BASH_TIMEOUT_S


class Read(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`offset`: the first line, from 1; `limit`: how many."""

    path: str
    offset: int = 1
    limit: int = TOOL_READ_LINES


class Write(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    text: str


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`all`: every place where `old` stands, which else must be one."""

    path: str
    old: str
    new: str
    all: bool = False


Input = Bash | Read | Write | Edit
_FORMS: Final[dict[str, type[Input]]] = {"bash": Bash, "read": Read, "write": Write, "edit": Edit}
_CHECKS: Final[tuple[tuple[str, Callable[[Any], bool], str], ...]] = (
    ("command", lambda command: bool(command.strip()), "it is empty"),
    ("command", lambda command: "\0" not in command, "it holds a NUL"),
    (
        "timeout_s",
        lambda seconds: 0 < seconds <= BASH_TIMEOUT_S_MAX,
        f"more than 0 s and at most {BASH_TIMEOUT_S_MAX} s are possible",
    ),
    ("path", bool, "it is empty"),
    ("path", lambda path: "\0" not in path, "it holds a NUL"),
    ("offset", lambda offset: offset >= 1, "lines count from 1"),
    ("limit", lambda limit: limit >= 1, "it must be at least 1"),
    ("old", bool, "it is empty; to make a file, use write"),
)


def parse(name: str, given: Mapping[str, Any]) -> Input:
    """A tool's input. WrongInput, with a word to the model, where it is none."""
    try:
        found = msgspec.convert(given, _FORMS[name])
    except msgspec.ValidationError as error:
        raise WrongInput(f"{name}: {_plain(str(error))}.") from None
    for field, fits, why in _CHECKS:
        if hasattr(found, field) and not fits(getattr(found, field)):
            raise WrongInput(f"{name}: `{field}` can't be used: {why}.")
    return found


def decode(name: str, input_: str) -> Input:
    """As `parse`, of JSON."""
    try:
        given = msgspec.json.decode(input_)
    except msgspec.DecodeError:
        raise WrongInput(f"{name}: its input is no JSON.") from None
    return parse(name, given)


def _plain(error: str) -> str:
    """`Expected `int`, got `str` - at `$.offset`` with the field alone."""
    return (
        error.replace("Object missing required", "it lacks the")
        .replace("Object contains unknown", "it has no")
        .replace("`$.", "`")
    )
