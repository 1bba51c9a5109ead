"""Taelin's push list, and its race with due order.

The list is a counter in digits 1 and 2: entry j, newest first, holds one line, of level j (a digit 1) or j + 1 (a 2).
A message pushes its line: a 1 absorbs it, the two merge and stay; a 2 keeps it and hands its own line on.
"""

from collections.abc import Iterable

from eukhe.model.part import Part
from eukhe.model.view import View

Entries = list[Part]
"""Newest first; entry j's digit is 1 where its line has level j, 2 where it has level j + 1."""


def push(entries: Entries, line: Part) -> None:
    """In place."""
    for j, older in enumerate(entries):
        if older.level == j:
            entries[j] = older.parent
            return
        entries[j], line = line, older
    entries.append(line)


def lines(entries: Entries) -> list[Part]:
    """As a view, oldest first."""
    return entries[::-1]


def entries_of(digits: Iterable[int]) -> tuple[Entries, int]:
    """The list whose digits (1 or 2, newest first) are given, without pushing; and how many messages it holds."""
    levels = [j + digit - 1 for j, digit in enumerate(digits)]
    t = sum(1 << level for level in levels)
    entries, end = [], t
    for level in levels:
        entries.append(Part(level, (end >> level) - 1))
        end -= 1 << level
    return entries, t


def all_built(entries: Entries, messages: int) -> dict[tuple[int, int], int]:
    """Each node that the list's lines, or those of so many later messages, may come to be: built, of 1 byte.

    So a view's bytes are its lines, and a budget in bytes is one in lines.
    """
    t = entries[0].end if entries else 0
    sizes: dict[tuple[int, int], int] = {}
    for part in [*entries, *(Part(0, i) for i in range(t, t + messages))]:
        while part not in sizes and part.level <= (t + messages).bit_length():
            sizes[part] = 1
            part = part.parent
    return sizes


class Race:
    """Push's list, and the view that due order makes of the same messages with as many lines as the list has."""

    def __init__(self, entries: Entries, messages: int) -> None:
        self.entries = list(entries)
        self.t = entries[0].end if entries else 0
        self.view = View(all_built(entries, messages))
        for line in lines(entries):
            self.view.put(*line)

    def step(self) -> None:
        push(self.entries, Part(0, self.t))
        self.view.append(self.t)
        self.t += 1
        self.view.fit(self.t, len(self.entries))

    @property
    def agrees(self) -> bool:
        return self.view.parts() == lines(self.entries)
