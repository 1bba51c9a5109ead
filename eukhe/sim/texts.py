"""What clients log: texts of many sizes, no two the same, now and then odd or very long ones."""

from random import Random
from typing import Final

from eukhe.actors.messages import Entry
from eukhe.limits import KEY_BYTES_MAX, PIECE_CHARS_MAX
from eukhe.model.record import KINDS
from eukhe.sim.faults import Faults

WORDS: Final = ("the", "parser", "reads", "a", "line", "twice", "when", "tests", "fail", "in", "src/main.py", "again")
ODD_WORDS: Final = ("8+4|", "</chat>", "<chat>", "Compaction:", "Turn:", "</input>", "\0", "\x1b[31m", "\u2028", "é…")
PNG: Final = b"\x89PNG\r\n\x1a\n"
DATE: Final = "2025-01-02T03:04:05+01:00"
COUNTS: Final = (3, 10, 40, 120, 200)  # number: of words


class Texts:
    """`left`: how many clients may still choose to log; turns log theirs all the same."""

    def __init__(self, random: Random, faults: Faults, left: int) -> None:
        self.left = left
        self._random = random
        self._faults = faults
        self._number = 0

    def entry(self) -> Entry:
        """A new text."""
        random, faults = self._random, self._faults
        self.left -= 1
        words = [random.choice(WORDS) for _ in range(random.choice(COUNTS))]
        if faults.strikes("odd-message"):
            words.insert(random.randrange(len(words)), faults.dice("odd-message").choice(ODD_WORDS))
        text = f"{self._number} {' '.join(words)}"
        self._number += 1
        if faults.strikes("long-message"):
            text = text * (PIECE_CHARS_MAX // len(text) + 2)
        images: tuple[bytes, ...] = ()
        if faults.strikes("image"):
            images = tuple(PNG + bytes([number]) for number in range(faults.dice("image").randint(1, 2)))
        date = DATE if random.random() < 1 / 8 else None  # number: some are older than their logging
        return Entry(random.choice(KINDS), text, date, images=images)

    def logged(self, entry: Entry) -> None:
        """A text has been acknowledged: what was odd about it did no harm."""
        if any(word in ODD_WORDS for word in entry.text.split(" ")):
            self._faults.meet("odd-message")
        if len(entry.text) > PIECE_CHARS_MAX:
            self._faults.meet("long-message")
        if entry.images:
            self._faults.meet("image")

    def refused(self) -> Entry:
        """A text that can't be logged."""
        return self._faults.dice("refused-text").choice(
            (
                Entry("talk", "of a kind that is none"),
                Entry("user", "with a key that is too long", key="k" * (KEY_BYTES_MAX + 1)),
                Entry("user", "with a date that is none", date="yesterday"),
                Entry("user", "of a day that there is not", date="2026-02-30T09:32:11Z"),
            )
        )
