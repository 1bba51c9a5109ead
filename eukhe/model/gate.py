"""The prefix gate: of calls alike one writes the cache, the others wait. Pure: no clock, disk or threads. Rule 30.

Calls are alike when all that they send up to their view's mark is the same. A prefix is cold, being written, or warm:

    cold     nobody writes; who comes is sent, as the writer
    written  the writer was sent and its response has not begun; who comes waits
    warm     a response began less than four minutes ago; who comes is sent at once

When the writer's response begins, all go. When it ends before that in any way, or has had its 120 s, the next waiter
writes. Two payers for one prefix are so impossible (rule 30), and nobody waits for one who is gone.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from msgspec import json

from eukhe.limits import BLOCK_LINES, INDEX_DIGEST_BYTES, PREFIX_WARM_S, PREFIX_WRITER_S
from eukhe.model.part import Part
from eukhe.model.prompt import Texts

Call = tuple[str, int]
"""Who asked, and its number for the call."""


class Gone(NamedTuple):
    """The calls that may be sent now, in this order. The first is the prefix's writer where `writes`."""

    calls: tuple[Call, ...] = ()
    writes: bool = False


class Prefix:
    """One prefix, and the calls that are at it."""

    def __init__(self) -> None:
        self.writer: Call | None = None
        self.written_by_s = 0.0  # when the writer's time is over
        self.waiters: list[Call] = []
        self.warm_until_s: float | None = None

    def enter(self, call: Call, now_s: float) -> Gone:
        """A call is ready. One that is here already stays where it is."""
        if self.is_warm(now_s):
            return Gone((call,))
        if self.writer is None:
            return self._write(call, now_s)
        if call != self.writer and call not in self.waiters:
            self.waiters.append(call)
        return Gone()

    def read(self, call: Call, now_s: float) -> Gone:
        """A call's response began. Where another writes, that other's is waited for all the same."""
        if self.writer not in (None, call):
            return Gone()
        self.warm_until_s = now_s + PREFIX_WARM_S
        self.writer = None
        gone, self.waiters = tuple(self.waiters), []
        return Gone(gone)

    def leave(self, call: Call, now_s: float) -> Gone:
        """A call ended, was stopped, or is late: the next one writes, where it was the writer."""
        if call != self.writer:
            self.waiters = [waiter for waiter in self.waiters if waiter != call]
            return Gone()
        self.writer = None
        return self._write(self.waiters.pop(0), now_s) if self.waiters else Gone()

    def is_late(self, call: Call, now_s: float) -> bool:
        """Whether a call writes, and has had its time."""
        return call == self.writer and now_s >= self.written_by_s

    def is_warm(self, now_s: float) -> bool:
        return self.warm_until_s is not None and now_s < self.warm_until_s

    def is_cold(self, now_s: float) -> bool:
        """Nothing is known of it: it may be forgotten."""
        return self.writer is None and not self.is_warm(now_s)

    def _write(self, call: Call, now_s: float) -> Gone:
        self.writer = call
        self.written_by_s = now_s + PREFIX_WRITER_S
        return Gone((call,), writes=True)


def prefix_of(model: str, lines: Sequence[Part], effort: str = "", texts: Texts | None = None) -> str:
    """The name of what a call sends up to its view's mark, the end of the last whole block.

    A line's text never changes, so its node stands for it. `texts`: those in force; None where none are sent.
    """
    whole = lines[: len(lines) - len(lines) % BLOCK_LINES]
    told = json.encode([model, effort, texts, [part.name for part in whole]])
    return blake2b(told, digest_size=INDEX_DIGEST_BYTES).hexdigest()
