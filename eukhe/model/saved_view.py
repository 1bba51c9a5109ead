"""view.json: the view as it was last saved. Pure: no clock, disk or threads.

It is not the truth (D1): the logs' batches give the view, and where the two differ, the logs are right.
"""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from eukhe.limits import NODE_BITS_MAX
from eukhe.model.part import Part

VIEW_FILE = "view.json"


class SavedView(NamedTuple):
    """What the file holds; None, and why, where there is nothing to be read."""

    data: bytes | None
    why: str = "is missing"


def encode_view(view: Sequence[Part]) -> bytes:
    """The file for a view."""
    return orjson.dumps([tuple(part) for part in view], option=orjson.OPT_APPEND_NEWLINE)


def read_view(data: bytes) -> tuple[Part, ...] | None:
    """Its lines; None where they do not cover messages from 0 on, each once."""
    try:
        pairs = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(pairs, list):
        return None
    parts: list[Part] = []
    at = 0
    for pair in pairs:
        match pair:
            case [int(level), int(i)] if level >= 0 and i >= 0 and level + i.bit_length() <= NODE_BITS_MAX:
                part = Part(int(level), int(i))
                if part.start != at:
                    return None
                at = part.end
                parts.append(part)
            case _:
                return None
    return tuple(parts)


def compare_view(saved: SavedView, view: list[Part]) -> tuple[str, bool] | None:
    """What is wrong with it beside the logs' view, and whether that is harmless; None where nothing is.

    To be behind by messages is normal, since it is saved after them.
    """
    if saved.data is None:
        return (f"{saved.why}; the logs give the view", True) if view else None
    parts = read_view(saved.data)
    if parts is None:
        return "is no view; the logs give it", False
    if parts == tuple(view[: len(parts)]):
        return None
    covered, t = (lines[-1].end if lines else 0 for lines in (parts, view))
    if covered > t:
        return f"covers {covered} messages where the logs have {t}: of another chat, or newer than the logs", False
    # One that is finer is what a process leaves that dies after a batch was logged and before the view was saved.
    if covered == t and not {line.end for line in view} < {line.end for line in parts}:
        return "is not the view that the logs' batches give, which counts", False
    return f"is older than the last batch: it covers {covered} of {t} messages; the logs give the view", True
