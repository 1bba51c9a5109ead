"""What a client may not say: garbage, orders that are none, answers, tickets that are taken, lines that can't be."""

from random import Random

from eukhe.actors.messages import AskStatus, Flush, Hello, PrefixRead, ReadView, Settle, Welcome
from eukhe.actors.wire import encode
from eukhe.limits import PROTOCOL
from eukhe.model.part import Part

TICKET = 1_000_000  # number: none that a client's own orders come to


def first_frames(dice: Random) -> list[bytes]:
    """In the place of a `Hello`."""
    return [dice.choice((_garbage(dice), encode(Flush()), encode(Hello(PROTOCOL - 1, "0", 1))))]


def frames(dice: Random) -> list[bytes]:
    """In the place of an order; the last one is what the door refuses."""
    name = "rude"
    settle = encode(Settle(name, TICKET, TICKET, take=True))  # it lasts: there are never so many messages
    return dice.choice(
        (
            [_garbage(dice)],
            [encode(Welcome(PROTOCOL, "1", 1))],
            [settle, settle],
            [settle, encode(PrefixRead(name, TICKET))],
            [encode(ReadView((Part(0, -1),), (), name, TICKET))],
            [encode(ReadView((), (Part(60, 60),), name, TICKET))],  # number: past all chats
            [encode(AskStatus(name, TICKET)), encode(Flush())],
            [encode(ReadView((Part(9, 9),), (), name, TICKET)), encode(Flush())],  # number: past this chat
        )
    )


def _garbage(dice: Random) -> bytes:
    return dice.randbytes(dice.randrange(40))  # number: bytes
