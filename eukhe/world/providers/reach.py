"""Whether a provider can be reached with the key that is there: one request that costs nothing, with a short limit.

By the standard library, since no package is to be loaded for it. No redirect is followed: a key goes to one address.
"""

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from typing import IO, Final

from eukhe.actors.ports import Key
from eukhe.world.providers.address import NO_KEY, address_of
from eukhe.world.providers.registry import ANTHROPIC

_WAIT_S: Final = 5.0  # number: short, for somebody looks on
_VERSION: Final = "2023-06-01"
_REFUSED: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class _Staying(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        return None


def trouble_with(key: Key) -> str | None:
    """What is wrong; None where the provider answers, and takes the key."""
    address = address_of(key.provider, key)
    path = "/v1/models" if key.provider == ANTHROPIC else "/models"
    request = urllib.request.Request(f"{address}{path}", headers=dict(_headers(key)))
    try:
        with urllib.request.build_opener(_Staying).open(request, timeout=_WAIT_S):
            return None
    except urllib.error.HTTPError as error:
        if error.code in _REFUSED:
            return f"{address} refuses the key ({error.code})"
        return f"{address} answers {error.code}"
    except (OSError, http.client.HTTPException, ValueError) as error:
        return f"{address} can't be reached: {getattr(error, 'reason', None) or error}"


def _headers(key: Key) -> Mapping[str, str]:
    value = key.value or NO_KEY
    if key.provider == ANTHROPIC:
        return {"x-api-key": value, "anthropic-version": _VERSION}
    return {"authorization": f"Bearer {value}"}
