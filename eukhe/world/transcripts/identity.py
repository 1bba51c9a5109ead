"""Ids for what has none, and for what has one that can't be trusted to be its own."""

import hashlib
import json
import re
from typing import Any

import orjson

from eukhe.limits import DIGEST_CHARS_MAX, ID_BYTES_MAX, ID_DIGEST_BYTES
from eukhe.world.transcripts.catalog import Catalog

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def as_json(value: Any) -> str:
    """The value as JSON, in one line. RecursionError for one that is nested too deeply."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # nested more deeply than orjson writes, though it read it
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def digest(data: bytes) -> str:
    """A text's own short name, in hex."""
    return hashlib.blake2b(data, digest_size=ID_DIGEST_BYTES).hexdigest()


def short(id: str) -> str:
    """An id as it is where it is short and plain, else its digest."""
    plain = len(id) <= ID_BYTES_MAX and id.isascii() and id.isprintable()
    return id if plain else digest(id.encode(errors="replace"))


def own_id(id: str, content: list[Any]) -> str:
    """A record's id: a UUID as it is. Shorter ones are given twice by chance, so what is said goes with them."""
    return id if _UUID.fullmatch(id) else f"{short(id)}-{_digest_of(content)}"


def identity(catalog: Catalog, what: str, content: list[Any], dated: bool) -> str:
    """An id from what is said. Dated, the content names itself; else its session and its number there do.

    So a copy in another file, of whatever name, has the same one, and so has the second reading of a grown file.
    """
    if dated:
        return f"{what}-{_digest_of(content)}"
    name = _digest_of([catalog.session, content])
    return f"{what}-{name}-{catalog.count(f'said in {catalog.file}', name)}"


def _digest_of(content: list[Any]) -> str:
    try:
        return digest(as_json(_cut(content)).encode(errors="replace"))
    except RecursionError:  # too deep to be written: what is plain in it has to do
        return digest(as_json([part for part in content if isinstance(part, str)]).encode(errors="replace"))


def _cut(value: Any) -> Any:
    """The value with the beginning and the length of each long string, so that a digest needs no copy of it."""
    if isinstance(value, str) and len(value) > DIGEST_CHARS_MAX:
        return [value[:DIGEST_CHARS_MAX], len(value)]
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_cut(inner) for inner in value]
    return value
