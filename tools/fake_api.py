"""A fake of the model providers' APIs, true to their documentation, on loopback: `python tools/fake_api.py --port N`.

    with FakeApi([Fail(429, retry_after=3), answer("hello")]) as api:
        anthropic.Anthropic(base_url=api.base_url, api_key="k", max_retries=0)

`POST /v1/messages` is Anthropic's form, `POST /v1/chat/completions` OpenAI's; `GET /v1/models` is told apart by the
header `anthropic-version`. All of OpenAI's is also below `/openai`.

A request that the real one refuses is refused, before anything else. Then comes the script's next act, or what its
function says; where there is none, the agent answers. Who asks for models takes no act. Time is asked of `now` alone:
the cache lives by it.
"""

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

import fake_script
import orjson
from fake_acts import Act, Answer, Event, Fail, Gate, Hold, Pings, Put, Step
from fake_anthropic import AnthropicForm
from fake_form import Body, Facts, Form, Refusal, calls_before, settled, tokens_said
from fake_http import Answered, Got, Nothing, Response, Server
from fake_openai import OpenAIForm

from eukhe.model.talk import NO_USAGE, Speech, Usage

PATHS = {
    ("POST", "/v1/messages"),
    ("POST", "/v1/chat/completions"),
    ("GET", "/v1/models"),
}


@dataclass
class Received:
    """A request, and what became of it. `body`: None where it was no JSON. `status`: 0 where there was no response.

    `usage`: as it is billed: the prompt once the response began, of the output what was sent. `whole`: all of it was
    sent to a client that was still there. `done`: is set at the end, whatever it was.
    """

    number: int
    form: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: Any = None
    speeches: tuple[Speech, ...] = ()
    thinks: bool = False
    model: str = ""
    status: int = 0
    usage: Usage = NO_USAGE
    whole: bool = False
    done: threading.Event = field(default_factory=threading.Event)


Scripted = Act | Callable[[Received], Act | None]
Script = Iterable[Scripted] | Callable[[Received], Act | None]


