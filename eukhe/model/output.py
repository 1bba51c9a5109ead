"""What a tool prints, however much it is. Pure: no clock, disk or threads. Rule 9.

HeadTail(chars_max).take(piece) …  .text() == clip(all pieces joined, chars_max)
Lines().take(piece) …              a line that is written over, as a bar of progress is, is its last state
"""

from collections import deque

from eukhe.limits import TOOL_LINE_CHARS_MAX, TOOL_RESULT_CHARS_MAX
from eukhe.model.text import clipped


class HeadTail:
    """The beginning and the end of a text that comes in pieces; of what is between them only its length."""

    def __init__(self, chars_max: int = TOOL_RESULT_CHARS_MAX) -> None:
        self._chars_max = chars_max
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_chars = 0
        self._chars = 0
        self.at_line_start = True

    def take(self, piece: str) -> None:
        """The text goes on."""
        if piece:
            self.at_line_start = piece.endswith("\n")
        self._chars += len(piece)
        if len(self._head) < self._chars_max:
            room = self._chars_max - len(self._head)
            self._head += piece[:room]
            piece = piece[room:]
        if piece:
            self._tail.append(piece)
            self._tail_chars += len(piece)
            while self._tail_chars - len(self._tail[0]) >= self._chars_max:
                self._tail_chars -= len(self._tail.popleft())

    def text(self) -> str:
        """Head and tail around a line that says how many characters are left out, as `clip` would have it."""
        tail = "".join(self._tail)
        return clipped(self._head, (self._head + tail)[-self._chars_max :], self._chars, self._chars_max)


class Lines:
    """Takes out of a text what a terminal would have written over: all before a carriage return, in its line.

    A line that gets long is let go as it is, so that no more than that is ever held.
    """

    def __init__(self) -> None:
        self._held = ""  # of the line that has not ended

    def take(self, piece: str) -> str:
        """What is sure to stay, now that this has come."""
        lines, newline, self._held = (self._held + piece).rpartition("\n")
        if "\r" in self._held:
            self._held = _last_state(self._held)
        long, self._held = (self._held, "") if len(self._held) > TOOL_LINE_CHARS_MAX else ("", self._held)
        if "\r" in lines:
            lines = "\n".join(_last_state(line).removesuffix("\r") for line in lines.split("\n"))
        return lines + newline + long

    def rest(self) -> str:
        """The line that did not end."""
        held, self._held = self._held, ""
        return held.removesuffix("\r")


def _last_state(line: str) -> str:
    """What stands in a line after its last carriage return; one at its end may yet be a newline's."""
    ended = line.endswith("\r")
    return line.rstrip("\r").rpartition("\r")[2] + ("\r" if ended else "")
