"""anthropic/NAME: Claude, by Anthropic's own package. A worker's alone: loading it takes a second.

The package makes the request; what comes is read by us. Of a stream it takes one that just ends for a whole one,
swallows pings, and lets other packages' errors through; of an error it reads all, forgets its status where that breaks
off, and where it is told to go elsewhere it takes the key there.
"""

import ssl
import time
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from http import HTTPStatus
from typing import Any, cast

import anthropic
import httpx2

from eukhe.actors.ports import CallEvent, Key, TurnRequest
from eukhe.limits import PROVIDER_CONNECT_S, PROVIDER_SILENCE_S
from eukhe.model.talk import Talk
from eukhe.world.providers.address import address_of, key_of, model_of
from eukhe.world.providers.anthropic_form import Messages, body
from eukhe.world.providers.draft import told
from eukhe.world.providers.registry import ANTHROPIC
from eukhe.world.providers.trouble import Trouble, of_answer, of_error
from eukhe.world.worker_wire import Order


def call(order: Order, transport: httpx2.BaseTransport | None = None) -> Iterator[CallEvent]:
    """`transport`: what carries the request, in place of the network."""
    try:
        with _client(order.key, key_of(ANTHROPIC, order.key), transport) as client:
            stream = _open(client, order)
            try:
                yield from told(ANTHROPIC, stream.response.iter_bytes(), Messages(order))
            finally:
                stream.close()
    except Trouble as trouble:
        yield trouble.event


def _client(key: Key | None, value: str, transport: httpx2.BaseTransport | None) -> anthropic.Anthropic:
    timeout = httpx2.Timeout(PROVIDER_SILENCE_S, connect=PROVIDER_CONNECT_S)
    return anthropic.Anthropic(
        base_url=address_of(ANTHROPIC, key),
        api_key=value,
        max_retries=0,  # when to try again is the queue's to say
        timeout=timeout,
        http_client=anthropic.DefaultHttpxClient(
            verify=_tls(), timeout=timeout, transport=transport, event_hooks={"response": [_refuse]}
        ),
    )


def _refuse(response: httpx2.Response) -> None:
    """Trouble where an answer is none to a call, before anybody follows or reads it."""
    if response.status_code != HTTPStatus.OK:
        with closing(response):
            raise Trouble(of_answer(ANTHROPIC, response, time.time()))


@cache
def _tls() -> ssl.SSLContext:
    """Which certificates are trusted: read once, by the fork server."""
    return httpx2.create_ssl_context()


def _open(client: anthropic.Anthropic, order: Order) -> "anthropic.Stream[Any]":
    """The response, its headers read. Trouble where there is none."""
    try:
        request = body(model_of(order), order.talk)
        return cast("anthropic.Stream[Any]", cast(Any, client.messages).create(**request, stream=True))
    except Exception as error:
        if isinstance(error.__cause__, Trouble):  # the package has its own name for whatever comes up in a request
            raise error.__cause__ from error
        raise Trouble(of_error(ANTHROPIC, error, None, began=False)) from error


def prepare() -> None:
    """Makes a call that goes nowhere: it loads all that a first one does, certificates too."""
    order = Order(0, TurnRequest(f"{ANTHROPIC}/any", Talk("", (), (), "off", 1)), Key(ANTHROPIC, "none"))
    for _ in call(order, httpx2.MockTransport(lambda request: httpx2.Response(HTTPStatus.OK, content=b""))):
        pass
