"""A provider's prompt cache: what a request reads of it and writes to it. Pure: no clock, disk or threads.

As Anthropic documents it ("Prompt caching", its sections on automatic prefix checking, limits and usage):

- A request is one row of blocks: its tools, its system prompt, the content of its messages. An entry stands for all of
  them up to one block, byte for byte, and for one model. It is written where that block has a mark, nowhere else, and
  a request has four marks at most. A thinking block can have none.
- It is read by looking back from each mark, the last mark first: at the marked block, the one before it, and so on, at
  most 20 positions, of which the marked block is the first. So an entry 19 blocks back is found, one 20 blocks back is
  not. Tool calls that stand in a row are one position together, and so are results in a row.
- A prefix that has fewer tokens than the model's minimum is not cached; nothing is said about it.
- An entry lives five minutes from the start of the request that last wrote or read it.
- An entry can be read once the response of the request that writes it has begun: two requests at once both pay.
- Usage: what was read; what stands between that and the last mark, which was written; all after it, paid as it is.

Where the documentation is silent: a request refreshes the entries at all its marks once its response has begun, and an
entry can be read exactly five minutes after. That a new image would empty the cache is not modelled.

`Automatic` is the cache of OpenAI's form: no marks, no price for writing; the longest prefix that was there before, in
steps of 128 tokens from 1,024. Its entries are taken to live as long, the least that is promised.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Final, Literal

import msgspec

from eukhe.limits import (
    AUTOMATIC_CACHE_STEP_TOKENS,
    AUTOMATIC_CACHE_TOKENS_MIN,
    CACHE_LIFE_S,
    CACHE_LOOK_BACK_POSITIONS,
    CACHE_MARKS_MAX,
    CACHE_TOKEN_BYTES,
)
from eukhe.model.prices import claude_cache_tokens_min
from eukhe.model.talk import Usage

Kind = Literal["text", "use", "result", "thought"]

_IN_A_ROW: Final = ("use", "result")


class Refused(ValueError):
    """The provider answers such a request with 400, and these words."""


class Block(msgspec.Struct, frozen=True):
    """A block of a request. `data`: all that makes it differ from another; an image's may be its hash."""

    data: bytes
    tokens: int
    mark: bool = False
    kind: Kind = "text"


class Call(msgspec.Struct, frozen=True):
    """What one request costs at its start, and the entries that it writes, or refreshes, once its response begins."""

    usage: Usage
    started_s: float
    writes: tuple[bytes, ...] = ()


