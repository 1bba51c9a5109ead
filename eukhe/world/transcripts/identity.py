"""Ids for what has none, and for ids too long to be kept."""

import hashlib
import json
from typing import Any

import orjson

from eukhe.limits import ID_BYTES_MAX, ID_DIGEST_BYTES
from eukhe.world.transcripts.catalog import Catalog


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
    """An id as it is, or the digest of a long one."""
    data = id.encode(errors="replace")
    return id if len(data) <= ID_BYTES_MAX else digest(data)


def identity(catalog: Catalog, what: str, content: bytes, dated: bool) -> str:
    """An id from what is said. Dated, the content names itself; else its session and its number there do.

    So a copy in another file, of whatever name, has the same one, and so has the second reading of a grown file.
    """
    if dated:
        return f"{what}-{digest(content)}"
    content = catalog.session.encode(errors="replace") + b"\0" + content
    return f"{what}-{digest(content)}-{catalog.count(f'{catalog.file}', digest(content))}"
