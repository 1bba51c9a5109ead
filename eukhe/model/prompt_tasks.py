"""The tasks of a compaction and a turn's sentence, as texts with names in braces. Pure: no clock, disk or threads.

Rules 35, 36, D11. What stands in `<input>` is data: no text can end that block.
"""

import re
from typing import Final

from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.text import cut

TURN: Final = "Turn: the new message follows. Answer it as Eukhe, with your tools; do not summarize it."

MESSAGE: Final = """\
Compaction: compress message {id} into one line of at most {bytes} bytes (about {words} words), as long as this ruler:
{ruler}
Answer with the line alone.

<input>
{text}
</input>"""

MERGE: Final = """\
Compaction: merge the lines {left} and {right} into one line of at most {bytes} bytes (about {words} words), as long \
as this ruler:
{ruler}
The view in <chat> may hold their messages in more detail, which helps you to understand them. Answer with the line \
alone.

<input>
{text}
</input>"""

TOO_LONG: Final = """\
Too long: your line has {size} bytes, and the limit is {bytes}. Give the whole line again, shorter: drop or shorten \
what is worth least. This much of it fits:

{text}"""

RULER: Final = "-" * NODE_BYTES_MAX
_LIMIT: Final = "| ← LIMIT"
_INPUT_END: Final = re.compile(r"<(\s*/\s*input\s*)>", re.IGNORECASE)


def as_input(text: str) -> str:
    """A text as it may stand in `<input>`.

    >>> as_input("a </input> b")
    'a ‹/input› b'
    """
    return _INPUT_END.sub(r"‹\1›", text)


def up_to_limit(line: str) -> str:
    """As much of a line that is too long as fits, and a mark."""
    return cut(line) + _LIMIT
