"""Messages from elsewhere into the chat: each once, and a long text that says an earlier one again not at all.

With an offline line writer an import is paced: all that a message brings is built before the next one is logged, so
that the view is the same on every machine, and the same again after an import that was interrupted (D12).
"""

from hashlib import blake2b
from typing import NamedTuple

import msgspec

from eukhe.actors.messages import Entry
from eukhe.cli.asking import Owner
from eukhe.limits import IMPORT_INDEX_MESSAGES, INDEX_DIGEST_BYTES, REPEAT_CHARS_MIN
from eukhe.model.secrets import Secrets
from eukhe.model.text import clean, pieces
from eukhe.world.transcripts import Said


class Counts(NamedTuple):
    """`logged`: messages new in the chat. `known`: those that were there. `repeated`: long texts said before.

    `differing`: texts that were there under the same key with other words, which stay.
    """

    logged: int = 0
    known: int = 0
    repeated: int = 0
    differing: int = 0


class Importer:
    """Takes in what was said elsewhere, in its order, with a mark for each secret (D16)."""

    def __init__(self, owner: Owner, secrets: Secrets) -> None:
        self._owner = owner
        self._secrets = secrets
        self._unindexed: set[bytes] = set()  # digests of the long texts that the index may not know yet
        self._since_index = 0
        self.counts = Counts()
        owner.settle()

    def take(self, given: Said) -> None:
        """One message. AppendRefused where the store takes no more."""
        said = msgspec.structs.replace(given, text=self._secrets.hide(clean(given.text)))
        texts = pieces(said.kind, said.text)
        first = self._owner.index.id_of_key(said.key)
        if first is not None and len(texts) == 1 and not said.images:
            record = self._owner.archive.message(first)
            self._count(known=1, differing=record is not None and record.text != texts[0])
        elif self._is_in_place(given):
            self._count(known=len(texts))
        elif first is None and said.exported_i is None and not said.images and self._is_repeat(texts):
            self._count(repeated=1)
        else:  # of a split text a crash may have kept the first pieces alone: the store knows
            self._append(Entry(said.kind, said.text, said.date, said.key, said.images))

    def _append(self, entry: Entry) -> None:
        logging = self._owner.append(entry)
        self._owner.settle(logging.first + logging.count)
        self._count(logging.new, logging.count - logging.new, differing=logging.differs)
        self._since_index += logging.new
        if self._since_index >= IMPORT_INDEX_MESSAGES:  # so that nothing here grows with the import
            self._owner.commit_index()
            self._unindexed.clear()
            self._since_index = 0

    def _count(self, logged: int = 0, known: int = 0, repeated: int = 0, differing: int = 0) -> None:
        more = (logged, known, repeated, differing)
        self.counts = Counts(*(count + new for count, new in zip(self.counts, more, strict=True)))

    def _is_repeat(self, texts: list[str]) -> bool:
        """Whether a text of more than 280 characters says an earlier one again, word for word."""
        if len(texts[0]) < REPEAT_CHARS_MIN:
            return False
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
