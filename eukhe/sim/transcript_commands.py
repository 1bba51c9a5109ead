"""The commands of a transcript: words in, what comes of them out.

    limits ceiling=4000 floor=2000 compaction=1200-600 jobs=2 line=300    the first; line: bytes of a reply
    message [KIND] 600 bytes | message [KIND] TEXT                        logged without a key
    messages 20 of 600 bytes                                              one after another
    client NAME append [key=KEY] [KIND] 600 bytes | TEXT                  by a client, sent again by `take over`
    responds 0+1, reply 0+1 [300 bytes | TEXT | nothing]                  a call's response begins; it ends
    reply all [300 bytes], reply on [300 bytes]                           of those that run; and of those that follow
    fail 0+1 [WHY], kill worker 3, outage 0+1 [WHY] [retry-after 30s | key]
    late reply 3 [TEXT], late fail 3                                      of a call that was stopped, or has ended
    resume                                                                a key or a setting changed
    wait NAME, take NAME, cancel NAME, settle NAME, read NAME             a turn's view: wait, deadline, never mind
    advance 10s, clock back 1h, clock forward 1d
    crash, power keep | drop | tear, end                                  the owner's process, the machine's, cleanly
    crash at tree write [keep | drop | tear], power at main sync drop     in the midst of the next one
    disk fails at main sync
    remove view.json, remove index, save view.json 0+4 4+1                by someone else
    restart, take over [NAME…], second owner                              with new clients; by one of the old ones
    view, compaction view, queue, calls, status, log, tree, files, verify
    quietly COMMAND                                                       nothing is told of it

Nodes are named as in a view, `8+4`; a call by the number with which it began.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from eukhe.actors.messages import Append, Cancel, Entry, Msg, ReadView, Settle, TakeView, Wait
from eukhe.model.chat import ChatLimits
from eukhe.model.record import KINDS
from eukhe.model.saved_view import VIEW_FILE, encode_view
from eukhe.model.text import label, size
from eukhe.sim.transcript_calls import CALLS
from eukhe.sim.transcript_outcome import Outcome
from eukhe.sim.transcript_shows import OF_FILES, SHOWS, shown
from eukhe.sim.transcript_stage import SCRIPT, Client, Stage
from eukhe.sim.transcript_words import (
    CommandError,
    Unsynced,
    Words,
    after,
    bytes_in,
    node,
    none,
    one,
    operation,
    padded,
    seconds,
    unsynced,
    whole,
)

_LIMITS: Final = ("ceiling", "floor", "jobs")


class Commands:
    """Performed one by one on a stage of their own, which the first one makes."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._stage: Stage | None = None

    def perform(self, words: Words) -> Sequence[str]:
        """What comes of a command, a line each; never none."""
        if words[0] == "quietly" and len(words) > 1:
            self.perform(words[1:])
            return ["…"]
        if (words[0] == "limits") != (self._stage is None):
            raise CommandError("`limits` is the first command, and only that")
        if self._stage is None:
            self._stage = _limits(self._seed, words[1:])
        command = " ".join(words)
        if command in SHOWS:
            _needs_owner(self._stage, command in OF_FILES)
            return shown(command, self._stage)
        if words[0] not in _DOES:
            raise CommandError("no such command")
        _needs_owner(self._stage, words[0] in _WITHOUT_OWNER)
        outcome = Outcome(self._stage)
        _DOES[words[0]](self._stage, words[1:])
        return outcome.lines()


def _needs_owner(stage: Stage, without: bool = False) -> None:
    if not without and stage.system is None:
        raise CommandError("there is no owner: `restart`, or `take over`")


def _needs_none(stage: Stage) -> None:
    if stage.system is not None:
        raise CommandError("there is an owner: `crash`, `power` or `end` first")


# --- beginning and ending ---


def _limits(seed: int, words: Words) -> Stage:
    given: dict[str, int] = {}
    line_bytes = None
    for word in words:
        name, _, value = word.partition("=")
        if name == "line":
            line_bytes = whole(value)
        elif name == "compaction":
            ceiling, _, floor = value.partition("-")
            given |= {"compaction_ceiling": whole(ceiling), "compaction_floor": whole(floor)}
        elif name in _LIMITS:
            given[name] = whole(value)
        else:
            raise CommandError(f"no limit is named {name}")
    return Stage(seed, ChatLimits(**given), line_bytes)


def _begin(stage: Stage, words: Words) -> None:
    del words  # they were read
    stage.start()
    stage.quiet()


def _restart(stage: Stage, words: Words) -> None:
    none(words)
    _needs_none(stage)
    stage.forget_clients()
    stage.start()
    stage.quiet()


def _take_over(stage: Stage, words: Words) -> None:
    """One of those who try gets the lock, and owns the chat; what each of them was not answered is sent again."""
    _needs_none(stage)
    names = [*words] or [name for name in stage.clients if name != SCRIPT]
    if not names:
        raise CommandError("there is no client to take over")
    owners = sum(stage.start(pid) for pid, _ in enumerate(names, 2))
    stage.said.append(f"{owners} of {len(names)} owns the chat")
    for name in names:
        for order in stage.client(name).outbox.again():
            stage.tell(_asked(order), order)
    stage.quiet()