def tokens_of(data: bytes) -> int:
    """How many tokens a text is: four bytes each, the last one may be smaller. Rough, but the same everywhere."""
    return -(-len(data) // CACHE_TOKEN_BYTES)


class _Entries:
    """What is cached: keys of prefixes, with the start of the last request that wrote or read each."""

    def __init__(self) -> None:
        self._used_s: dict[bytes, float] = {}

    def alive(self, key: bytes, now_s: float) -> bool:
        return key in self._used_s and now_s - self._used_s[key] <= CACHE_LIFE_S

    def use(self, keys: Iterable[bytes], started_s: float) -> None:
        """Writes or refreshes; a request that began earlier takes nothing from one that began later."""
        for key in keys:
            self._used_s[key] = max(started_s, self._used_s.get(key, started_s))

    def forget_dead(self, now_s: float) -> None:
        self._used_s = {key: used_s for key, used_s in self._used_s.items() if now_s - used_s <= CACHE_LIFE_S}

    def __len__(self) -> int:
        return len(self._used_s)


class PromptCache:
    """Anthropic's: `call` when a request comes, `begin` when its response begins."""

    def __init__(self) -> None:
        self._entries = _Entries()

    def call(self, model: str, blocks: Sequence[Block], now_s: float) -> Call:
        """A request comes in: what it reads, and what it will write. Refused where its marks are wrong."""
        check_marks(blocks)
        self._entries.forget_dead(now_s)
        keys = _keys(model, blocks)
        sizes = [0, *accumulate(block.tokens for block in blocks)]  # of the first n blocks
        marks = [
            at for at, block in enumerate(blocks) if block.mark and sizes[at + 1] >= claude_cache_tokens_min(model)
        ]
        hit = self._hit(blocks, keys, marks, now_s)
        read = sizes[hit + 1]
        cached = sizes[marks[-1] + 1] if marks else read
        if hit >= 0:
            self._entries.use([keys[hit]], now_s)
        usage = Usage(input=sizes[-1] - cached, cache_read=read, cache_write=cached - read)
        return Call(usage, now_s, tuple(keys[at] for at in marks))

    def begin(self, call: Call) -> None:
        """A request's response begins: from now on others can read what it writes."""
        self._entries.use(call.writes, call.started_s)

    def __len__(self) -> int:
        """How many entries there are, some of them dead maybe."""
        return len(self._entries)

    def _hit(self, blocks: Sequence[Block], keys: Sequence[bytes], marks: Sequence[int], now_s: float) -> int:
        """The last block of the longest prefix found, -1 where there is none."""
        for mark in reversed(marks):
            for at in _look_back(blocks, mark):
                if self._entries.alive(keys[at], now_s):
                    return at
        return -1


def check_marks(blocks: Iterable[Block]) -> None:
    """Refuses more marks than there may be, and one at a block that can have none."""
    marked = [block for block in blocks if block.mark]
    if len(marked) > CACHE_MARKS_MAX:
        raise Refused(f"A maximum of {CACHE_MARKS_MAX} blocks with cache_control may be provided. Found {len(marked)}.")
    if any(block.kind == "thought" for block in marked):
        raise Refused("thinking.cache_control: Extra inputs are not permitted")


def _keys(model: str, blocks: Sequence[Block]) -> list[bytes]:
    """For each block the key of all up to it."""
    chain = sha256(model.encode())
    keys = []
    for block in blocks:
        chain.update(sha256(block.data).digest())
        keys.append(chain.digest())
    return keys


def _look_back(blocks: Sequence[Block], mark: int) -> Iterable[int]:
    """The blocks that are looked at from a mark, the nearest first."""
    positions = 0
    for at in range(mark, -1, -1):
        same_run = at < mark and blocks[at].kind in _IN_A_ROW and blocks[at].kind == blocks[at + 1].kind
        positions += not same_run
        if positions > CACHE_LOOK_BACK_POSITIONS:
            return
        yield at


class Automatic:
    """OpenAI's: every prefix of a request is cached, in steps. Used as `PromptCache` is."""

    def __init__(self) -> None:
        self._entries = _Entries()

    def call(self, model: str, blocks: Sequence[Block], now_s: float) -> Call:
        """A request comes in: what it reads, and what it will write."""
        self._entries.forget_dead(now_s)
        steps = list(_steps(model, blocks))
        read = max((tokens for tokens, key in steps if self._entries.alive(key, now_s)), default=0)
        self._entries.use((key for tokens, key in steps if tokens <= read), now_s)
        total = sum(block.tokens for block in blocks)
        return Call(Usage(input=total - read, cache_read=read), now_s, tuple(key for _, key in steps))

    def begin(self, call: Call) -> None:
        """A request's response begins: from now on others can read its prefixes."""
        self._entries.use(call.writes, call.started_s)


def _steps(model: str, blocks: Iterable[Block]) -> Iterable[tuple[int, bytes]]:
    """Each prefix that is cached: its tokens and its key. A block's last token is filled up; an image's are empty."""
    widths = ((block.data, block.tokens * CACHE_TOKEN_BYTES) for block in blocks)
    row = b"".join(data[:width].ljust(width, b"\0") for data, width in widths)
    chain = sha256(model.encode())
    step = AUTOMATIC_CACHE_STEP_TOKENS * CACHE_TOKEN_BYTES
    for end in range(step, len(row) + 1, step):
        chain.update(row[end - step : end])
        if end >= AUTOMATIC_CACHE_TOKENS_MIN * CACHE_TOKEN_BYTES:
            yield end // CACHE_TOKEN_BYTES, chain.digest()
