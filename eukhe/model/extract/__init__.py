"""`builtin/extract`, the line writer that needs no model. Pure: no clock, disk or threads.

The same input gives the same line on every machine. It writes by worth: the user's words near verbatim; of replies what
they decided, found and name; of tool calls the name and what they touch; of results the error or the outcome.
"""

from eukhe.model.extract.merge import extract_merge
from eukhe.model.extract.message import extract_message
from eukhe.model.part import Part

__all__ = ["extract", "extract_merge", "extract_message"]


def extract(part: Part, sources: tuple[str, ...]) -> str:
    """A node's line from what it is made of: a message's `kind: text`, or its two halves' lines."""
    if part.level == 0:
        return extract_message(*sources)
    left, right = sources
    return extract_merge(left, right, part.messages >> 1)
