"""Images of a message: their type, their file's name, their mark in the text. Pure: no clock, disk or threads.

An image's type is read from its bytes, whatever its sender called it; its name is its SHA-256, so that a name can't
lead anywhere else, and the same image twice is one file.
"""

import hashlib
from collections.abc import Iterable

from eukhe.limits import IMAGE_BYTES_MAX, IMAGE_NAME_DIGITS

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_GIF = (b"GIF87a", b"GIF89a")
_RIFF = b"RIFF"
_WEBP = b"WEBP"
_WEBP_AT = len(_RIFF) + len(b"size")


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
