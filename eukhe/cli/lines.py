"""A line of the memory, as commands print it and as JSON has it."""

from typing import Any

from eukhe.limits import PLACEHOLDER
from eukhe.model.part import Part

LINE_KEYS = {
    "lines[].id": "its first message",
    "lines[].n": "how many messages it covers",
    "lines[].built": "whether its line is written",
    "lines[].text": "the line as it was written, newlines and all; the placeholder where it is not built",
}


def line_json(part: Part, text: str | None) -> dict[str, Any]:
    """A line for `--json`."""
    return {
        "id": part.start,
        "n": part.messages,
        "built": text is not None,
        "text": PLACEHOLDER if text is None else text,
    }
