"""What every message is."""

import msgspec


class Msg(msgspec.Struct, frozen=True, tag=True):
    """A message. An order's end goes to the actor named by `reply_to`, with the order's own `ticket`."""
