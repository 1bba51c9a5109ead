"""Keys of messages: the same key is logged once. Pure: no clock, disk or threads.

A text that is split into n messages has n keys, `key#1/n` to `key#n/n`, so that each piece is logged once. A
piece may also come by itself under its own key, as in an export; then it is logged as it comes. D2.
"""

import re

_PIECE = re.compile(r"(.*)#([1-9][0-9]{0,8})/([1-9][0-9]{0,8})", re.DOTALL)


def piece_key(key: str, k: int, n: int) -> str:
    """The key of piece k (from 1) of n.

    >>> piece_key("k", 1, 3)
    'k#1/3'
    """
    return f"{key}#{k}/{n}"


def piece_of(key: str) -> tuple[str, int, int]:
    """The text's key, which piece (from 1) of how many: a key that is no piece's is the first of one.

    >>> piece_of("k#2/3"), piece_of("k")
    (('k', 2, 3), ('k', 1, 1))
    """
    if "#" in key and (found := _PIECE.fullmatch(key)):
        whole, k, n = found[1], int(found[2]), int(found[3])
        if k <= n and n > 1:
            return whole, k, n
    return key, 1, 1
