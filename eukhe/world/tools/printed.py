"""What a command prints, on its way to the user and to the model: text, without secrets, and bounded."""

import codecs
from collections.abc import Callable
from math import inf
from time import monotonic

from eukhe.limits import TOOL_SAID_CHARS_MAX, TOOL_SAID_S
from eukhe.model.output import HeadTail, Lines
from eukhe.model.secrets import Secrets
from eukhe.model.text import clean


class Printed:
    """Shows it as it comes, but not in more pieces than can be looked at, nor longer ones."""

    def __init__(self, secrets: Secrets, show: Callable[[str], None]) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._hiding = secrets.stream()
        self._lines = Lines()
        self._all = HeadTail()
        self._show = show
        self._unshown: HeadTail | None = None
        self._shown_s = -inf

    def take(self, data: bytes) -> None:
        """It goes on."""
        self._add(self._hiding.take(clean(self._decoder.decode(data))))

    def end(self, notes: str) -> str:
        """All of it that the model gets, with these notes as its last lines."""
        self._add(self._hiding.take(clean(self._decoder.decode(b"", final=True))) + self._hiding.rest())
        self._show_now()
        self._all.take(self._lines.rest())
        if notes:
            self._all.take(notes if self._all.at_line_start else f"\n{notes}")
        return self._all.text()

    def due_s(self) -> float:
        """In how many seconds something is to be shown."""
        return inf if self._unshown is None else max(self._shown_s + TOOL_SAID_S - monotonic(), 0)

    def show_if_due(self) -> None:
        if self.due_s() == 0:
            self._show_now()

    def _add(self, text: str) -> None:
        if text:
            self._all.take(self._lines.take(text))
            self._unshown = self._unshown or HeadTail(TOOL_SAID_CHARS_MAX)
            self._unshown.take(text)

    def _show_now(self) -> None:
        if self._unshown is not None:
            self._show(self._unshown.text())
            self._unshown = None
            self._shown_s = monotonic()
