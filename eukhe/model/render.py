"""A view as text. Pure: no clock, disk or threads.

`<chat>`, a line `id+n|text` a node, `</chat>`. No text can end the block or fake a line (rules 14 to 18).
"""

from collections.abc import Callable, Iterable

from eukhe.limits import BLOCK_LINES, DEADLINE_LINE_BYTES_MIN, DEADLINE_VIEW_BYTES_MAX, PLACEHOLDER
from eukhe.model.part import Part
from eukhe.model.text import cut, shown, size


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


def deadline_texts(
    parts: Iterable[Part], text_of: Callable[[Part], str | None], source_of: Callable[[Part], str]
) -> dict[Part, str]:
    """What each line shows when a turn can wait no longer: an unbuilt one its message, cut; never the placeholder.

    Where the whole would pass 256,000 bytes, the unbuilt lines share what is left, 32 bytes each at least. D10, D14.
    """
    texts = {part: text_of(part) for part in parts}
    unbuilt = {part: cut(source_of(part)) for part, text in texts.items() if text is None}
    built = {part: text for part, text in texts.items() if text is not None}
    room = DEADLINE_VIEW_BYTES_MAX - sum(map(size, built.values()))
    if sum(map(size, unbuilt.values())) > room:
        share = max(DEADLINE_LINE_BYTES_MIN, room // len(unbuilt))
        unbuilt = {part: cut(text, share) for part, text in unbuilt.items()}
    return {part: built[part] if part in built else unbuilt[part] for part in texts}
