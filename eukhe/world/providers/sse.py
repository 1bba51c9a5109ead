"""Server-sent events, from bytes as they come: by the rules of the HTML standard.

A line ends with \\n, \\r\\n or \\r. `field: value`, one space after the colon left out; `data` of several lines is
joined by newlines; a comment begins with a colon; an empty line ends an event. An event without data is none, and
neither is one that the end cuts off. Bytes that are no UTF-8 become U+FFFD.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eukhe.limits import STREAM_LINE_BYTES_MAX

# A \r at the end of what came so far may be the first half of a \r\n.
_END: Final = re.compile(rb"\r\n|\n|\r(?=[^\n])")
_BOM: Final = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """`name`: empty where it has none."""

    name: str
    data: str


class LineTooLong(Exception):
    """More bytes without an end of line, or without an end of event, than anybody sends."""


class Decoder:
    """Of one stream."""

    def __init__(self) -> None:
        self._left = b""
        self._began = False
        self._name = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that end with these bytes. LineTooLong."""
        self._left += data
        if not self._began and len(self._left) >= len(_BOM):
            self._left = self._left.removeprefix(_BOM)
            self._began = True
        *lines, self._left = _END.split(self._left)
        for line in lines:
            event = self._take(line.decode(errors="replace"))
            if event is not None:
                yield event
        if len(self._left) + self._size > STREAM_LINE_BYTES_MAX:
            raise LineTooLong(f"more than {STREAM_LINE_BYTES_MAX:,} bytes came as one event")

    def _take(self, line: str) -> Event | None:
        if not line:
            event = Event(self._name, "\n".join(self._data)) if self._data else None
            self._name, self._data, self._size = "", [], 0
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
            self._size += len(value)
        elif field == "event":
            self._name = value
        return None
