"""A tool call: its name and what it touches. Pure: no clock, disk or threads.

A call is logged as its name, a space, its input as JSON. Files, commands, patterns and addresses come first and whole;
of an edit what it takes out and puts in; of long texts their clauses. An input that is not JSON (a piece of a long one)
is read as prose.
"""

import json
from collections.abc import Iterator
from typing import Any

from eukhe.limits import (
    EXTRACT_CODE_BOOST,
    EXTRACT_EDIT_BOOST,
    EXTRACT_FIELD_CHARS_MAX,
    EXTRACT_FIELDS_MAX,
    EXTRACT_HEAD_BOOST,
    EXTRACT_HEAD_BYTES_MAX,
    EXTRACT_PLAIN_BOOST,
)
from eukhe.model.extract.pieces import Piece, prose, shorten, split, tidy
from eukhe.model.text import size

_TARGETS = ("command", "cmd", "file_path", "notebook_path", "path", "pattern", "query", "url", "skill", "id")
_SAYS_LITTLE = {"timeout", "limit", "offset", "output_mode", "head_limit", "-A", "-B", "-C", "activeForm"}
_SWITCHES = ("false", "true")


def call(text: str) -> list[Piece]:
    """The pieces of a call, the head first."""
    name, _, rest = text.partition(" ")
    fields = _object(rest)
    if not isinstance(fields, dict):
        if "\n" in text:
            return prose(text)
        return [Piece(tidy(clause), _boost(clause)) for clause in split(text)]
    head = [name]
    pieces = []
    for target in _TARGETS:
        value = fields.get(target)
        if isinstance(value, str):
            head.append(value)
    pieces.append(Piece(shorten(tidy(" ".join(head)), EXTRACT_HEAD_BYTES_MAX), EXTRACT_HEAD_BOOST))
    edits = fields.get("edits")
    for edit in edits if isinstance(edits, list) else [fields]:
        if isinstance(edit, dict):
            pieces += _edit(edit.get("old_string"), edit.get("new_string"))
    todos = fields.get("todos")
    if isinstance(todos, list):
        pieces += _todos(todos)
    for at, (field, value) in enumerate(_leaves(fields)):
        if at >= EXTRACT_FIELDS_MAX:
            break
        if field in _SAYS_LITTLE or value in _SWITCHES or (value in head and size(value) <= EXTRACT_HEAD_BYTES_MAX):
            continue
        if field in ("old_string", "new_string"):
            continue
        if isinstance(todos, list) and field in ("content", "status"):
            continue
        if len(value) <= EXTRACT_FIELD_CHARS_MAX and "\n" not in value:
            pieces.append(Piece(tidy(value), EXTRACT_PLAIN_BOOST))
        else:
            pieces += prose(value)
    return pieces


def leaves(text: str) -> list[Piece] | None:
    """The values of a result that is JSON, `key: value` each; None where it is none."""
    fields = _object(text)
    if fields is None:
        return None
    pieces: list[Piece] = []
    for at, (field, value) in enumerate(_leaves(fields)):
        if at >= EXTRACT_FIELDS_MAX:
            break
        if len(value) > EXTRACT_FIELD_CHARS_MAX or "\n" in value:
            pieces += prose(value)
        else:
            pieces.append(Piece(tidy(f"{field} {value}"), EXTRACT_PLAIN_BOOST))
    return pieces


def _object(text: str) -> Any:
    """JSON's object or list, None for anything else: a text may only begin like one."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)  # digits stay as written
    except (ValueError, RecursionError):
        return None


def _leaves(fields: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text, number and truth value in it, with the key it stands under, in the order written."""
    stack: list[tuple[str, Any]] = [(name, fields)]
    while stack:
        key, value = stack.pop()
        if isinstance(value, dict):
            stack += reversed(list(value.items()))
        elif isinstance(value, list):
            stack += [(key, item) for item in reversed(value)]
        elif isinstance(value, bool):
            yield key, _SWITCHES[value]
        elif isinstance(value, str) and value:
            yield key, value


def _boost(clause: str) -> int:
    return EXTRACT_EDIT_BOOST if clause.startswith(("+", "-")) else EXTRACT_PLAIN_BOOST


def _edit(old: object, new: object) -> list[Piece]:
    """The lines an edit takes out and puts in, marked - and +."""
    if not isinstance(old, str) or not isinstance(new, str):
        return []
    before, after = old.split("\n"), new.split("\n")
    kept = set(before) & set(after)
    out = [Piece(tidy(f"-{line.strip()}"), EXTRACT_CODE_BOOST) for line in before if line.strip() and line not in kept]
    put = [Piece(tidy(f"+{line.strip()}"), EXTRACT_EDIT_BOOST) for line in after if line.strip() and line not in kept]
    return put + out


def _todos(todos: list[Any]) -> list[Piece]:
    """How far a plan is: what is in work, then what is not begun, then how many are done of how many."""
    by: dict[str, list[str]] = {}
    for todo in todos:
        if isinstance(todo, dict):
            by.setdefault(str(todo.get("status")), []).append(str(todo.get("content")))
    pieces = [Piece(f"{len(by.get('completed', ()))} of {len(todos)} completed", EXTRACT_PLAIN_BOOST)]
    for status, contents in by.items():
        pieces += [Piece(tidy(f"{status.replace('_', ' ')}: {content}"), EXTRACT_PLAIN_BOOST) for content in contents]
    return pieces
