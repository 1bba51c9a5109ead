"""The tool `read`: lines of a text, an image, or the names in a folder.

A text is read as a stream: no more of it is held than is shown, be it a line of a gigabyte or a gigabyte of lines.
"""

import codecs
import os
from collections.abc import Callable, Iterator
from itertools import islice
from math import inf
from pathlib import Path
from typing import Final

from eukhe.actors.ports import ToolEnded
from eukhe.limits import (
    IMAGE_BYTES_MAX,
    IMAGE_SIDE_PIXELS_MAX,
    TOOL_FOLDER_NAMES_MAX,
    TOOL_READ_AHEAD_BYTES_MAX,
    TOOL_READ_BYTES,
    TOOL_READ_CHARS_MAX,
    TOOL_READ_LINE_CHARS_MAX,
    TOOL_SNIFF_BYTES,
)
from eukhe.model.image import image_size, image_type
from eukhe.model.output import HeadTail
from eukhe.model.secrets import Secrets
from eukhe.model.text import clean
from eukhe.model.tool_input import Read
from eukhe.world.tools.files import Unfit, encoding_of, kind_of, opened, whole
from eukhe.world.tools.place import RealPlace

_MARK: Final = "\ufeff"  # before a text, of its encoding


def run_read(given: Read, place: RealPlace, secrets: Secrets, is_over: Callable[[], bool]) -> ToolEnded:
    """Reads what lies there. OSError, Unfit. `is_over`: nobody wants it any more."""
    path = place.path(given.path)
    if kind_of(path) == "a folder":
        return ToolEnded(clean(_names(path)))
    with opened(path) as fd:
        start = os.read(fd, TOOL_SNIFF_BYTES)
        size = os.fstat(fd).st_size
        if (type_ := image_type(start)) is not None:
            return _image(whole(path, IMAGE_BYTES_MAX), type_)
        encoding = encoding_of(start)
        if encoding is None:
            return ToolEnded(f"{path} is no text, but {size:,} bytes of something else.", failed=True)
        return _lines(_Text(fd, start, encoding, secrets, is_over), given)


def _image(data: bytes, type_: str) -> ToolEnded:
    size = image_size(data)
    if size is None:
        raise Unfit(f"it begins as an image, {type_}, but is none")
    what = f"{type_}, {size[0]:,} x {size[1]:,} pixels, {len(data):,} bytes"
    if max(size) > IMAGE_SIDE_PIXELS_MAX:
        raise Unfit(f"the image, {what}, is too large to be shown: make it {IMAGE_SIDE_PIXELS_MAX:,} a side at most")
    return ToolEnded(f"An image: {what}.", (data,))


def _names(path: Path) -> str:
    """What is in a folder, a name a line; folders end in `/`."""
    with os.scandir(path) as entries:
        names = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in entries)
    more = len(names) - TOOL_FOLDER_NAMES_MAX
    shown = [name.replace("\n", "\\n") for name in names[:TOOL_FOLDER_NAMES_MAX]]
    return "\n".join([*shown, f"[and {more:,} more]"] if more > 0 else shown) or "[the folder is empty]"


def _lines(text: "_Text", given: Read) -> ToolEnded:
    """The lines that are wanted, as far as they fit, and what is left."""
    lines = iter(text)
    skipped = sum(1 for _ in islice(lines, given.offset - 1))
    taken: list[str] = []
    chars = left = 0
    for line in islice(lines, given.limit):
        chars += len(line) + 1
        if taken and chars > TOOL_READ_CHARS_MAX:
            left = 1
            break
        taken.append(line)
    if not taken:
        what = "the file is empty" if not skipped else f"the file has {skipped:,} lines"
        return ToolEnded(f"[{what}]", failed=skipped > 0)
    text.end_within(TOOL_READ_AHEAD_BYTES_MAX)
    left += sum(1 for _ in lines)
    last = skipped + len(taken)
    if left:
        more = "more than " if text.cut else ""
        taken.append(f"[lines {skipped + 1}-{last}; {more}{left:,} are left, from offset {last + 1} on]")
    elif skipped:
        taken.append(f"[lines {skipped + 1}-{last}, the last]")
    return ToolEnded("\n".join(taken))


class _Text:
    """The lines of a file, each without its newline, without secrets, and cut where it is very long.

    `start`: what has been read of it. `cut`: it was not read to its end.
    """

    def __init__(self, fd: int, start: bytes, encoding: str, secrets: Secrets, is_over: Callable[[], bool]) -> None:
        self.cut = False
        self._fd = fd
        self._start = start
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._hiding = secrets.stream()
        self._is_over = is_over
        self._bytes_left: float = inf

    def end_within(self, bytes_: int) -> None:
        """Reads so much more at most."""
        self._bytes_left = bytes_

    def __iter__(self) -> Iterator[str]:
        line = HeadTail(TOOL_READ_LINE_CHARS_MAX)
        begun = False
        for piece in self._pieces():
            *whole_lines, rest = piece.split("\n")
            for end in whole_lines:
                line.take(end)
                yield line.text().removesuffix("\r")
                line, begun = HeadTail(TOOL_READ_LINE_CHARS_MAX), False
            if rest:
                line.take(rest)
                begun = True
        if begun:
            yield line.text()

    def _pieces(self) -> Iterator[str]:
        data = self._start
        first = True
        while data:
            text = clean(self._decoder.decode(data))
            yield self._hiding.take(text.removeprefix(_MARK) if first else text)
            first = False
            self.cut = self._bytes_left <= 0 or self._is_over()
            if self.cut:
                return
            data = os.read(self._fd, TOOL_READ_BYTES)
            self._bytes_left -= len(data)
        yield self._hiding.take(clean(self._decoder.decode(b"", final=True))) + self._hiding.rest()
