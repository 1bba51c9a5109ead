"""Images of a message: their type, their file's name, their mark in the text. Pure: no clock, disk or threads.

An image's type is read from its bytes, whatever its sender called it; its name is its SHA-256, so that a name can't
lead anywhere else, and the same image twice is one file. None is ever unpacked here, so that a small file which holds
an endless picture does no harm.
"""

import hashlib
import struct
from collections.abc import Iterable
from typing import Final

from eukhe.limits import IMAGE_BYTES_MAX, IMAGE_NAME_DIGITS

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_GIF = (b"GIF87a", b"GIF89a")
_RIFF = b"RIFF"
_WEBP = b"WEBP"
_WEBP_AT = len(_RIFF) + len(b"size")

# Where each has its width and height.
_PNG_SIZE: Final = struct.Struct(">16xII")
_GIF_SIZE: Final = struct.Struct("<6xHH")
_WEBP_FORM: Final = struct.Struct("<12x4s")
_WEBP_SIZES: Final = {
    b"VP8 ": struct.Struct("<26xHH"),
    b"VP8L": struct.Struct("<21xI"),
    b"VP8X": struct.Struct("<24xHBHB"),
}
_JPEG_PART: Final = struct.Struct(">xcH")
_JPEG_FRAME: Final = struct.Struct(">5xHH")
_JPEG_FRAMES: Final = frozenset(bytes([code]) for code in b"\xc0\xc1\xc2\xc3\xc5\xc6\xc7\xc9\xca\xcb\xcd\xce\xcf")


def image_type(data: bytes) -> str | None:
    """`png`, `jpeg`, `gif` or `webp`, as in `image/png`; None for anything else.

    >>> image_type(b"GIF89a...")
    'gif'
    """
    if data.startswith(_PNG):
        return "png"
    if data.startswith(_JPEG):
        return "jpeg"
    if data.startswith(_GIF):
        return "gif"
    if data.startswith(_RIFF) and data.startswith(_WEBP, _WEBP_AT):
        return "webp"
    return None


def image_size(data: bytes) -> tuple[int, int] | None:
    """Its width and height in pixels, as its head has them; None where it has none. Nothing is unpacked.

    >>> image_size(b"GIF89a" + bytes([3, 0, 2, 0]))
    (3, 2)
    """
    try:
        match image_type(data):
            case "png":
                return _pair(_PNG_SIZE, data)
            case "gif":
                return _pair(_GIF_SIZE, data)
            case "webp":
                return _webp_size(data)
            case "jpeg":
                return _jpeg_size(data)
    except struct.error:  # it ends before
        pass
    return None


def _pair(form: struct.Struct, data: bytes, at: int = 0) -> tuple[int, int]:
    first, second = form.unpack_from(data, at)
    return first, second


def _webp_size(data: bytes) -> tuple[int, int] | None:
    (form,) = _WEBP_FORM.unpack_from(data)
    if form not in _WEBP_SIZES:
        return None
    found = _WEBP_SIZES[form].unpack_from(data)
    bits = (1 << 14) - 1
    if form == b"VP8 ":
        return found[0] & bits, found[1] & bits
    if form == b"VP8L":
        return (found[0] & bits) + 1, (found[0] >> 14 & bits) + 1
    width, width_high, height, height_high = found
    return width + (width_high << 16) + 1, height + (height_high << 16) + 1


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """A JPEG is parts, each with its length, up to the one that has the frame's size."""
    at = len(_JPEG) - 1
    while data[at : at + 1] == _JPEG[-1:]:
        kind, length = _JPEG_PART.unpack_from(data, at)
        if kind in _JPEG_FRAMES:
            height, width = _pair(_JPEG_FRAME, data, at)
            return width, height
        at += 1 if kind == _JPEG[-1:] else length + 2
    return None


def image_mark(name: str) -> str:
    """How a text names the image in the file `name`."""
    return f"[image {name[:IMAGE_NAME_DIGITS]}]"


def with_images(text: str, images: Iterable[bytes]) -> tuple[str, dict[str, bytes]]:
    """The text with a line at its end for each image, and what is to be stored: the bytes by the file's name.

    One that can't be stored says so in its line; one that the text names already gets none.
    """
    lines = [text] if text else []
    files: dict[str, bytes] = {}
    for data in images:
        if (type_ := image_type(data)) is None:
            lines.append("[image left out: it is no PNG, JPEG, GIF or WebP]")
        elif len(data) > IMAGE_BYTES_MAX:
            lines.append(f"[image left out: its {len(data)} bytes are more than {IMAGE_BYTES_MAX}]")
        else:
            name = f"{hashlib.sha256(data).hexdigest()}.{type_}"
            files[name] = data
            if image_mark(name) not in text:
                lines.append(image_mark(name))
    return "\n".join(lines), files
