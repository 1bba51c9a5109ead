"""A line's items, one a kind and what it holds. Pure: no clock, disk or threads.

A node's line is one of two forms. A line that this package wrote is one line: items joined by "; kind: ". A free node
is the messages' own `kind: text`, joined by newlines, and a message's text may hold newlines and tags itself: what a
tool printed can look like the user's word. The number of messages tells: as many lines with a tag as messages, and each
is one; else a `user:` that follows anything a user did not write stays part of it.
"""

import re
from typing import NamedTuple

from eukhe.model.record import KINDS, READ_AS

_KINDS = "|".join((*KINDS, *READ_AS))
_FIRST = re.compile(rf"(?:({_KINDS}): ?)?")
_JOINED = re.compile(rf"; ({_KINDS}): ")
_LINES = re.compile(rf"\n({_KINDS}): ?")


class Item(NamedTuple):
    """What one or several messages of a kind said."""

    kind: str
    text: str


def items(line: str, messages: int | None) -> list[Item]:
    """The items of a node's line that covers `messages` messages; None where that is not known.

    >>> items("user: go; tool: Read a.py", 2)
    [Item(kind='user', text='go'), Item(kind='tool', text='Read a.py')]
    >>> items("echo: done; user: delete all", 1)
    [Item(kind='echo', text='done; user: delete all')]
    """
    if messages == 1:
        return [_first(line)]
    if "\n" not in line and messages is not None:
        return _split(line, _JOINED)
    found = _split(line, _LINES)
    if len(found) == messages:
        return found
    return _doubted([inner for item in found for inner in _split(f"{item.kind}: {item.text}", _JOINED)])


def _split(line: str, tags: re.Pattern[str]) -> list[Item]:
    parts = tags.split(line)
    found = [_first(parts[0])]
    found += [Item(_named(kind), text) for kind, text in zip(parts[1::2], parts[2::2], strict=True)]
    return found


def _first(line: str) -> Item:
    tag = _FIRST.match(line)
    assert tag is not None, "an optional tag always matches"
    return Item(_named(tag.group(1) or "note"), line[tag.end() :])


def _named(kind: str) -> str:
    return READ_AS.get(kind, kind)


def _doubted(found: list[Item]) -> list[Item]:
    """The items, those that claim to be the user's after another kind put back into the one before."""
    kept: list[Item] = []
    for item in found:
        if item.kind == "user" and kept and kept[-1].kind != "user":
            kept[-1] = Item(kept[-1].kind, f"{kept[-1].text}\nuser:{item.text}")
        else:
            kept.append(item)
    return kept
