"""More sessions out of the demo's: copies in which every id, date and long text is another, so that each comes in."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

_ID = re.compile(rb"\b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{8})[0-9a-f]{4}\b|\b((?:msg|toolu|req)_[0-9A-Za-z]+)")
_YEAR = re.compile(rb'("timestamp": *")(\d{4})')
_LONG_CHARS = 200  # shorter texts may come in again; of what is said together none is much longer without such a part


def copies(folder: Path, to: Path, count: int) -> Path:
    """`count` copies of each session in a folder, in `to`."""
    to.mkdir(parents=True)
    for k in range(count):
        for source in sorted(folder.glob("*.jsonl")):
            with source.open("rb") as lines:
                (to / f"{k:04}-{source.name}").write_bytes(b"".join(_vary(lines, k)))
    return to


def _vary(lines: Iterable[bytes], k: int) -> Iterator[bytes]:
    for line in lines:
        other = _ID.sub(lambda id: b"%s%04x" % (id[1] or id[2], k), line)
        other = _YEAR.sub(lambda year: b"%s%04d" % (year[1], int(year[2]) + k), other)
        yield orjson.dumps(_marked(orjson.loads(other), f" #{k} "), option=orjson.OPT_APPEND_NEWLINE)


def _marked(value: Any, mark: str) -> Any:
    """The value with a mark for the last space of each long text: machines' words are known by how a text begins."""
    if isinstance(value, dict):
        return {name: _marked(inner, mark) for name, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner, mark) for inner in value]
    return mark.join(value.rsplit(" ", 1)) if isinstance(value, str) and len(value) > _LONG_CHARS else value
