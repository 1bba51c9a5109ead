"""builtin/extract: how long a line takes, beside zlib over the same bytes, as a measure of the machine."""

import zlib
from collections.abc import Sequence
from pathlib import Path

from eukhe.demo import sessions
from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.extract import extract
from eukhe.model.part import Part
from eukhe.model.text import label, pieces, size
from eukhe.world.transcripts import Said, plan, read
from measure.figures import Figure, Sizes, cpu_seconds

US = 1_000_000

Source = tuple[Part, tuple[str, ...]]
"""A node and what its line is made of."""


def measure(of: Sizes, real: Path) -> list[Figure]:
    """`real`: sessions of somebody else, whose messages count as well where they are there."""
    labels = [text for folder in (sessions(), real) if folder.is_dir() for text in _labels(folder)]
    messages: list[Source] = [(Part(0, i), (text,)) for i, text in enumerate(labels) if size(text) > NODE_BYTES_MAX]
    merges = _merges(labels)
    return [
        _line(f"the line of a message, of {len(messages):,} too long to be their own", messages, of.line_rounds),
        _line(f"the line of a merge, of {len(merges):,} that don't fit as they are", merges, of.line_rounds),
    ]


def _line(name: str, sources: Sequence[Source], rounds: int) -> Figure:
    def write() -> None:
        for part, texts in sources:
            extract(part, texts)

    def compress() -> None:
        for _, texts in sources:
            for text in texts:
                zlib.compress(text.encode())

    line_s, zlib_s = cpu_seconds(rounds, write, compress)
    return Figure(name, line_s / len(sources) * US, "µs", "zlib over it", zlib_s / len(sources) * US)


def _labels(folder: Path) -> list[str]:
    """The `kind: text` of each message."""
    with plan([folder]) as planned:
        said = [item for item in read(planned) if isinstance(item, Said)]
    return [label(item.kind, text) for item in said for text in pieces(item.kind, item.text)]


def _merges(labels: Sequence[str]) -> list[Source]:
    """All merges over some messages that need a line, at every level."""
    merges: list[Source] = []
    lines = [text if size(text) <= NODE_BYTES_MAX else extract(Part(0, i), (text,)) for i, text in enumerate(labels)]
    level = 0
    while len(lines) > 1:
        level += 1
        above = []
        for i, halves in enumerate(zip(lines[::2], lines[1::2], strict=False)):
            line = "\n".join(halves)
            if size(line) > NODE_BYTES_MAX:
                merges.append((Part(level, i), halves))
                line = extract(Part(level, i), halves)
            above.append(line)
        lines = above
    return merges
