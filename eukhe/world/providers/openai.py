"""openai/NAME: any server that speaks OpenAI's chat completions, over httpx. A worker's alone."""

import ssl
import time
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from http import HTTPStatus

import httpx
import orjson

from eukhe.actors.ports import CallEvent, Key, TurnRequest
from eukhe.limits import PROVIDER_CONNECT_S, PROVIDER_SILENCE_S, STREAM_LINE_BYTES_MAX
from eukhe.model.talk import Talk
from eukhe.world.providers.address import address_of, key_of, model_of
from eukhe.world.providers.draft import told
from eukhe.world.providers.openai_form import Completion, body
from eukhe.world.providers.registry import OPENAI
from eukhe.world.providers.trouble import Trouble, beginning, of_answer, of_error
from eukhe.world.worker_wire import Order


def call(order: Order, transport: httpx.BaseTransport | None = None) -> Iterator[CallEvent]:
    """`transport`: what carries the request, in place of the network."""
    try:
        value = key_of(OPENAI, order.key)
        with _client(transport) as client, closing(_open(client, order, value)) as response:
            yield from told(OPENAI, _chunks(response), Completion(order))
    except Trouble as trouble:
        yield trouble.event


def _client(transport: httpx.BaseTransport | None) -> httpx.Client:
    timeout = httpx.Timeout(PROVIDER_SILENCE_S, connect=PROVIDER_CONNECT_S)
    return httpx.Client(verify=_tls(), timeout=timeout, transport=transport)


@cache
def _tls() -> ssl.SSLContext:
    """Which certificates are trusted: read once, by the fork server."""
    return httpx.create_ssl_context()


def _open(client: httpx.Client, order: Order, value: str) -> httpx.Response:
    """The response, its headers read. Trouble where there is none."""
    try:
        own_server = bool(order.key and order.key.base_url)
        request = client.build_request(
            "POST",
            f"{address_of(OPENAI, order.key)}/chat/completions",
            headers={"authorization": f"Bearer {value}", "content-type": "application/json"},
            content=orjson.dumps(body(model_of(order), order.talk, own_server=own_server)),
        )
        response = client.send(request, stream=True)
        if response.status_code != HTTPStatus.OK:
            with closing(response):
                raise Trouble(of_answer(OPENAI, response, time.time()))
    except Trouble:
        raise
    except Exception as error:
        raise Trouble(of_error(OPENAI, error, None, began=False)) from error
    return response


def _chunks(response: httpx.Response) -> Iterator[bytes]:
    """The stream. A reply in one piece, of a server that does not stream, is one of one event."""
    if not response.headers.get("content-type", "").startswith("application/json"):
        yield from response.iter_bytes()
        return
    yield b"data: " + b" ".join(beginning(response.iter_bytes(), STREAM_LINE_BYTES_MAX).splitlines()) + b"\n\n"


def prepare() -> None:
    """Makes a call that goes nowhere: it loads all that a first one does, certificates too."""
    order = Order(0, TurnRequest(f"{OPENAI}/any", Talk("", (), (), "off", 1)), Key(OPENAI, "none"))
    for _ in call(order, httpx.MockTransport(lambda request: httpx.Response(HTTPStatus.OK, content=b""))):
        pass
