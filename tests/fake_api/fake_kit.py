"""The fake API as clients meet it: Anthropic's own package, and plain HTTP."""

import base64
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx
import orjson
from fake_api import FakeApi

MODEL = "claude-opus-4-8"
HI: list[Any] = [{"role": "user", "content": "hi"}]
BASH: Any = {"name": "bash", "description": "Runs.", "input_schema": {"type": "object", "properties": {}}}
SHOWN: Any = {"type": "adaptive", "display": "summarized"}
MARK = {"type": "ephemeral"}
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}


class Time:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@contextmanager
def sdk(api: FakeApi, **options: Any) -> Iterator[anthropic.Anthropic]:
    """A client of Anthropic's package that never tries again by itself."""
    with anthropic.Anthropic(base_url=api.base_url, api_key="k", max_retries=0, **options) as client:
        yield client


def streamed(api: FakeApi, **request: Any) -> Any:
    """What the package makes of a stream."""
    with sdk(api) as client, client.messages.stream(**asking(request)) as stream:
        return stream.get_final_message()


def created(api: FakeApi, **request: Any) -> Any:
    """The same, in one piece."""
    with sdk(api) as client:
        return client.messages.create(**asking(request))


def asking(request: dict[str, Any]) -> dict[str, Any]:
    """A request to which only what matters was given."""
    return {"model": MODEL, "max_tokens": 10_000, "messages": HI} | request


def posted(api: FakeApi, body: object, headers: dict[str, str] | None = None) -> httpx.Response:
    """A request to /v1/messages without any package."""
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return httpx.post(f"{api.base_url}/v1/messages", content=content, headers=HEADERS if headers is None else headers)


def chatted(api: FakeApi, **request: Any) -> httpx.Response:
    """A request in OpenAI's form."""
    body = {"model": "gpt-5", "messages": HI} | request
    return httpx.post(f"{api.openai_url}/chat/completions", json=body, headers={"authorization": "Bearer k"})


def chunks(response: httpx.Response) -> list[dict[str, Any]]:
    """What stands in a stream of OpenAI's form, up to its end mark."""
    lines = [line.removeprefix("data: ") for line in response.text.split("\n") if line.startswith("data: ")]
    assert "[DONE]" == lines.pop()
    return [orjson.loads(line) for line in lines]


def deltas(response: httpx.Response, name: str) -> str:
    """One kind of a stream's deltas, joined."""
    found = [chunk["choices"][0]["delta"].get(name) or "" for chunk in chunks(response) if chunk["choices"]]
    return "".join(found)


def text(words: str, mark: bool = False) -> dict[str, Any]:
    return {"type": "text", "text": words} | ({"cache_control": MARK} if mark else {})


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def use(name: str = "a", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "bash", "input": given}


def result(of: str = "a", content: Any = "done") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": of, "content": content}


def image(data: bytes, kind: str = "image/png") -> dict[str, Any]:
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def png(extra: int = 0) -> bytes:
    """A picture of one pixel, with so many bytes behind it."""
    parts: Iterable[tuple[bytes, bytes]] = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\0")),
        (b"IEND", b""),
    )
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed) + bytes(extra)
