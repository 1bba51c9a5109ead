"""Messages as bytes: what a pipe and a socket carry. All kinds of message are known here, and here alone.

What is decoded equals what was encoded; a message that would not is no message.
"""

from functools import reduce
from operator import or_

import msgspec

from eukhe.actors.messages import Msg

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Msg] = msgspec.msgpack.Decoder(reduce(or_, Msg.__subclasses__()))


def encode(message: Msg) -> bytes:
    """A message's bytes. Its texts hold no lone surrogates: UnicodeEncodeError."""
    return _encoder.encode(message)


def decode(data: bytes) -> Msg:
    """The message. msgspec.DecodeError where the bytes are none."""
    try:
        return _decoder.decode(data)
    except RecursionError as error:  # of bytes that no message has
        raise msgspec.DecodeError(str(error)) from error
