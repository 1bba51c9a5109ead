"""Texts for measuring, made from a seed: as long as those of real sessions, of as many different words as a language.

Real sessions: half of the messages are below 250 bytes, a tenth above 2,000; two thirds fit in a line as they are.
"""

import random
from collections.abc import Iterator

SEED = 1_013
SIZE_MU, SIZE_SIGMA = 5.7, 1.5  # of the natural logarithm of a message's characters
CHARS_MIN, CHARS_MAX = 8, 29_000
LINE_BYTES_MIN, LINE_BYTES_MAX = 300, 512
WORDS = 30_000
STREAM_WORDS = 300_000
KINDS = ("user", "eukhe", "tool", "echo", "tool", "echo", "tool", "echo")
_LETTERS = "eeeeeetttttaaaaaoooooiiiiinnnnnsssshhhhrrrrdddlllccuummwwffggyypbvk"


def sizes(count: int) -> Iterator[int]:
    """The characters of messages."""
    chance = random.Random(SEED)
    for _ in range(count):
        yield max(CHARS_MIN, min(CHARS_MAX, int(chance.lognormvariate(SIZE_MU, SIZE_SIGMA))))


def line_sizes() -> Iterator[int]:
    """The bytes of lines that a model wrote, without end."""
    chance = random.Random(SEED)
    drawn = [chance.randint(LINE_BYTES_MIN, LINE_BYTES_MAX) for _ in range(4_096)]
    while True:
        yield from drawn


class Texts:
    """Texts cut out of one long row of words, of which few are frequent and many rare."""

    def __init__(self, seed: int = SEED) -> None:
        self._chance = random.Random(seed)
        words = ["".join(self._chance.choices(_LETTERS, k=self._chance.randint(2, 11))) for _ in range(WORDS)]
        frequency = [1 / rank for rank in range(1, WORDS + 1)]
        self._stream = " ".join(self._chance.choices(words, frequency, k=STREAM_WORDS))

    def text(self, chars: int) -> str:
        """So many characters."""
        at = self._chance.randrange(len(self._stream) - CHARS_MAX)
        return self._stream[at : at + chars]
