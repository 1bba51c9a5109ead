"""What lies on disk, a line a record. Pure: no clock, disk or threads.

`main/YYYY-MM-DD.jsonl` holds messages; `tree/YYYY-MM-DD.jsonl` holds nodes, batches, voids. Both are plain JSON lines
that any program can read. A line ends at LF alone; nothing written is ever changed. Rules 1 to 6, D2.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec
import orjson

from eukhe.limits import LEVELS_MAX
from eukhe.model.part import Part
from eukhe.model.text import clean, label, size

KINDS = ("user", "eukhe", "tool", "echo", "work", "note")
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
READ_AS = {"talk": "eukhe"}  # before the agent had its name


class RecordError(ValueError):
    """A line that is no record; str() says why in a few words."""


class MessageRecord(msgspec.Struct, frozen=True, tag=True):
    """A message. `size` is the bytes of `kind: text`, `date` RFC 3339 with its offset, `images` file names."""

    i: int
    kind: str
    text: str
    size: int
    date: str
    key: str | None = None
    images: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return label(self.kind, self.text)


class NodeRecord(msgspec.Struct, frozen=True, tag=True):
    """A node's line. `size` is the bytes of `text`, 1 to 512."""

    part: Part
    text: str
    size: int


class BatchRecord(msgspec.Struct, frozen=True, tag=True):
    """One batch: the parents in the order merged, whether the view stayed above its floor, the messages then.

    `t` is None in lines of older chats, which counts as where the line stands.
    """

    merge: tuple[Part, ...]
    open: bool
    t: int | None


class VoidRecord(msgspec.Struct, frozen=True, tag=True):
    """Nodes past the last message when the chat was opened: their messages' lines were torn off."""

    void: tuple[Part, ...]


class GapRecord(msgspec.Struct, frozen=True, tag=True):
    """Messages a to b - 1 are lost, and the user said so. Stands in main."""

    first: int
    end: int


MainRecord = MessageRecord | GapRecord
TreeRecord = NodeRecord | BatchRecord | VoidRecord


def message(
    i: int, kind: str, text: str, date: str, key: str | None = None, images: Iterable[str] = ()
) -> MessageRecord:
    """A message's record, its size counted."""
    return MessageRecord(i, kind, text, size(label(kind, text)), date, key, tuple(images))


def node(part: Part, text: str) -> NodeRecord:
    """A node's record, its size counted."""
    return NodeRecord(part, text, size(text))


def encode(record: MainRecord | TreeRecord) -> bytes:
    """The record's line, its LF included, keys in the order of the format."""
    fields: dict[str, Any]
    match record:
        case MessageRecord(i, kind, text, bytes_, date, key, images):
            fields = {"i": i, "kind": kind, "text": text, "size": bytes_, "date": date}
            if key is not None:
                fields["key"] = key
            if images:
                fields["images"] = images
        case NodeRecord(part, text, bytes_):
            fields = {"l": part.level, "i": part.i, "text": text, "size": bytes_}
        case BatchRecord(merge, open_, t):
            fields = {"merge": [tuple(p) for p in merge], "open": open_, "t": t}
        case VoidRecord(void):
            fields = {"void": [tuple(p) for p in void]}
        case GapRecord(first, end):
            fields = {"gap": [first, end]}
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def decode_main(line: bytes) -> MainRecord:
    """The record of a line of main/, with or without its LF; RecordError where it is none."""
    fields = _object(line)
    match fields:
        case {"gap": [int(first), int(end)]} if 0 <= _whole(first) < _whole(end):
            return GapRecord(first, end)
        case {"i": int(i), "kind": str(kind), "text": str(text), "size": int(bytes_), "date": str(date)}:
            return MessageRecord(
                _whole(i), READ_AS.get(kind, kind), text, _whole(bytes_), date, _key(fields), _images(fields)
            )
    raise RecordError("neither a message nor a gap")


def decode_tree(line: bytes) -> TreeRecord:
    """The record of a line of tree/, with or without its LF; RecordError where it is none."""
    fields = _object(line)
    match fields:
        case {"l": int(level), "i": int(index), "text": str(text), "size": int(bytes_)}:
            return NodeRecord(_part(level, index), text, _whole(bytes_))
        case {"merge": list(merge)}:
            open_, t = fields.get("open", False), fields.get("t")
            if not isinstance(open_, bool) or not (t is None or (type(t) is int and t >= 0)):
                raise RecordError("a batch line whose open or t is wrong")
            return BatchRecord(_parts(merge), open_, t)
        case {"void": list(void)}:
            return VoidRecord(_parts(void))
    raise RecordError("neither a node nor a batch")


def _object(line: bytes) -> dict[str, Any]:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        fields = _halved(line, error)
    if not isinstance(fields, dict):
        raise RecordError("no JSON object")
    return fields


def _halved(line: bytes, error: orjson.JSONDecodeError) -> Any:
    """Programs that cut texts between the halves of a surrogate pair write a half as an escape, which is no Unicode.

    As in any text that enters (`clean`), U+FFFD stands for it.
    """
    wrong = RecordError(f"no JSON: {error}")
    if not _ESCAPED_SURROGATE.search(line):
        raise wrong from None
    try:
        return json.loads(
            line.decode(),
            object_pairs_hook=lambda pairs: {k: clean(v) if isinstance(v, str) else v for k, v in pairs},
            parse_constant=_no_constant,
        )
    except (ValueError, RecursionError):
        raise wrong from None  # that was not all that is wrong with it


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _whole(number: int) -> int:
    if number < 0 or isinstance(number, bool):
        raise RecordError(f"{number} is no count")
    return number


def _part(level: object, index: object) -> Part:
    if type(level) is not int or type(index) is not int or not 0 <= level <= LEVELS_MAX or index < 0:
        raise RecordError(f"[{level}, {index}] is no node")
    return Part(level, index)


def _parts(pairs: list[Any]) -> tuple[Part, ...]:
    parts = []
    for pair in pairs:
        match pair:
            case [level, index]:
                parts.append(_part(level, index))
            case _:
                raise RecordError(f"{pair} is no node")
    return tuple(parts)


def _key(fields: dict[str, Any]) -> str | None:
    key = fields.get("key")
    if key is not None and not isinstance(key, str):
        raise RecordError("a key that is no text")
    return key


def _images(fields: dict[str, Any]) -> tuple[str, ...]:
    images = fields.get("images", [])
    if not isinstance(images, list) or not all(isinstance(name, str) for name in images):
        raise RecordError("images that are no names")
    return tuple(images)
