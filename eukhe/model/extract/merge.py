"""Two nodes' line without a model. Pure: no clock, disk or threads."""

import re

from eukhe.limits import EXTRACT_MERGE_PHRASE_PERCENT, EXTRACT_PATH_PARTS, NODE_BYTES_MAX
from eukhe.model.extract.fill import Clause, fill
from eukhe.model.extract.items import items
from eukhe.model.extract.message import pieces

# Starts where a path starts, not inside it: else a long word without a slash would be tried from each of its letters.
_PATH = re.compile(rf"(?<![\w./@~-])/?(?:[\w.@~-]+/){{{EXTRACT_PATH_PARTS},}}[\w.@~-]+")


def extract_merge(left: str, right: str, half_messages: int | None = None) -> str:
    """The line of two nodes, 1 to 512 bytes, from theirs. `half_messages`: how many each covers.

    Where that is not given, a `user:` after another kind is not believed to be the user's.

    >>> extract_merge("user: name it eukhe", "eukhe: renamed in 3 files", 1)
    'user: name it eukhe; eukhe: renamed in 3 files'
    """
    clauses = []
    seen: set[tuple[str, str]] = set()
    for half, line in enumerate((left, right)):
        for item in items(line, half_messages):
            for piece in pieces(item.kind, item.text):
                text = _PATH.sub(_short, piece.text) if piece.text.count("/") >= EXTRACT_PATH_PARTS else piece.text
                if (item.kind, text) not in seen:
                    seen.add((item.kind, text))
                    clauses.append(Clause(item.kind, text, piece.boost, half))
    return fill(clauses, NODE_BYTES_MAX, EXTRACT_MERGE_PHRASE_PERCENT)


def _short(path: re.Match[str]) -> str:
    parts = path.group().split("/")
    return "…/" + "/".join(parts[-EXTRACT_PATH_PARTS:])
