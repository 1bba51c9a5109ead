"""What goes wrong with a call, as what is heard of it: an outage, which no other call would get past, or its own fault.

Before a response began, what the provider says of itself pauses all calls (D13): it can't be reached, is overloaded,
wants a key. All else fails the one call: what is wrong with it, a stream that broke.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from math import isfinite
from typing import Any, Final, Protocol

import orjson

from eukhe.actors.ports import Broke, Outage
from eukhe.limits import ERROR_BODY_BYTES_MAX, ERROR_WORDS_CHARS_MAX, MILLISECONDS, RETRY_AFTER_MAX_S
from eukhe.model.talk import Usage
from eukhe.model.text import clip, flatten

KEY_VARIABLES: Final = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}

_BAD_REQUESTS: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
_NOT_ALLOWED: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.FORBIDDEN)
_BUSY: Final = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.CONFLICT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
)
_TOO_LONG: Final = re.compile(
    r"prompt is too long|context.?(length|window|size|limit)|maximum context|request too large|input is too long"
    r"|too many (input )?tokens|exceed\w* the (available|maximum) (context|input)",
    re.IGNORECASE,
)
_UNPAID: Final = re.compile(
    r"credit balance|insufficient.(quota|balance|funds)|exceeded your current quota|billing", re.IGNORECASE
)
_BAD_KEY: Final = re.compile(
    r"(invalid|incorrect|expired|missing).{0,20}api.?key|api.?key.{0,20}not valid", re.IGNORECASE
)
_TRANSPORT: Final = {
    "OSError",
    "APIConnectionError",
    "NetworkError",
    "ProtocolError",
    "TimeoutException",
    "TransportError",
}
"""Errors of the network, by the names of their classes: each provider's packages have their own."""


class Trouble(Exception):
    """A call ends, as `event` says."""

    def __init__(self, event: Broke | Outage) -> None:
        super().__init__(event.why)
        self.event = event


def no_key(provider: str) -> Outage:
    variable = KEY_VARIABLES[provider]
    return Outage(f"no key for {provider}: set {variable}, or choose another model", key=True)


def of_status(provider: str, status: int, words: str, retry_after_s: float | None = None) -> Broke | Outage:
    """What an answer that is no response means: its HTTP status, and what the provider said."""
    why = f"{provider}: {status}" + (f" {words}" if words else "")
    may_be_long = status in (*_BAD_REQUESTS, HTTPStatus.TOO_MANY_REQUESTS)
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or (may_be_long and _TOO_LONG.search(words)):
        return Broke(
            f"{why}; what was sent is too long for this model; a new turn begins with the view alone, and "
            "memory.viewBytes makes that shorter",
            final=True,
        )
    if status in _NOT_ALLOWED or _UNPAID.search(words) or (status in _BAD_REQUESTS and _BAD_KEY.search(words)):
        return Outage(f"{why}; see to the key ({KEY_VARIABLES[provider]}) and its account", key=True)
    if status == HTTPStatus.NOT_FOUND or HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return Outage(f"{why}; see to the model's name and {provider}.baseUrl", key=True)
    if status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Outage(why, retry_after_s)
    if "reasoning_effort" in words:
        why += "; this server takes no such effort: set thinking (memory.thinking) to medium"
    return Broke(why, final=True)


class Answer(Protocol):
    """A provider's, with its headers read: in httpx, or in the package that stands in for it."""

    status_code: int

    @property
    def headers(self) -> Mapping[str, str]: ...

    def iter_bytes(self) -> Iterator[bytes]: ...


def of_answer(provider: str, answer: Answer, now_unix_s: float) -> Broke | Outage:
    """What an answer that is no response means. Its status says enough where its body can't be read."""
    words = ""
    with suppress(Exception):
        words = words_of(beginning(answer.iter_bytes(), ERROR_BODY_BYTES_MAX))
    return of_status(provider, answer.status_code, words, retry_after(answer.headers, now_unix_s))


def beginning(chunks: Iterable[bytes], bytes_max: int) -> bytes:
    """A body, or as much of it."""
    found = bytearray()
    for chunk in chunks:
        found += chunk
        if len(found) > bytes_max:
            break
    return bytes(found[:bytes_max])


def words_of(body: object) -> str:
    """What an error's body says, in one short line: its type and message, in whichever form its server has."""
    found = body
    if isinstance(found, bytes | str):
        try:
            found = orjson.loads(found)
        except orjson.JSONDecodeError:
            text = found.decode(errors="replace") if isinstance(found, bytes) else found
            return _short(re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL))
    if isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, dict):
        inner = found.get("error", found)
        if isinstance(inner, dict):
            names = [str(inner[name]) for name in ("type", "code") if isinstance(inner.get(name), str)]
            said = inner.get("message") or inner.get("detail") or inner.get("error") or ""
            return _short(": ".join([" ".join(dict.fromkeys(names)), _text(said)]).strip(": "))
        found = inner
    return _short(_text(found))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def _short(text: str) -> str:
    return clip(" ".join(flatten(text).split()), ERROR_WORDS_CHARS_MAX)


def retry_after(headers: Mapping[str, str], now_unix_s: float) -> float | None:
    """The seconds after which a provider wants to be asked again; None where it does not say, or not clearly.

    `retry-after-ms`, else `retry-after`: seconds, or a date. A day at most.
    """
    found = _number(headers.get("retry-after-ms"))
    if found is not None:
        found /= MILLISECONDS
    elif (said := headers.get("retry-after")) is not None:
        found = _number(said)
        if found is None:
            with suppress(ValueError, OverflowError):
                found = parsedate_to_datetime(said).timestamp() - now_unix_s
    return None if found is None else min(max(0.0, found), RETRY_AFTER_MAX_S)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if isfinite(number) else None


def of_error(provider: str, error: BaseException, usage: Usage | None, *, began: bool) -> Broke | Outage:
    """What an error of any package means that came up in a call. `began`: after its response had begun."""
    last = list(_causes(error))[-1]
    words = _short(f"{type(last).__name__}: {last}".rstrip(": "))
    if began:
        return Broke(f"{provider}: the response broke off: {words}", usage)
    if any(kind.__name__ in _TRANSPORT for kind in type(error).__mro__):
        return Outage(f"{provider}: no response: {words}")
    return Broke(f"{provider}: no response that makes sense: {words}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__
