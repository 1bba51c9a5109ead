"""Sessions of Claude Code, written by the tests line by line, and what comes out of them."""

import json
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from eukhe.world.transcripts import Said, Unreadable, plan, read

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data"
needs_samples = pytest.mark.skipif(not SHARED.is_dir(), reason="the sample transcripts are not beside the checkout")

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")
KINDS = ("user", "eukhe", "tool", "echo", "work")

Item = Said | Unreadable


class Session:
    """Writes records one after another, a second apart, each naming the one before it as its parent."""

    def __init__(self, session: str = ONE, begin: str = "2026-03-01T09:00:00.000+00:00", seed: str = "") -> None:
        self.session, self.seed = session, seed or session
        self.now = datetime.fromisoformat(begin)
        self.parent: str | None = None
        self.lines: list[bytes] = []

    def record(self, type_: str, **fields: Any) -> "Session":
        """A record of any type with the fields that all have; a field given as None is left out."""
        name = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.seed}/{len(self.lines)}"))
        record: dict[str, Any] = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "sessionId": self.session,
            "type": type_,
            "uuid": name,
            "timestamp": self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
        record |= fields
        self.parent = name
        self.now += timedelta(seconds=1)
        return self.raw(json.dumps({k: v for k, v in record.items() if v is not None or k == "parentUuid"}).encode())

    def raw(self, line: bytes) -> "Session":
        self.lines.append(line)
        return self

    def user(self, content: Any, **fields: Any) -> "Session":
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def answer(self, *blocks: Any, **fields: Any) -> "Session":
        message = {"id": f"msg_{len(self.lines)}", "role": "assistant", "content": list(blocks)}
        return self.record("assistant", message=message | fields.pop("message", {}), **fields)

    def talk(self, text: str, **fields: Any) -> "Session":
        return self.answer({"type": "text", "text": text}, **fields)

    def call(self, name: str, input_: Any, id_: str, **fields: Any) -> "Session":
        return self.answer({"type": "tool_use", "id": id_, "name": name, "input": input_}, **fields)

    def result(self, id_: str, content: Any, is_error: bool = False, **fields: Any) -> "Session":
        return self.user([result_block(id_, content, is_error)], **fields)

    def queue(self, operation: str, content: Any = None, **fields: Any) -> "Session":
        record = {
            "type": "queue-operation",
            "operation": operation,
            "timestamp": self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "sessionId": self.session,
        }
        self.now += timedelta(seconds=1)
        if content is not None:
            record["content"] = content
        return self.raw(json.dumps(record | fields).encode())

    def attached(self, prompt: Any, **fields: Any) -> "Session":
        return self.record("attachment", attachment={"type": "queued_command", "prompt": prompt} | fields)

    def bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.bytes())
        return path


def result_block(id_: str, content: Any, is_error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id_, "content": content}
    return block | ({"is_error": True} if is_error else {})


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def image_block(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def all_of(*paths: Path) -> list[Item]:
    """What plan and read give for these paths."""
    with plan(paths) as planned:
        return list(read(planned))


def said(*paths: Path) -> list[Said]:
    return [item for item in all_of(*paths) if isinstance(item, Said)]


def bad(*paths: Path) -> list[Unreadable]:
    return [item for item in all_of(*paths) if isinstance(item, Unreadable)]


def kinds_and_texts(items: Iterable[Item]) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in items if isinstance(item, Said)]


def texts(*paths: Path) -> list[str]:
    return [message.text for message in said(*paths)]


def counts(items: Sequence[Item]) -> tuple[tuple[int, ...], int, int]:
    """Messages by kind (user, eukhe, tool, echo, work), images, unreadable parts."""
    messages = [item for item in items if isinstance(item, Said)]
    by_kind = Counter(message.kind for message in messages)
    images = sum(len(message.images) for message in messages)
    return tuple(by_kind[kind] for kind in KINDS), images, len(items) - len(messages)
