"""The agents actor: subagents' names and logs. The one writer of `agents/`. Rules 54, 57.

What is said comes with keys, and each comes in once: an order that is sent again to the next owner, since the one
before died, finds what the disk has of it. It is answered when that is on the platter, so what another process left
there is synced before it counts.

A log that could not be written takes nothing more, as long as this owner lives; the others go on.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from eukhe.actors.agent_logs import AgentLogs, Head, head_line, path_of
from eukhe.actors.behaviour import Effect, Persist, Tell
from eukhe.actors.messages import (
    AgentLogged,
    AgentNamed,
    AgentSaid,
    BeginAgent,
    Entry,
    Failed,
    Msg,
    Ping,
    Pong,
    Sync,
    Synced,
)
from eukhe.actors.ports import Clock, Disk
from eukhe.actors.routes import AGENTS
from eukhe.actors.store_intake import refusal
from eukhe.errors import Bug
from eukhe.limits import AGENT_LOGS_KEPT
from eukhe.model.agent_name import agent_name
from eukhe.model.image import with_images
from eukhe.model.record import encode, message
from eukhe.model.text import clean, clip

NAME: Final = AGENTS


class _Log(msgspec.Struct):
    """A log that is written. `synced`: all that it holds is on the platter; `torn`: it ends within a line."""

    keys: set[str]
    next_i: int
    torn: bool = False
    synced: bool = False


class Agents:
    """The behaviour."""

    def __init__(self, disk: Disk, clock: Clock) -> None:
        self._files = AgentLogs(disk)
        self._clock = clock
        self._names: dict[str, str] | None = None  # by the key each was given under; read at the first order
        self._taken: set[str] = set()  # casefolded
        self._logs: dict[str, _Log] = {}  # those used last, the last one last
        self._failed: dict[str, str] = {}  # logs that take nothing more, and why
        self._order: tuple[str, Callable[[str], Tell]] | None = (
            None  # whose log is at work, and what to say if it fails
        )

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        del now
        match message:
            case BeginAgent():
                return self._begin(message)
            case AgentSaid():
                return self._said(message)
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket):
                return [Tell(reply_to, Synced(ticket))]
            case Failed(why):
                return self._fail(why)
        raise Bug(f"the agents actor does not know {message}")

    # --- names ---

    def _begin(self, order: BeginAgent) -> Sequence[Effect]:
        self._order = "", lambda why: Tell(order.reply_to, AgentNamed(order.ticket, "", why))
        names = self._known()
        key = clean(order.key)
        name = names.get(key) or agent_name(order.wanted, self._taken)
        named = Tell(order.reply_to, AgentNamed(order.ticket, name))
        self._order = name, lambda why: Tell(order.reply_to, AgentNamed(order.ticket, name, why))
        if key in names:
            return self._written(name, b"", named)
        names[key] = name
        self._taken.add(name.casefold())
        self._keep(name, _Log(set(), 0))
        return self._written(name, head_line(Head(name, key, self._today())), named)

    def _known(self) -> dict[str, str]:
        if self._names is None:
            there = self._files.names()
            heads = [(name, self._files.head(name)) for name in there]
            self._taken = {name.casefold() for name in there}
            self._names = {head.key: name for name, head in heads if head is not None}
        return self._names

    # --- what is said ---

    def _said(self, order: AgentSaid) -> Sequence[Effect]:
        self._order = order.name, lambda why: Tell(order.reply_to, AgentLogged(order.ticket, why))
        logged = Tell(order.reply_to, AgentLogged(order.ticket))
        why = self._failed.get(order.name) or next(filter(None, map(_refusal, order.entries)), None)
        if why is None and self._log(order.name) is None:
            why = f"No agent {order.name}."
        if why is not None:
            return [Tell(order.reply_to, AgentLogged(order.ticket, why))]
        return self._written(order.name, self._lines(order), logged)

    def _lines(self, order: AgentSaid) -> bytes:
        """The lines of the entries that are not there yet."""
        log = self._log(order.name)
        assert log is not None, f"{order.name} has no log"
        lines = []
        for entry in order.entries:
            assert entry.key is not None, "an entry without a key is refused"
            key = clean(entry.key)
            if key not in log.keys:
                log.keys.add(key)
                record = message(log.next_i, entry.kind, _text(entry), entry.date or self._today(), key)
                lines.append(encode(record))
                log.next_i += 1
        return b"".join(lines)

    # --- writing ---

    def _written(self, name: str, lines: bytes, answer: Tell) -> Sequence[Effect]:
        if name in self._failed:
            return self._fail(self._failed[name])
        log = self._log(name)
        assert log is not None, f"{name} has no log"
        if log.synced and not lines:
            return [answer]
        data = b"\n" + lines if log.torn else lines
        log.torn, log.synced = False, True
        return [Persist(path_of(name), data), answer]

    def _fail(self, why: str) -> Sequence[Effect]:
        """What was asked for last was not done: an effect fails before the next message comes."""
        assert self._order is not None, f"nothing was asked for that could fail: {why}"
        name, answer = self._order
        if name:
            self._failed[name] = why
            self._logs.pop(name, None)
        return [answer(why)]

    def _log(self, name: str) -> _Log | None:
        """A log, read anew where it is not kept. None where there is none."""
        log = self._logs.pop(name, None) or self._read(name)
        if log is not None:
            self._keep(name, log)
        return log

    def _read(self, name: str) -> _Log | None:
        found = self._files.find(name)
        if found is None or found.name != name:
            return None
        keys = {record.key for record in found.records if record.key is not None}
        return _Log(keys, len(found.records), found.torn)

    def _keep(self, name: str, log: _Log) -> None:
        self._logs[name] = log
        if len(self._logs) > AGENT_LOGS_KEPT:
            del self._logs[next(iter(self._logs))]

    def _today(self) -> str:
        return self._clock.local().isoformat(timespec="seconds")


def _text(entry: Entry) -> str:
    """As the main log has it, but that nothing is split; of an image its mark alone."""
    text, _ = with_images(clean(entry.text), entry.images)
    return clip(text) if entry.kind == "echo" else text


def _refusal(entry: Entry) -> str | None:
    return refusal(entry) if entry.key is not None else "an entry without a key"
