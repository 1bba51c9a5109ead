"""Frames: how messages lie in a stream of bytes, their length first, four bytes with the highest first.

A frame's length is looked at before there is any room for it, and what comes is copied as often for a large frame as
for a small one, however it is cut on its way.
"""

from eukhe.errors import ExpectedError
from eukhe.limits import FRAME_BYTES_MAX, FRAME_HEAD_BYTES


class FrameTooLong(ExpectedError):
    """More than `FRAME_BYTES_MAX`."""

    def __init__(self, length: int) -> None:
        super().__init__(f"a frame of {length:,} bytes; {FRAME_BYTES_MAX:,} is the most")


def frame(data: bytes) -> bytes:
    """Some bytes as a frame. FrameTooLong."""
    if len(data) > FRAME_BYTES_MAX:
        raise FrameTooLong(len(data))
    return len(data).to_bytes(FRAME_HEAD_BYTES) + data


class Frames:
    """Takes a stream as it comes, gives the frames that are whole."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def take(self, data: bytes | memoryview) -> None:
        self._waiting += data

    def length(self) -> int | None:
        """Bytes of the next frame, None where its head is not there yet. FrameTooLong."""
        if len(self._waiting) < FRAME_HEAD_BYTES:
            return None
        length = int.from_bytes(self._waiting[:FRAME_HEAD_BYTES])
        if length > FRAME_BYTES_MAX:
            raise FrameTooLong(length)
        return length

    def next(self) -> bytes | None:
        """The next frame, None where it is not whole yet. FrameTooLong."""
        length = self.length()
        if length is None or len(self._waiting) < FRAME_HEAD_BYTES + length:
            return None
        end = FRAME_HEAD_BYTES + length
        with memoryview(self._waiting) as view:
            found = bytes(view[FRAME_HEAD_BYTES:end])
        del self._waiting[:end]  # moves the beginning, not what follows
        return found
