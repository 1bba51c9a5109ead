"""Messages that any actor may get, and the supervisor's."""

from eukhe.actors.messages.base import Msg


class Ping(Msg, frozen=True):
    """Are you up?"""

    reply_to: str
    ticket: int


class Pong(Msg, frozen=True):
    ticket: int


class Sync(Msg, frozen=True):
    """Answer once all before it is done; of the index: and committed."""

    reply_to: str
    ticket: int


class Synced(Msg, frozen=True):
    ticket: int


class Failed(Msg, frozen=True):
    """The host to a behaviour: an effect failed, the rest of its list was dropped."""

    why: str


class Crashed(Msg, frozen=True):
    """A behaviour raised: `who`, and what it said."""

    who: str
    why: str


class Begin(Msg, frozen=True):
    """Start every actor."""

    reply_to: str
    ticket: int


class Begun(Msg, frozen=True):
    ticket: int


class End(Msg, frozen=True):
    """Let every actor finish, and stop it."""

    reply_to: str
    ticket: int


class Ended(Msg, frozen=True):
    """All are stopped. `why`: what crashed, if anything did."""

    ticket: int
    why: str | None


class OwnerFailed(Msg, frozen=True):
    """To the edge: an actor crashed, the system goes down."""

    why: str
