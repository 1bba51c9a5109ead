"""`eukhe -p`: one turn, whose reply is printed.

What stdin holds, where it is a pipe or a file, comes after the text, in a fence. Ctrl-C, SIGTERM and SIGHUP stop the
turn: what it said until then is kept and printed, marked. Subagents that it began are waited for, and what their
reports make the model say is printed, too.
"""

import os
import re
import select
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click

from eukhe.actors.messages import (
    AgentBegan,
    AgentOver,
    Msg,
    ToolBegan,
    ToolOver,
    ToolPrinted,
    TurnBegan,
    TurnLogged,
    TurnOver,
    TurnRetries,
    TurnSaid,
    TurnWaits,
)
from eukhe.cli.command import Given
from eukhe.cli.output import counted, emit, emit_json, fit_width, say
from eukhe.cli.turn import Chat, client
from eukhe.errors import ExpectedError
from eukhe.limits import CLIENT_END_S, IMAGE_BYTES_MAX, MILLISECONDS, RETRY_SAID_S, STDIN_BYTES_MAX, STDIN_SAID_S
from eukhe.model.image import image_type
from eukhe.model.permission import FORMS, is_rule
from eukhe.model.talk import NO_USAGE, Usage
from eukhe.model.text import clean

FORMATS: Final = ("text", "json", "stream-json")

JSON_KEYS: Final = {
    "reply": "what the model said at last",
    "ids": "the messages that were logged",
    "model": "which answered",
    "usage": "tokens of all calls, subagents' left out: `input` that the cache neither had nor took, `output`, "
    "`cacheRead`, `cacheWrite`",
    "costUsd": "what these cost, by the price table; null where the model is not in it",
    "waitMs": "how long the turn waited for its view",
    "placeholders": "lines of the view that were not built, and showed the beginning of their message",
}
EVENT_KEYS: Final = {
    "waits": "`unbuilt`, `running`, `limitS`, `why`: what the turn waits for",
    "began": "`messages`, `lines`, `placeholders`, `waitMs`, `paused`: its view",
    "said": "`kind` (`text`, `thought`, `use`), `text`, `agent`: a piece of what the model says",
    "tool": "`call`, `name`, `input`, `agent`: one runs, or wants to",
    "printed": "`call`, `text`: what it prints",
    "result": "`call`, `text`, `failed`: it has ended",
    "logged": "`kind`, `id`, `count`: messages are on disk",
    "retry": "`why`, `afterS`, `agent`: a call failed, and what it said is said anew",
    "agent": "`name`, `task`: a subagent has begun",
    "report": "`name`, `report`, `id`: it has ended",
    "over": "a turn has ended: all keys of `--output-format json`, and `stopped`, `why`",
}
"""Of `stream-json`: the `type` of an event, and what else it has."""


class AskFailed(ExpectedError):
    """There is no whole reply."""


def ask(given: Given, text: str, output_format: str, rules: Sequence[str], images: Sequence[str]) -> None:
    """Runs it. AskFailed, click.UsageError, and whatever keeps a client from being made."""
    for rule in rules:
        if not is_rule(rule):
            raise click.UsageError(f"--allow {rule}: no such rule; there are {FORMS}.")
    pictures = tuple(map(_image, images))
    said = _with_stdin(text)
    if not said.strip() and not pictures:
        raise click.UsageError("There is nothing to say.")
    with client(given, rules, attended=False) as chat:
        if chat.said:
            say(chat.said)
        printer = _PRINTERS[output_format]()
        chat.say(said, pictures)
        try:
            for event in chat.events():
                printer.hear(event)
        except (KeyboardInterrupt, SystemExit):
            _stop(chat, printer.hear)
            printer.end()
            raise
    printer.end()
    if printer.why:
        raise AskFailed(printer.why)


def _stop(chat: Chat, hear: Callable[[Msg], None]) -> None:
    """Ends what goes on, and hears what is still said of it, for as long as it may take."""
    chat.stop()
    while not chat.is_at_rest:
        try:
            event = chat.hear(CLIENT_END_S)
        except TimeoutError:
            return
        hear(event)
        if isinstance(event, TurnOver):
            chat.stop()  # its subagents


# --- what is said ---


def _with_stdin(text: str) -> str:
    """The text, with what stdin holds; `-` for that alone."""
    if text == "-":
        return _stdin()
    piped = _stdin() if _is_piped() else ""
    if not piped.strip():
        return clean(text)
    longest = max(map(len, re.findall("`+", piped)), default=0)
    fence = "`" * max(len("```"), longest + 1)
    return f"{clean(text)}\n\n{fence}\n{piped.rstrip()}\n{fence}"


def _is_piped() -> bool:
    """A terminal is not read, nor /dev/null, nor what is closed."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _stdin() -> str:
    """All of it. AskFailed where that is more than anybody reads."""
    try:
        if not select.select([0], [], [], STDIN_SAID_S)[0]:
            say("reading stdin until it ends; give it /dev/null where there is nothing to read")
        data = sys.stdin.buffer.read(STDIN_BYTES_MAX + 1)
    except (OSError, AttributeError) as error:
        raise AskFailed(f"stdin can't be read: {error}") from error
    if len(data) > STDIN_BYTES_MAX:
        raise AskFailed(f"stdin holds more than {STDIN_BYTES_MAX} bytes; name a file in the text instead")
    return clean(data.decode(errors="replace"))


def _image(path: str) -> bytes:
    """An image's bytes. AskFailed where it is none, or can't be read."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(IMAGE_BYTES_MAX + 1)
    except OSError as error:
        raise AskFailed(f"{path}: can't be read: {error.strerror}") from error
    if image_type(data) is None:
        raise AskFailed(f"{path}: no PNG, JPEG, GIF or WebP image")
    if len(data) > IMAGE_BYTES_MAX:
        raise AskFailed(f"{path}: more than {IMAGE_BYTES_MAX} bytes")
    return data


