"""What a transcript gives: messages, and what of it could not be read."""

import os

import msgspec


class Said(msgspec.Struct, frozen=True):
    """One message to be logged.

    `kind` is user, eukhe, tool, echo or work. `date` is the source's time, RFC 3339 with its offset, whole seconds.
    `key` is the message's identity, at most 200 bytes: the same in every copy of its file, wherever that lies.
    `images` are their bytes; a message with images may have no text. `exported_i` is its id in the chat of eukhe that
    it was exported from; such a message comes in unchanged, also where it repeats another.
    """

    kind: str
    text: str
    date: str
    key: str
    images: tuple[bytes, ...] = ()
    exported_i: int | None = None


class Unreadable(msgspec.Struct, frozen=True):
    """A line, or a part of one, that could not be read. It costs only itself. `line` counts from 1."""

    path: str
    line: int
    why: str


def unreadable(path: str, line: int, why: str) -> Unreadable:
    """An Unreadable whose path can be shown and stored, also where the file's name is no text."""
    return Unreadable(os.fsencode(path).decode(errors="replace"), line, why)
