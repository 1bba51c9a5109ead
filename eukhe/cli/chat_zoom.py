"""`eukhe chat zoom`."""

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import click

from eukhe.actors.agent_logs import AgentLogs
from eukhe.actors.look import agent_page, no_agent
from eukhe.cli.command import Command, Given
from eukhe.cli.lines import LINE_KEYS, line_json
from eukhe.cli.output import emit, emit_json, path_text
from eukhe.cli.reading import Memory, find, reading, tell_problems
from eukhe.errors import NotFoundError
from eukhe.limits import LOST
from eukhe.model.part import Part, part_of
from eukhe.model.record import MessageRecord
from eukhe.model.render import line
from eukhe.world.disk import RealDisk

JSON_KEYS = {
    **LINE_KEYS,
    "message.id": "where N is 1: the message",
    "message.kind": "who said it: user, eukhe, tool, echo, work or note",
    "message.date": "when, RFC 3339 with its offset",
    "message.text": "the whole text",
    "message.images": "the paths of its images",
    "agent.name": "where ID is a subagent's name: that name as it is written",
    "agent.messages[].id": "a message of its chat, counted from 0",
    "agent.messages[].kind": "who said it",
    "agent.messages[].date": "when",
    "agent.messages[].text": "the whole text",
}
_NAME = re.compile(r"(\d+)(?:\+(\d+))?")


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.argument("id")
@click.argument("n", type=int, required=False)
@click.option("--depth", type=click.IntRange(min=1), default=1, show_default=True, help="How many levels to open.")
@click.pass_obj
def command(given: Given, id: str, n: int | None, depth: int, as_json: bool) -> None:
    """Open the line ID+N of the memory: the two lines it was made of, or with N = 1 the whole message.

    ID may also be a line's name as the view has it, as in `eukhe chat zoom 8+4`, or a subagent's: then its whole chat
    is shown, or with N that page of it.
    """
    named = _NAME.fullmatch(id)
    if named is None:
        _agent(given, id, n, as_json)
        return
    first, count = int(named[1]), int(named[2] or 1) if n is None else n
    if n is not None and named[2] is not None:
        raise click.UsageError(f"Both {id} and {n} say how many messages to open.")
    with reading(given) as memory:
        tell_problems(memory.opened)
        part = part_of(first, count)
        if part is None or part.end > memory.chat.t:
            raise NotFoundError(f"No line {first}+{count}.")
        if part.level == 0:
            _message(memory, part, as_json)
        else:
            _lines(memory, part, depth, as_json)


def _agent(given: Given, name: str, page: int | None, as_json: bool) -> None:
    with closing(RealDisk(find(given))) as disk:
        log = AgentLogs(disk).find(name)
        if log is None:
            raise NotFoundError(no_agent(name).text)
        if as_json:
            rows = [{"id": said.i, "kind": said.kind, "date": said.date, "text": said.text} for said in log.records]
            emit_json({"agent": {"name": log.name, "messages": rows}})
            return
        if page is None:
            for said in log.records:
                emit(said.label)
            return
        sight = agent_page(disk, name, page)
    if not sight.found:
        raise NotFoundError(sight.text)
    emit(sight.text)


def _lines(memory: Memory, part: Part, depth: int, as_json: bool) -> None:
    opened = [(level, half, memory.text(half)) for level, half in _below(part, depth)]
    if as_json:
        emit_json({"lines": [line_json(half, text) for _, half, text in opened]})
        return
    for level, half, text in opened:
        emit("  " * level + line(half, text))


def _below(part: Part, depth: int, level: int = 0) -> Iterator[tuple[int, Part]]:
    """The lines under a node, `depth` levels of them, each before those under it."""
    for half in part.halves:
        yield level, half
        if half.level and level + 1 < depth:
            yield from _below(half, depth, level + 1)


def _message(memory: Memory, part: Part, as_json: bool) -> None:
    record = memory.archive.message(part.i)
    if as_json:
        emit_json({"message": _message_json(memory, part.i, record)})
    else:
        emit(LOST if record is None else record.label)


def _message_json(memory: Memory, i: int, record: MessageRecord | None) -> dict[str, Any]:
    if record is None:
        return {"id": i, "kind": None, "date": None, "text": LOST, "images": []}
    images = [path_text(memory.folder / "images" / name) for name in record.images]
    return {"id": i, "kind": record.kind, "date": record.date, "text": record.text, "images": images}
