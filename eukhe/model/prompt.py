"""The texts that a model is sent. Pure: no clock, disk or threads.

They are fixed while a chat is open: no date, no state stands in them, so that all calls begin with the same bytes.
Rules 27, 35, 36, 44, 45, 52, 56.
"""

import msgspec

from eukhe.model.talk import Tool


class Texts(msgspec.Struct, frozen=True):
    """The texts in force. `system` ends with the user's own instructions.

    `message`, `merge`, `too_long`: the tasks of a compaction, with names in braces for what differs; `turn`: what
    stands before a turn's new message.
    """

    system: str
    tools: tuple[Tool, ...]
    message: str
    merge: str
    too_long: str
    turn: str