# --- what is printed ---


class _Printer:
    """Hears the events. `why`: what a turn failed of, if one did."""

    def __init__(self) -> None:
        self.why = ""
        self.overs: list[TurnOver] = []
        self._tells = sys.stderr.isatty()
        self._waiting = ""

    def hear(self, event: Msg) -> None:
        if isinstance(event, TurnOver):
            self.overs.append(event)
            self.why = self.why or event.why
            self.over(event)
        elif isinstance(event, TurnBegan) and event.paused:  # nobody else says that the memory stands still
            say(_not_built(event))
        elif isinstance(event, TurnRetries) and event.after_s >= RETRY_SAID_S:  # else it is a while without a word
            say(self._progress(event))
        elif self._tells and (line := self._progress(event)):
            say(fit_width(line))

    def over(self, over: TurnOver) -> None:
        """A turn has ended."""

    def end(self) -> None:
        """All has."""

    def _progress(self, event: Msg) -> str:
        match event:
            case TurnWaits(unbuilt, running, limit_s, why):
                lines = f"{counted(unbuilt, 'line')} of the memory, {counted(running, 'call')} running"
                waiting = f"waiting for {lines}, at most {limit_s:g} s" + (f"; {why}" if why else "")
                told, self._waiting = self._waiting, waiting
                return "" if waiting == told else waiting
            case TurnBegan(placeholders=placeholders) if placeholders:
                return _not_built(event)
            case ToolBegan(_, name, given, agent):
                return f"{_of(agent)}{name} {given}"
            case TurnRetries(why, after_s, agent):
                return f"{_of(agent)}{why}; again in {after_s:g} s"
            case AgentBegan(name, task):
                return f"[{name}] {task}"
            case AgentOver(name):
                return f"[{name}] has ended"
        return ""


class _Text(_Printer):
    """Each turn's reply; most often there is one."""

    def over(self, over: TurnOver) -> None:
        if over.reply:
            emit(over.reply)


class _Json(_Printer):
    """One object, of all turns together: the last one's reply."""

    def end(self) -> None:
        if self.overs:
            emit_json(_told(self.overs))


class _Stream(_Printer):
    """A line an event."""

    def hear(self, event: Msg) -> None:
        super().hear(event)
        if (told := _event(event)) is not None:
            emit_json(told)


_PRINTERS: Final[dict[str, type[_Printer]]] = dict(zip(FORMATS, (_Text, _Json, _Stream), strict=True))


def _not_built(began: TurnBegan) -> str:
    why = f": {began.paused}" if began.paused else ""
    return f"{counted(began.placeholders, 'line')} of the memory not built, shown by their beginning{why}"


def _of(agent: str) -> str:
    return f"[{agent}] " if agent else ""


def _told(overs: Sequence[TurnOver]) -> dict[str, Any]:
    last = overs[-1]
    usage = sum((over.usage for over in overs), NO_USAGE)
    costs = [over.usd for over in overs]
    return {
        "reply": last.reply,
        "ids": [i for over in overs for i in over.ids],
        "model": last.model,
        "usage": _usage(usage),
        "costUsd": None if None in costs else sum(filter(None, costs)),
        "waitMs": sum(over.waited_ms for over in overs),
        "placeholders": max(over.placeholders for over in overs),
    }


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
    }


def _event(event: Msg) -> dict[str, Any] | None:
    match event:
        case TurnWaits(unbuilt, running, limit_s, why):
            return {"type": "waits", "unbuilt": unbuilt, "running": running, "limitS": limit_s, "why": why}
        case TurnBegan(t, lines, placeholders, waited_s, paused):
            wait_ms = round(waited_s * MILLISECONDS)
            began = {"messages": t, "lines": lines, "placeholders": placeholders, "waitMs": wait_ms, "paused": paused}
            return {"type": "began", **began}
        case TurnSaid(kind, text, agent):
            return {"type": "said", "kind": kind, "text": text, "agent": agent}
        case ToolBegan(call, name, given, agent):
            return {"type": "tool", "call": call, "name": name, "input": given, "agent": agent}
        case ToolPrinted(call, text):
            return {"type": "printed", "call": call, "text": text}
        case ToolOver(call, text, failed):
            return {"type": "result", "call": call, "text": text, "failed": failed}
        case TurnLogged(kind, first, count):
            return {"type": "logged", "kind": kind, "id": first, "count": count}
        case TurnRetries(why, after_s, agent):
            return {"type": "retry", "why": why, "afterS": after_s, "agent": agent}
        case AgentBegan(name, task):
            return {"type": "agent", "name": name, "task": task}
        case AgentOver(name, report, id_):
            return {"type": "report", "name": name, "report": report, "id": id_}
        case TurnOver():
            return {"type": "over", **_told([event]), "stopped": event.stopped, "why": event.why}
    return None
