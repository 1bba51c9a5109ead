"""What an import would bring, and what building its lines would cost, without anything being changed."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from eukhe.cli.estimate import Estimate, calls_left, lines_usd, merge_bytes
from eukhe.cli.reading import INDEX_FILE
from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.chat import ChatLimits
from eukhe.model.prices import Prices
from eukhe.model.prompt import Texts
from eukhe.model.text import clean, pieces, size
from eukhe.world.home import find_chat
from eukhe.world.index_reader import ReaderIndex
from eukhe.world.transcripts import Said


class Rehearsal(NamedTuple):
    """`messages`: that would come in, `known`: that are there. `long`: those that need a call, `long_bytes` of them."""

    messages: int = 0
    known: int = 0
    long: int = 0
    long_bytes: int = 0


def rehearse(home: Path, said: Iterable[Said]) -> Rehearsal:
    """Counts. Texts that repeat earlier ones word for word are not looked for: they would come in once."""
    with closing(ReaderIndex((find_chat(home) or home) / INDEX_FILE)) as index:
        found = Rehearsal()
        for item in said:
            sizes = [size(f"{item.kind}: {piece}") for piece in pieces(item.kind, clean(item.text))]
            if index.id_of_key(item.key) is not None:
                found = found._replace(known=found.known + len(sizes))
                continue
            long = [bytes_ for bytes_ in sizes if bytes_ > NODE_BYTES_MAX]
            more = (len(sizes), 0, len(long), sum(long))
            found = Rehearsal(*(count + new for count, new in zip(found, more, strict=True)))
        return found


def building(found: Rehearsal, model: str, texts: Texts, limits: ChatLimits, prices: Prices) -> Estimate:
    """What their lines, and all above them, would take."""
    merges = calls_left(found.messages, found.messages)
    calls = found.long + merges
    return Estimate(calls, lines_usd(calls, found.long_bytes + merge_bytes(merges), model, texts, limits, prices))
