"""A message's line without a model. Pure: no clock, disk or threads."""

from eukhe.limits import EXTRACT_PHRASE_PERCENT, EXTRACT_USER_PHRASE_PERCENT, NODE_BYTES_MAX
from eukhe.model.extract.calls import call
from eukhe.model.extract.fill import Clause, fill
from eukhe.model.extract.items import items
from eukhe.model.extract.pieces import Piece, plain, prose
from eukhe.model.extract.results import result

BLANK = "(blank)"


def extract_message(label: str) -> str:
    """The line of a message, 1 to 512 bytes, from its `kind: text`.

    >>> extract_message("user: keep the log append-only")
    'user: keep the log append-only'
    """
    (item,) = items(label, 1)
    found = pieces(item.kind, item.text)
    percent = EXTRACT_USER_PHRASE_PERCENT if item.kind == "user" else EXTRACT_PHRASE_PERCENT
    return fill([Clause(item.kind, piece.text, piece.boost) for piece in found], NODE_BYTES_MAX, percent)


def pieces(kind: str, text: str) -> list[Piece]:
    """The clauses of a kind's text, each once, at least one."""
    text = plain(text)
    if kind == "tool":
        found = call(text)
    elif kind == "echo":
        found = result(text)
    else:
        found = prose(text)
    once: dict[str, Piece] = {}
    for piece in found:
        if piece.text:
            once.setdefault(piece.text, piece)
    return list(once.values()) or [Piece(BLANK, 1)]
