"""A view as text. Pure: no clock, disk or threads.

`<chat>`, a line `id+n|text` a node, `</chat>`. No text can end the block or fake a line (rules 14 to 18).
"""

from collections.abc import Callable, Iterable

from eukhe.limits import BLOCK_LINES, PLACEHOLDER
from eukhe.model.part import Part
from eukhe.model.text import shown


def line(part: Part, text: str | None) -> str:
    """A node's line, without its newline; the placeholder's where the node is not built."""
    return f"{part.name}|{PLACEHOLDER if text is None else shown(text)}"


def render(parts: Iterable[Part], text_of: Callable[[Part], str | None]) -> str:
    """The whole view."""
    return "".join(blocks([line(part, text_of(part)) for part in parts]))


def blocks(lines: list[str]) -> list[str]:
    """The rendered view in blocks of 4 lines; joined they are the whole. Rule 29.

    `<chat>` goes with the first, `</chat>` with the last, which holds what is left of the lines. So a view that
    grows changes no whole block.
    """
    whole = len(lines) - len(lines) % BLOCK_LINES
    made = ["".join(f"{text}\n" for text in lines[at : at + BLOCK_LINES]) for at in range(0, whole, BLOCK_LINES)]
    made.append("".join(f"{text}\n" for text in lines[whole:]) + "</chat>")
    made[0] = "<chat>\n" + made[0]
    return made
