"""What the packages below a provider raise, before a response and in its midst: none gets through."""

import ssl
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import httpcore
import httpcore2
import httpx
import httpx2
import pytest

from eukhe.actors.ports import Broke, CallEvent, Key, Outage, Responding, TurnRequest
from eukhe.world.providers import anthropic, openai
from eukhe.world.worker_wire import Order
from tests.providers.provider_kit import FORMS, MODELS, FormName, talk

pytestmark = pytest.mark.parametrize("form", FORMS)

BEGUN = {
    "anthropic": b'data: {"type":"message_start","message":{"usage":{"input_tokens":3}}}\n\n',
    "openai": b'data: {"choices":[{"index":0,"delta":{"content":"so"}}]}\n\n',
}


def called(form: FormName, answer: Callable[[Any], Any]) -> list[CallEvent]:
    """What is heard of a call whose request is answered so, without a network."""
    order = Order(1, TurnRequest(MODELS[form], talk()), Key(form, "sk-one"))
    if form == "anthropic":
        return list(anthropic.call(order, httpx2.MockTransport(answer)))
    return list(openai.call(order, httpx.MockTransport(answer)))


def raising(error: Exception) -> Callable[[Any], Any]:
    def answer(request: Any) -> Any:
        raise error

    return answer


def of(form: FormName) -> tuple[Any, Any]:
    """The packages of a form: of HTTP, and of connections."""
    return (httpx2, httpcore2) if form == "anthropic" else (httpx, httpcore)


@pytest.mark.rule("D13")
@pytest.mark.parametrize(
    "name",
    ["ConnectTimeout", "ReadTimeout", "ConnectError", "ReadError", "WriteError", "RemoteProtocolError", "ProxyError"],
)
def test_whatever_keeps_a_request_from_its_response_is_an_outage(form: FormName, name: str) -> None:
    (last,) = called(form, raising(getattr(of(form)[0], name)("the line is dead")))
    assert Outage(f"{form}: no response: {name}: the line is dead") == last


@pytest.mark.parametrize("error", [OSError(101, "Network is unreachable"), ssl.SSLCertVerificationError("expired")])
def test_an_error_of_the_system_is_an_outage_too(form: FormName, error: OSError) -> None:
    (last,) = called(form, raising(error))
    assert isinstance(last, Outage)
    assert type(error).__name__ in last.why


def test_an_error_that_nobody_foresaw_is_a_failed_call(form: FormName) -> None:
    (last,) = called(form, raising(ValueError("odd")))
    assert isinstance(last, Broke | Outage)
    assert "ValueError: odd" in last.why


def breaking(form: FormName, error: Exception, begun: bytes) -> Callable[[Any], Any]:
    http = of(form)[0]

    class Body(http.SyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            yield begun
            raise error

    return lambda request: http.Response(200, stream=Body())


@pytest.mark.parametrize("name", ["ReadTimeout", "ReadError", "RemoteProtocolError", "DecodingError"])
def test_a_stream_that_breaks_off_says_of_what(form: FormName, name: str) -> None:
    error = getattr(of(form)[0], name)("gone")
    events = called(form, breaking(form, error, BEGUN[form]))
    assert isinstance(events[0], Responding)
    last = events[-1]
    assert isinstance(last, Broke)
    assert f"{form}: the response broke off: {name}: gone" == last.why
    assert form == "openai" or last.usage is not None


@pytest.mark.parametrize("begun", [True, False])
def test_errors_of_packages_further_below_are_named_too(form: FormName, begun: bool) -> None:
    errors = [of(form)[1].ReadError("gone"), ssl.SSLError("bad record"), zlib.error("bad data"), RuntimeError("odd")]
    for error in errors:
        last = called(form, breaking(form, error, BEGUN[form] if begun else b""))[-1]
        assert isinstance(last, Broke | Outage)
        assert f"{form}: " in last.why and str(error) in last.why
        assert isinstance(last, Broke) or not begun


def test_a_compressed_body_that_is_garbage_is_a_failed_call(form: FormName) -> None:
    http = of(form)[0]
    headers = {"content-encoding": "gzip", "content-type": "text/event-stream"}
    body = http.ByteStream(b"no gzip at all, and long enough to be seen")
    last = called(form, lambda request: http.Response(200, headers=headers, stream=body))[-1]
    assert isinstance(last, Broke)
    assert "incorrect header check" in last.why


@pytest.mark.parametrize("status", [503, 401])
def test_an_error_whose_body_breaks_off_is_still_one(form: FormName, status: int) -> None:
    http = of(form)[0]
    answer = breaking(form, http.ReadError("gone"), b"")

    def failing(request: Any) -> Any:
        response = answer(request)
        response.status_code = status
        return response

    last = called(form, failing)[-1]
    assert isinstance(last, Outage)
