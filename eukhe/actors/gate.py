"""The gate: who is writing which prefix into the provider's cache. Rule 30; the rule itself is in model.gate.

It holds the texts that all calls begin with, fixed while the chat is open, and tells them to turns (rules 27, 44).

A call enters, is told `PrefixOpen`, says when its response began, and leaves when it has ended, however it ends. It is
named by its asker and the ticket it came with: compactors and clients' turns pass the same gate.
"""

from collections.abc import Sequence

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, Tell
from eukhe.actors.messages import (
    AskTexts,
    Cancel,
    EnterPrefix,
    LeavePrefix,
    Msg,
    Ping,
    Pong,
    PrefixOpen,
    PrefixRead,
    Sync,
    Synced,
    TextsInForce,
    WriterLate,
)
from eukhe.errors import Bug
from eukhe.limits import PREFIX_WRITER_S
from eukhe.model.gate import Call, Gone, Prefix
from eukhe.model.prompt import Texts
from eukhe.model.prompt import texts as our_texts

NAME = "gate"


class Gate:
    """The behaviour. `prefixes`: those that are not cold; `calls`: at which one each call is.

    `texts`: those in force; ours where none are given.
    """

    def __init__(self, texts: Texts | None = None) -> None:
        self.texts = texts or our_texts()
        self.prefixes: dict[str, Prefix] = {}
        self.calls: dict[Call, str] = {}

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        match message:
            case EnterPrefix(prefix, reply_to, ticket):
                return self._enter(prefix, (reply_to, ticket), now)
            case PrefixRead(reply_to, ticket):
                name = self.calls.get((reply_to, ticket))
                return [] if name is None else self._sent(name, self.prefixes[name].read((reply_to, ticket), now))
            case LeavePrefix(reply_to, ticket) | Cancel(reply_to, ticket):
                return self._leave((reply_to, ticket), now)
            case WriterLate(name, reply_to, ticket):
                return self._late(name, (reply_to, ticket), now)
            case AskTexts(reply_to, ticket):
                return [Tell(reply_to, TextsInForce(ticket, self.texts))]
            case Ping(reply_to, ticket):
                return [Tell(reply_to, Pong(ticket))]
            case Sync(reply_to, ticket):
                return [Tell(reply_to, Synced(ticket))]
        raise Bug(f"the gate does not know {message}")

    def _enter(self, name: str, call: Call, now: float) -> list[Effect]:
        left = self._leave(call, now) if self.calls.get(call, name) != name else []
        self._forget_cold(now)
        self.calls[call] = name
        return [*left, *self._sent(name, self.prefixes.setdefault(name, Prefix()).enter(call, now))]

    def _leave(self, call: Call, now: float) -> list[Effect]:
        name = self.calls.pop(call, None)
        if name is None:
            return []
        return self._sent(name, self.prefixes[name].leave(call, now))

    def _late(self, name: str, call: Call, now: float) -> list[Effect]:
        """A writer is no longer waited for. Where its response begins while no other writes, its prefix is warm."""
        prefix = self.prefixes.get(name)
        if prefix is None or not prefix.is_late(call, now):
            return []  # its time was taken back, or begun anew, when the timer had gone off already
        return self._sent(name, prefix.leave(call, now))

    def _sent(self, name: str, gone: Gone) -> list[Effect]:
        """Tells the calls that may be sent, and sets or stops the writer's time."""
        prefix = self.prefixes[name]
        timer: list[Effect] = []
        if prefix.writer is None:
            timer.append(CancelTimer(name))
        elif gone.writes:
            reply_to, ticket = prefix.writer
            timer.append(SetTimer(name, PREFIX_WRITER_S, WriterLate(name, reply_to, ticket)))
        return [*timer, *(Tell(to, PrefixOpen(ticket)) for to, ticket in gone.calls)]

    def _forget_cold(self, now: float) -> None:
        """Of those that nobody is at."""
        used = set(self.calls.values())
        for name in [name for name, prefix in self.prefixes.items() if prefix.is_cold(now) and name not in used]:
            del self.prefixes[name]
