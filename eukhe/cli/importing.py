"""Messages from elsewhere into the chat: each once, a long repeat once, many on their way at a time."""

from collections import deque
from hashlib import blake2b
from typing import NamedTuple

from eukhe.actors.messages import Entry
from eukhe.cli.owner import Owner
from eukhe.limits import (
    IMPORT_CHARS,
    IMPORT_ENTRIES,
    IMPORT_ORDERS,
    IMPORT_REST_MESSAGES,
    INDEX_DIGEST_BYTES,
    REPEAT_CHARS_MIN,
)
from eukhe.model.text import clean, pieces
from eukhe.world.transcripts import Said


class Counts(NamedTuple):
    """`logged`: messages new in the chat. `known`: said ones that were there. `repeated`: long texts said before."""

    logged: int
    known: int
    repeated: int


class Importer:
    """Takes in what was said elsewhere, in its order."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._entries: list[Entry] = []
        self._chars = 0
        self._orders: deque[int] = deque()
        self._unindexed: set[bytes] = set()  # digests of the long texts that the index does not know yet
        self._since_rest = 0
        self._logged = self._known = self._repeated = 0

    def take(self, said: Said) -> None:
        """One message. AppendRefused where the store takes no more."""
        if self._owner.index.id_of_key(said.key) is not None or self._is_in_place(said):
            self._known += 1
            return
        if said.exported_i is None and not said.images and self._is_repeat(said):
            self._repeated += 1
            return
        self._entries.append(Entry(said.kind, said.text, said.date, said.key, said.images))
        self._chars += len(said.text) + sum(map(len, said.images))
        if len(self._entries) >= IMPORT_ENTRIES or self._chars >= IMPORT_CHARS:
            self._send()

    def finish(self) -> Counts:
        """Waits until all is on disk, and what is due of the memory is built."""
        self._send()
        self._rest()
        return Counts(self._logged, self._known, self._repeated)

    def _is_repeat(self, said: Said) -> bool:
        """Whether a text of more than 280 characters says an earlier one again, word for word."""
        text = clean(said.text)
        if len(text) < REPEAT_CHARS_MIN:
            return False
        texts = pieces(said.kind, text)
        digest = blake2b("\0".join(texts).encode(), digest_size=INDEX_DIGEST_BYTES).digest()
        if digest in self._unindexed or self._is_logged(texts):
            return True
        self._unindexed.add(digest)
        return False

    def _is_logged(self, texts: list[str]) -> bool:
        """Whether these stand one after the other somewhere in the chat."""
        first = self._owner.index.id_of_text(texts[0])
        if first is None:
            return False
        records = [self._owner.archive.message(first + k) for k in range(1, len(texts))]
        return all(record is not None and record.text == text for record, text in zip(records, texts[1:], strict=True))

    def _is_in_place(self, said: Said) -> bool:
        """Whether this is this chat's own message, from an export of it, that has no key of its own."""
        if said.exported_i is None:
            return False
        record = self._owner.archive.message(said.exported_i)
        return record is not None and (record.kind, record.text, record.date) == (said.kind, said.text, said.date)

    def _send(self) -> None:
        if not self._entries:
            return
        while len(self._orders) >= IMPORT_ORDERS:
            self._answer()
        self._orders.append(self._owner.send(self._entries))
        self._since_rest += len(self._entries)
        self._entries, self._chars = [], 0
        if self._since_rest >= IMPORT_REST_MESSAGES:
            self._rest()

    def _rest(self) -> None:
        """Lets the memory and the index come up, so that neither falls far behind the log."""
        while self._orders:
            self._answer()
        self._owner.settle(take=False)
        self._owner.commit_index()
        self._unindexed.clear()
        self._since_rest = 0

    def _answer(self) -> None:
        for logging in self._owner.logged(self._orders.popleft()):
            self._logged += logging.new
            self._known += not logging.new
