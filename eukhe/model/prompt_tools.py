"""The agent's tools, as a model is told of them. Pure: no clock, disk or threads. Rules 27, 52, 56, D15.

The list is the same for turns and compactions. Its bytes never change: schemas are written in the order given here.
"""

from typing import Any, Final

import orjson

from eukhe.model.talk import Tool

SEARCH_TOOLS: Final = ("search", "at")
"""Those that the setting `memory.search` leaves out."""

_INTEGER: Final = {"type": "integer"}
_TEXT: Final = {"type": "string"}


def _tool(name: str, about: str, fields: dict[str, dict[str, Any]], *needed: str) -> Tool:
    schema = {"type": "object", "properties": fields, "required": list(needed), "additionalProperties": False}
    return Tool(name, about, orjson.dumps(schema).decode())


def _about(kind: dict[str, Any], about: str) -> dict[str, Any]:
    return {**kind, "description": about}


TOOLS: Final = (
    _tool(
        "zoom",
        """\
Open a line of the memory. For the line `id+n`, zoom(id, n) gives the two lines below it, each for half of its \
messages; n is a power of two, and id a multiple of n, as the view has them. zoom(id, 1), or n left out, gives \
message id whole, as it was said, with its images. zoom("Name") gives the whole chat of the subagent Name; n is then \
the page, from 1. Zoom from line to line until you are at the messages that you need.""",
        {
            "id": _about(
                {"anyOf": [_INTEGER, _TEXT]}, "the number before the `+` of a line, or the name of a subagent"
            ),
            "n": _about(
                _INTEGER, "the number after the `+`; 1 for the whole message; with a name the page; 1 where left out"
            ),
        },
        "id",
    ),
    _tool(
        "date",
        "Tell when a message was logged: date, time, and offset from UTC. The view itself has no dates.",
        {"id": _about(_INTEGER, "the message's id; of a line `id+n` that of its first message")},
        "id",
    ),
    _tool(
        "search",
        """\
Find messages that hold all of these words, best first: up to 10 hits, each `id|date|kind: snippet`. Use it when the \
view names no place to zoom into. Take few and rare words: names, numbers, parts of an error. Then zoom(id, 1) to \
read a hit whole. What was said since this turn began is not searched: you have it before you.""",
        {"words": _about(_TEXT, "words that the message holds")},
        "words",
    ),
    _tool(
        "at",
        """\
Find the messages nearest to a time: up to 10 hits, each `id|date|kind: snippet`. Then zoom(id, 1) to read one \
whole.""",
        {
            "date": _about(
                _TEXT, "a date, a time or both, as people write them: `yesterday`, `3 days ago`, `14:30`, an ISO date"
            )
        },
        "date",
    ),
    _tool(
        "bash",
        """\
Run a command with bash, in the folder that you work in. You get what it prints, output and errors together, and its \
exit code. Nothing can be typed into it. All that it has started ends with it.""",
        {
            "command": _about(_TEXT, "the command"),
            "timeout_s": _about(_INTEGER, "seconds after which it is ended; a default where left out"),
        },
        "command",
    ),
    _tool(
        "read",
        """\
Read a file: its text, or the image that it is. Of a folder you get the names in it. A long file comes in parts, and \
says how much is left.""",
        {
            "path": _about(_TEXT, "the file; relative to the folder that you work in, or absolute"),
            "offset": _about(_INTEGER, "the first line to read, from 1"),
            "limit": _about(_INTEGER, "how many lines to read"),
        },
        "path",
    ),
    _tool(
        "write",
        "Write a whole file, in place of what it held. Folders that are missing are made.",
        {
            "path": _about(_TEXT, "the file; relative to the folder that you work in, or absolute"),
            "text": _about(_TEXT, "all that the file is to hold"),
        },
        "path",
        "text",
    ),
    _tool(
        "edit",
        """\
Change a passage of a file. `old` must stand in it exactly as given, with its blanks and newlines, and only once, so \
give enough around the change; with `all` every place is changed. The rest of the file stays as it is.""",
        {
            "path": _about(_TEXT, "the file; relative to the folder that you work in, or absolute"),
            "old": _about(_TEXT, "the passage as it stands"),
            "new": _about(_TEXT, "what takes its place"),
            "all": _about({"type": "boolean"}, "change every place where it stands"),
        },
        "path",
        "old",
        "new",
    ),
    _tool(
        "agent",
        """\
Start a subagent in the background, only when the user has asked for one. It sees the same memory as you and has \
your tools, but not what was said in this turn, so the task must say all that it needs. You go on at once; its \
report arrives by itself, as `[Name] …`. Never wait for it.""",
        {
            "name": _about(_TEXT, "a short name for it, of letters and digits; another is given where that is taken"),
            "task": _about(_TEXT, "what it is to do, and what to report"),
        },
        "name",
        "task",
    ),
)
