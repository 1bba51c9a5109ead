"""Subagents' logs, `agents/<Name>.jsonl`, as they lie on the disk. Reads alone. Rule 54.

The first line says whose log it is, `{"agent","key","date"}`, with the key that its name was given under. Each other
line is a message, as the main log's, with an id of its own that counts from 0. What is torn is no line: the next one
begins anew behind it.
"""

from typing import Final, NamedTuple

import msgspec
import orjson

from eukhe.actors.ports import Disk
from eukhe.limits import AGENT_HEAD_BYTES_MAX
from eukhe.model.record import MessageRecord, RecordError, decode_main

FOLDER: Final = "agents"
_ENDING: Final = ".jsonl"


class Head(msgspec.Struct, frozen=True):
    """A log's first line."""

    agent: str
    key: str
    date: str


class AgentLog(NamedTuple):
    """A subagent's log. `torn`: it does not end with a newline, so the next line must begin with one."""

    name: str
    head: Head
    records: tuple[MessageRecord, ...]
    torn: bool


class AgentLogs:
    """Those of one chat."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def names(self) -> list[str]:
        """The names that are taken, also by a log whose first line was torn."""
        return [name.removesuffix(_ENDING) for name in self._disk.names(FOLDER) if name.endswith(_ENDING)]

    def head(self, name: str) -> Head | None:
        return _head(self._disk.read(path_of(name), 0, AGENT_HEAD_BYTES_MAX).partition(b"\n")[0])

    def find(self, name: str) -> AgentLog | None:
        """The log of a subagent, whose name may be written in small or in capital letters; None where there is none.

        It is looked for among those that there are: so a name can't lead elsewhere.
        """
        there = next((other for other in self.names() if other.casefold() == name.casefold()), None)
        return None if there is None else self.read(there)

    def read(self, name: str) -> AgentLog | None:
        """The log in the file of this name; None where that has no first line."""
        data = self._disk.read(path_of(name))
        first, *lines = data.split(b"\n")
        head = _head(first)
        if head is None:
            return None
        records = [record for line in lines if (record := _record(line)) is not None]
        return AgentLog(name, head, tuple(records), not data.endswith(b"\n"))


def path_of(name: str) -> str:
    return f"{FOLDER}/{name}{_ENDING}"


def head_line(head: Head) -> bytes:
    return orjson.dumps(msgspec.structs.asdict(head), option=orjson.OPT_APPEND_NEWLINE)


def _head(line: bytes) -> Head | None:
    try:
        return msgspec.json.decode(line, type=Head)
    except msgspec.DecodeError:
        return None


def _record(line: bytes) -> MessageRecord | None:
    try:
        record = decode_main(line)
    except RecordError:
        return None
    return record if isinstance(record, MessageRecord) else None