def _second(stage: Stage, words: Words) -> None:
    none(after("owner", words))
    assert not stage.start(pid=2), "two owners"
    stage.said.append("refused: another process owns the chat")


def _crash(stage: Stage, words: Words) -> None:
    if words:
        _dies(stage, words, stage.kill)
    else:
        stage.kill()


def _power(stage: Stage, words: Words) -> None:
    if words[:1] == ["at"]:
        _dies(stage, words, stage.lose_power)
    else:
        stage.lose_power(unsynced(words))


def _dies(stage: Stage, words: Words, end: Callable[[Unsynced, str], None]) -> None:
    name, rest = operation(after("at", words))
    stage.dies_at(name, partial(end, unsynced(rest)))


def _disk(stage: Stage, words: Words) -> None:
    name, rest = operation(after("at", after("fails", words)))
    none(rest)
    stage.disk.arm(name, crashes=False)


def _end(stage: Stage, words: Words) -> None:
    none(words)
    stage.end()


def _remove(stage: Stage, words: Words) -> None:
    match words:
        case ["view.json"]:
            stage.disk.change(VIEW_FILE, None)
        case ["index"]:
            stage.index.clear()
        case _:
            raise CommandError("`view.json` or `index` can be removed")


def _save(stage: Stage, words: Words) -> None:
    parts = [node(word) for word in after("view.json", words)]
    stage.disk.change(VIEW_FILE, encode_view(parts))


# --- messages ---


def _message(stage: Stage, words: Words) -> None:
    _log(stage, stage.client(SCRIPT), words)


def _messages(stage: Stage, words: Words) -> None:
    match words:
        case [count, "of", *rest]:
            for _ in range(whole(count)):
                _message(stage, rest)
        case _:
            raise CommandError("say how many, as in `messages 20 of 600 bytes`")


def _append(stage: Stage, words: Words) -> None:
    match words:
        case [name, "append", *rest] if rest:
            _log(stage, stage.client(name), rest)
        case _:
            raise CommandError("say who and what, as in `client anna append some words`")


def _log(stage: Stage, client: Client, words: Words) -> None:
    key = None
    if words and words[0].startswith("key="):
        key, words = words[0].removeprefix("key="), words[1:]
    kind, words = (words[0], words[1:]) if words and words[0] in KINDS else ("user", words)
    text = f"message {stage.sent}"
    bytes_ = bytes_in(words)
    text = " ".join(words) or text if bytes_ is None else padded(text, bytes_ - size(label(kind, "")))
    stage.sent += 1
    order = Append((Entry(kind, text, key=key),), client.name, client.outbox.ticket())
    stage.tell("store", order if client.name == SCRIPT else client.outbox.put(order))
    stage.quiet()


# --- those who wait ---


def _wait(stage: Stage, words: Words) -> None:
    client = stage.client(one(words))
    client.wait = client.outbox.ticket()
    _asks(stage, client, Wait(client.name, client.wait))


def _take(stage: Stage, words: Words) -> None:
    if words[:1] == ["over"]:
        _take_over(stage, words[1:])
        return
    _needs_owner(stage)
    client = stage.client(one(words))
    _asks(stage, client, TakeView(client.name, _waits(client)))


def _cancel(stage: Stage, words: Words) -> None:
    client = stage.client(one(words))
    _asks(stage, client, Cancel(client.name, _waits(client)))


def _settle(stage: Stage, words: Words) -> None:
    client = stage.client(one(words))
    _asks(stage, client, Settle(client.name, client.outbox.ticket(), stage.chat.t, take=True))


def _read(stage: Stage, words: Words) -> None:
    client = stage.client(one(words))
    if client.view is None:
        raise CommandError(f"{client.name} has no view")
    _asks(stage, client, ReadView(client.view.lines, client.view.unbuilt, client.name, client.outbox.ticket()))


def _waits(client: Client) -> int:
    if client.wait is None:
        raise CommandError(f"{client.name} does not wait")
    return client.wait


def _asks(stage: Stage, client: Client, order: Msg) -> None:
    stage.tell(_asked(order), client.outbox.put(order))
    stage.quiet()


def _asked(order: Msg) -> str:
    """The actor that an order is for."""
    match order:
        case Append():
            return "store"
        case ReadView():
            return "index"
    return "planner"


# --- time ---


def _advance(stage: Stage, words: Words) -> None:
    stage.moves(partial(stage.scheduler.pass_time, seconds(one(words))))


def _clock(stage: Stage, words: Words) -> None:
    match words:
        case ["back", time]:
            stage.clock.set_wall(-seconds(time))
        case ["forward", time]:
            stage.clock.set_wall(seconds(time))
        case _:
            raise CommandError("say where, as in `clock back 1h`")


_DOES: Final[Mapping[str, Callable[[Stage, Words], None]]] = {
    **CALLS,
    "limits": _begin,
    "restart": _restart,
    "take": _take,
    "second": _second,
    "crash": _crash,
    "power": _power,
    "disk": _disk,
    "end": _end,
    "remove": _remove,
    "save": _save,
    "message": _message,
    "messages": _messages,
    "client": _append,
    "wait": _wait,
    "cancel": _cancel,
    "settle": _settle,
    "read": _read,
    "advance": _advance,
    "clock": _clock,
}
_WITHOUT_OWNER: Final = {"limits", "restart", "take", "remove", "save", "advance", "clock"}
