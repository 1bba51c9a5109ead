"""Why a call did not read from its provider's cache what it might have. Pure: no clock, disk or threads.

Of the calls of one role, in the order in which they were sent. What a call leaves in the cache is its prefix, up to its
last mark: the tokens that it read and wrote. A later one of the same model and batch, with at least as many blocks,
should read as much, once the response to the one before had begun; a turn's first one what the first one of the turn
before has read, for the view is all that both have. What of that it paid again is a miss, and has one of these reasons:

    first call      there was none before it
    model changed   the one before asked another model
    pause           the entry had not been read for five minutes
    batch           the beginning of the view had changed
    look-back       the entry stood more than 20 blocks before this call's own mark
    unknown         none of these

A provider that says nothing of what it writes keeps all of a request, if it is long enough; there only a call that read
nothing at all is a miss.
"""

from datetime import datetime
from typing import Final, NamedTuple

from eukhe.limits import AUTOMATIC_CACHE_TOKENS_MIN, CACHE_LIFE_S, CACHE_LOOK_BACK_POSITIONS
from eukhe.model.ledger import OVER, RESPONDED, Call, Note
from eukhe.model.talk import Usage

REASONS: Final = ("batch", "pause", "model changed", "look-back", "first call", "unknown")


class Miss(NamedTuple):
    """`tokens`: that were paid for and might have been read; of a first call, all that it wrote."""

    id: str
    reason: str
    tokens: int


class _Entry(NamedTuple):
    """In the cache: so many tokens, up to so many blocks, last used then; it can be read since `ready`."""

    tokens: int
    blocks: int
    used: datetime
    ready: datetime


class Misses:
    """Among one role's calls, told one after the other. Those of which no usage is known are passed over."""

    def __init__(self) -> None:
        self._before: Note | None = None
        self._entries: list[_Entry] = []  # of the model and batch of the call before
        self._view_tokens = 0  # of these, what the last turn's first request has read: the view, at least

    def take(self, call: Call) -> Miss | None:
        """What the next call has missed, if anything."""
        if call.usage is None:
            return None
        head, own, before, entries = call.head, _entry(call, call.usage), self._before, self._entries
        if before is None or head.model != before.model or head.batch != before.batch:
            reason, expected = _anew(head, before, entries), own.tokens
            if entries and before is not None and head.model == before.model:
                expected = min(own.tokens, max(entry.tokens for entry in entries))
            entries, self._view_tokens = [], 0
        elif head.first:
            reason, expected = _of_a_new_turn(own, entries, self._view_tokens)
        else:
            reason, expected = _further(own, entries)
        if head.first:
            self._view_tokens = call.usage.cache_read
        self._before = head
        self._entries = [*(entry for entry in entries if entry.blocks != own.blocks), own]
        missed = _missed(call.usage, expected)
        return Miss(head.id, reason, missed) if missed else None


def _anew(head: Note, before: Note | None, entries: list[_Entry]) -> str:
    if before is None:
        return "first call"
    if head.model != before.model:
        return "model changed"
    last = max(entry.used for entry in entries)
    return "pause" if _is_gone(last, datetime.fromisoformat(head.t)) else "batch"


def _of_a_new_turn(own: _Entry, entries: list[_Entry], view_tokens: int) -> tuple[str, int]:
    """Of a turn's first call, which has the view alone in common with those before it."""
    used = max(entry.used for entry in entries)
    return "pause" if _is_gone(used, own.used) else "unknown", min(view_tokens, own.tokens)


def _further(own: _Entry, entries: list[_Entry]) -> tuple[str, int]:
    """Of a call that goes on from others: why it may have missed, and what it should have read."""
    fitting = [entry for entry in entries if entry.blocks <= own.blocks and entry.ready <= own.used]
    if not fitting:
        return "unknown", 0
    best = max(fitting, key=lambda entry: entry.blocks)
    expected = min(best.tokens, own.tokens)
    if _is_gone(best.used, own.used):
        return "pause", expected
    return "look-back" if own.blocks - best.blocks >= CACHE_LOOK_BACK_POSITIONS else "unknown", expected


def _is_gone(used: datetime, now: datetime) -> bool:
    return (now - used).total_seconds() > CACHE_LIFE_S


def _entry(call: Call, usage: Usage) -> _Entry:
    head = call.head
    tokens = usage.cache_read + usage.cache_write + (usage.input if _is_automatic(head.model) else 0)
    told = next((call.notes[stage] for stage in (RESPONDED, OVER) if stage in call.notes), head)
    return _Entry(tokens, head.blocks, datetime.fromisoformat(head.t), datetime.fromisoformat(told.t))


def _is_automatic(model: str) -> bool:
    return not model.startswith("anthropic/")


def _missed(usage: Usage, expected: int) -> int:
    if usage.cache_write or not usage.input:
        return max(0, expected - usage.cache_read)
    return 0 if usage.cache_read or expected < AUTOMATIC_CACHE_TOKENS_MIN else expected
