"""Images inside records."""

import base64
import binascii
from typing import Any


class BadImage(Exception):
    """An image that can't be had from its block; str() says why. Its message comes without it."""


def image_bytes(block: dict[str, Any], bytes_max: int) -> bytes:
    """The bytes of a block `{"type": "image", "source": {"type": "base64", "data": …}}`."""
    match block.get("source"):
        case {"type": "base64", "data": str(data)}:
            try:
                image = base64.b64decode("".join(data.split()), validate=True)
            except (binascii.Error, ValueError) as error:
                raise BadImage(f"an image that is no base64: {error}") from None
            if not image:
                raise BadImage("an image of no bytes")
            if len(image) > bytes_max:
                raise BadImage(f"an image of {len(image)} bytes; at most {bytes_max} are taken")
            return image
        case {"type": str(kind)}:
            raise BadImage(f"an image that is not in the file, but given as {kind}")
    raise BadImage("an image without a source")
