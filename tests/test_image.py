"""An image's size, told from its head."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.image import image_size, image_type

sides = st.integers(1, 16_383)
HEADS = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBP"]


def png(width: int, height: int) -> bytes:
    return HEADS[0] + struct.pack(">I4sII", 13, b"IHDR", width, height)


def gif(width: int, height: int) -> bytes:
    return HEADS[2] + struct.pack("<HH", width, height)


def jpeg(width: int, height: int) -> bytes:
    """With parts before the frame: one of an application's, a table, and filling."""
    parts = b"\xff\xe0" + struct.pack(">H", 16) + bytes(14) + b"\xff\xc4" + struct.pack(">H", 4) + b"\xff\xc0" + b"\xff"
    return b"\xff\xd8" + parts + b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + bytes(10)


def lossy(width: int, height: int) -> bytes:
    return HEADS[3] + b"VP8 " + bytes(4) + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width | 1 << 14, height)


def lossless(width: int, height: int) -> bytes:
    return HEADS[3] + b"VP8L" + bytes(4) + b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14 | 1 << 28)


def extended(width: int, height: int) -> bytes:
    sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return HEADS[3] + b"VP8X" + bytes(8) + sizes


@pytest.mark.parametrize("make", [png, gif, jpeg, lossy, lossless, extended])
@given(width=sides, height=sides)
def test_its_size_stands_in_its_head(make: object, width: int, height: int) -> None:
    assert callable(make)
    data = make(width, height)
    assert (width, height) == image_size(data)
    assert (width, height) == image_size(data + b"more")


@given(st.sampled_from(HEADS), st.binary(max_size=60))
def test_whatever_follows_a_head_breaks_nothing(head: bytes, rest: bytes) -> None:
    found = image_size(head + rest)
    assert found is None or 2 == len(found)


@pytest.mark.parametrize("make", [png, gif, jpeg, lossy, lossless, extended])
def test_a_head_that_is_cut_has_no_size(make: object) -> None:
    assert callable(make)
    data = make(300, 200).rstrip(b"\0")
    assert [None] * 12 == [image_size(data[:end]) for end in range(12)]
    assert image_type(data) is not None


def test_a_jpeg_whose_parts_never_end_is_read_to_its_end_and_no_further() -> None:
    assert image_size(b"\xff\xd8" + b"\xff\xe0\0\2" * 100_000) is None
    assert image_size(b"\xff" * 100_000) is None
    assert image_size(b"\xff\xd8\xff\xe0\0\0" * 10) is None