class FakeApi:
    """The server, from its making until `close`. `keys`: those that are let in; every one where there are none.

    `keep_bodies`: of requests that are over; what they cost is always kept.
    """

    def __init__(
        self,
        script: Script = (),
        agent: fake_script.Agent | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
        keys: Iterable[str] = (),
        port: int = 0,
        keep_bodies: bool = True,
    ) -> None:
        self.requests: list[Received] = []
        self._ask = script if callable(script) else None
        self._acts: list[Scripted] = [] if callable(script) else list(script)
        self._agent = agent or fake_script.Agent()
        self._now = now
        self._keys = tuple(keys)
        self._keep_bodies = keep_bodies
        self._gates: list[Gate] = []
        self._down = False
        self._came = threading.Condition()
        self._anthropic, self._openai = AnthropicForm(), OpenAIForm()
        self._server: Server | None = Server(port, self._handle)
        self.port = self._server.port
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.openai_url = f"{self.base_url}/openai/v1"

    def act(self, *acts: Scripted) -> None:
        """What is done next, after what the script still holds."""
        with self._came:
            self._acts += acts

    def wait_for(self, count: int, seconds: float = 30.0) -> list[Received]:
        """The first requests, so many, as soon as they have come."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.requests) >= count, seconds), f"only {len(self.requests)} came"
            return self.requests[:count]

    def settle(self, seconds: float = 30.0) -> None:
        """Waits until no request is under way."""
        for request in list(self.requests):
            assert request.done.wait(seconds), f"request {request.number} is still under way"

    def spent(self, model: str = "", *, whole: bool = False) -> Usage:
        """What all requests cost; those of one model; those alone whose response was sent to its end."""
        with self._came:
            usages = [
                request.usage
                for request in self.requests
                if model in ("", request.model) and (request.whole or not whole)
            ]
        return sum(usages, NO_USAGE)

    def go_down(self) -> None:
        """Cannot be reached any more; what is under way breaks off."""
        if self._server is None:
            return
        self._down = True
        self._server.cut_off()
        self._know()
        self._server.close()
        broken, self._server = self._server.broken, None
        if broken:
            raise broken[0]

    def come_back(self) -> None:
        """Can be reached again, where it was, with its cache."""
        assert self._server is None
        self._down = False
        self._server = Server(self.port, self._handle)

    close = go_down

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    # --- one request ---

    def _handle(self, got: Got) -> Answered:
        form = self._form(got)
        received = self._receive(got, form.name)
        try:
            form.admit(got.headers, self._keys)
            _check_path(got)
            if got.method == "GET":
                return self._whole(200, form.models(_named(got)), form, received)
            self._understand(got, form, received)
        except Refusal as refusal:
            return self._failed(refusal.fail, form, received)
        act = self._next(received)
        if isinstance(act, Answer):
            return self._answered(act, form, received)
        if act.wait is not None:
            self._know(act.wait)
            act.wait.wait()
        if isinstance(act, Fail):
            return self._failed(act, form, received)
        self._end(received, False)
        return Nothing(act.how)

    def _form(self, got: Got) -> Form:
        path = got.path.partition("?")[0]
        if path.startswith("/openai/") or path.endswith("/chat/completions"):
            return self._openai
        return self._anthropic if path.endswith("/messages") or "anthropic-version" in got.headers else self._openai

    def _receive(self, got: Got, form: str) -> Received:
        body = None
        with suppress(orjson.JSONDecodeError):
            body = orjson.loads(got.body or b"")
        with self._came:
            received = Received(len(self.requests), form, got.path, dict(got.headers), got.body or b"", body)
            received.model = str(body.get("model", "")) if isinstance(body, dict) else ""
            self.requests.append(received)
            self._came.notify_all()
        return received

    def _understand(self, got: Got, form: Form, received: Received) -> None:
        """Refuses what the real one refuses."""
        if got.body is None:
            raise Refusal("", 413)
        body = form.check(received.body, got.headers)
        form.check_length(body, sum(block.tokens for block in form.blocks(body)))
        received.speeches, received.thinks = form.speeches(body), form.thinks(body)

    def _next(self, received: Received) -> Act:
        """The script's next act, or the agent's answer."""
        with self._came:
            scripted = self._ask or (self._acts.pop(0) if self._acts else None)
        act = scripted(received) if callable(scripted) else scripted
        return act or self._agent(received.speeches, received.thinks)

    def _know(self, *gates: Gate) -> None:
        """Gates that responses wait at: none does when the server goes down."""
        with self._came:
            self._gates += gates
            for gate in self._gates if self._down else ():
                gate.open()

    def _answered(self, act: Answer, form: Form, received: Received) -> Response:
        body: Body = received.body
        with self._came:
            call = form.cache.call(body["model"], form.blocks(body), self._now())
        if act.wait is not None:
            self._know(act.wait)
            act.wait.wait()
        said, stop = settled(act.said, act.stop, form.output_tokens(body))
        name = f"msg_{received.number:024d}"
        facts = Facts(name, received.model, call.usage, calls_before(received.speeches), body)
        stream = bool(body.get("stream"))
        if stream:
            steps: list[Step] = list(form.events(said, stop, facts, act.piece_chars))
        else:
            steps = [Event("body", form.whole(said, stop, facts), max(1, sum(map(tokens_said, said))))]
        for twist in act.twists:
            steps = twist(steps)
        self._know(*(step.gate for step in steps if isinstance(step, Hold | Pings)))

        def begins() -> None:
            with self._came:
                received.status, received.usage = 200, call.usage
                form.cache.begin(call)

        kind = "text/event-stream; charset=utf-8" if stream else "application/json"
        headers = {"content-type": kind} | form.headers(_request_id(received))
        return self._response(received, 200, headers, steps, stream, begins, lambda put: form.odd(put.what))

    def _failed(self, fail: Fail, form: Form, received: Received) -> Response:
        data = form.error(fail, _request_id(received)) if fail.raw is None else fail.raw
        after = {} if fail.retry_after is None else {"retry-after": str(fail.retry_after)}
        status = form.status(fail)
        return self._whole(status, data, form, received, after)

    def _whole(
        self, status: int, data: bytes, form: Form, received: Received, more: Mapping[str, str] | None = None
    ) -> Response:
        """A response that costs nothing."""

        def begins() -> None:
            received.status = status

        headers = {"content-type": "application/json"} | form.headers(_request_id(received)) | dict(more or {})
        return self._response(received, status, headers, [Event("body", data)], False, begins, lambda _: b"")

    def _response(
        self,
        received: Received,
        status: int,
        headers: Mapping[str, str],
        steps: Sequence[Step],
        stream: bool,
        begins: Callable[[], None],
        odd: Callable[[Put], bytes],
    ) -> Response:
        def sends(event: Event) -> None:
            with self._came:
                received.usage += Usage(output=event.tokens)

        return Response(status, headers, steps, stream, begins, sends, partial(self._end, received), odd)

    def _end(self, received: Received, whole: bool) -> None:
        if not self._keep_bodies:
            received.raw, received.body, received.speeches = b"", None, ()
        received.whole = whole
        received.done.set()


def _check_path(got: Got) -> None:
    if (got.method, _path(got).removesuffix(_named(got)).rstrip("/")) not in PATHS:
        raise Refusal("Not Found", 404)


def _path(got: Got) -> str:
    return got.path.partition("?")[0].removeprefix("/openai")


def _named(got: Got) -> str:
    """The model whose name the path ends with."""
    return unquote(_path(got).partition("/v1/models/")[2])


def _request_id(received: Received) -> str:
    return f"req_{received.number:024d}"


def main() -> int:
    parser = argparse.ArgumentParser(description="A fake of the model providers' APIs; prints its address.")
    parser.add_argument("--port", type=int, default=0, help="0: one that is free")
    parser.add_argument("--script", type=Path, help="JSON: rules of an agent, and acts")
    parser.add_argument("--with-stdin", action="store_true", help="end when the input does")
    args = parser.parse_args()
    script = fake_script.load(args.script) if args.script else fake_script.Script(fake_script.Agent(), ())
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: sys.exit())
    with FakeApi(script.acts, script.agent, port=args.port) as api:
        print(api.base_url, flush=True)
        if args.with_stdin:
            sys.stdin.read()
        else:
            threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
