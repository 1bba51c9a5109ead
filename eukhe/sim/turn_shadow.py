"""What a client's turn does, held against the rules a message at a time.

It stands around the behaviour: it takes note of each message, hands it on, then looks at what came of it.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from eukhe.actors.behaviour import EDGE, AskModel, Effect, LeaveModel, StopTool, Tell
from eukhe.actors.courier import NAME as COURIER
from eukhe.actors.messages import (
    AgentBegan,
    AgentLogged,
    AgentNamed,
    AgentOver,
    AgentSaid,
    Append,
    AppendDone,
    AppendFailed,
    Attend,
    BeginAgent,
    CallHeard,
    CallSent,
    Cancel,
    Counted,
    EnterPrefix,
    Entry,
    LeavePrefix,
    Look,
    Msg,
    OwnerIs,
    ReadView,
    Seen,
    StopTurn,
    Sync,
    ToolBegan,
    ToolHeard,
    TurnOver,
    ViewTaken,
    ViewTexts,
    Wait,
    WaitFailed,
)
from eukhe.actors.ports import Broke, Delta, Outage, Replied, ToolEnded, TurnRequest
from eukhe.actors.turn import Turn
from eukhe.limits import BLOCK_LINES, DEADLINE_LINE_BYTES_MIN, DEADLINE_VIEW_BYTES_MAX
from eukhe.model.render import line
from eukhe.model.talk import Text
from eukhe.model.text import cut, size
from eukhe.sim.checks import CheckFailed
from eukhe.sim.conversation import Conversation, text
from eukhe.sim.models import SimModels, task_of
from eukhe.sim.tools import SimTools
from eukhe.sim.waits import check_tiles

if TYPE_CHECKING:
    from eukhe.sim.machine import Machine

_THERE: Final = "somebody is there"
View = list[str]
"""A view's blocks."""


class User(Protocol):
    """Whose turn it is."""

    def waits(self) -> None:
        """A turn begins to wait for its view."""
        ...

    def rests(self) -> None:
        """Nothing goes on any more."""
        ...


class TurnShadow:
    """`main`: the conversation that runs. `agents`: subagents that were begun and are not over, by name.

    `waits`: the ticket of the wait for a view, `view`: what came of it, `shown` as its texts make it.
    """

    def __init__(
        self,
        machine: "Machine",
        turn: Turn,
        models: SimModels,
        tools: SimTools,
        user: User,
    ) -> None:
        self.main: Conversation | None = None
        self.agents: dict[str, Conversation] = {}
        self.waits: int | None = None
        self._machine, self._turn = machine, turn
        self._watch, self._faults = machine.watch, machine.faults
        self._models, self._tools = models, tools
        self._user = user
        self._view: ViewTaken | None = None
        self._shown: View | None = None
        self._views: dict[str, View] = {}  # of each subagent
        self._tasks: dict[str, str] = {}  # whose each is
        self._orders: dict[int, Msg] = {}  # not answered
        self._whose: dict[int, Conversation] = {}  # calls, tools, looks, texts on their way
        self._counted = 0  # calls that may be sent
        self._held: dict[int, str] = {}  # calls at the gate, attendances
        self._began: Conversation | None = None  # whose tool began last

    @property
    def is_at_rest(self) -> bool:
        return self.main is None and not self.agents

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        rested = self.is_at_rest
        self._hears(message)
        effects = self._turn.receive(message, now)
        for effect in effects:
            self._does(effect)
        self._rests_or_not()
        if self.is_at_rest and not rested:
            self._user.rests()
        return effects

    @property
    def _all(self) -> list[Conversation]:
        return [*self.agents.values(), *([self.main] if self.main is not None else [])]

    def _rests_or_not(self) -> None:
        """At the gate there is a call of each conversation at most; while there are any, somebody is there."""
        held = sorted(self._held.values())
        there = held.count(_THERE)
        if there != (not self.is_at_rest) or len(held) - there > len(self._all):
            raise CheckFailed("turn-rests", f"{len(self._all)} conversations", held)

    # --- what it hears ---

    def _hears(self, message: Msg) -> None:
        match message:
            case StopTurn() if self.main is not None:
                self.main.is_cut = True
            case StopTurn() | Sync():
                self._cut_all()
            case OwnerIs(0):
                self._lost()
            case CallHeard(call, event):
                self._hears_of_call(call, event)
            case ToolHeard(call, ToolEnded(gave)) if call in self._whose:
                self._whose.pop(call).gave = gave
                self._meets(self._tools.fault_of(call))
            case ViewTaken(ticket) if ticket == self.waits:
                self._takes(message)
            case Counted():
                self._counted += isinstance(self._orders.pop(message.ticket, None), CallSent)
            case _:
                order = self._orders.pop(getattr(message, "ticket", 0), None)
                if order is not None:
                    self._answered(order, message)

    def _meets(self, fault: str) -> None:
        if fault:
            self._faults.meet(fault)

    def _cut_all(self) -> None:
        for conversation in self._all:
            conversation.is_cut = True

    def _lost(self) -> None:
        """No owner is left: what is not logged will not be."""
        if not self.is_at_rest:
            self._faults.meet("no-owner")
        self._cut_all()
        for conversation in self._all:
            conversation.is_lost = True
        self._orders.clear()
        self._held.clear()

    def _hears_of_call(self, call: int, event: object) -> None:
        if call not in self._whose:
            return  # it was left
        conversation = self._whose[call]
        match event:
            case Delta("text", piece):
                conversation.half += piece
            case Replied(_, reply):
                self._call_ends(call)
                if reply is not None:
                    conversation.replied(reply)
            case Broke() | Outage():
                self._call_ends(call)

    def _call_ends(self, call: int) -> None:
        conversation = self._whose.pop(call)
        conversation.is_asking = False
        self._meets(self._models.fault_of(call))

    def _answered(self, order: Msg, answer: Msg) -> None:
        match order, answer:
            case Append(entries), AppendDone(ticket, loggings):
                conversation = self._whose.pop(ticket, None)
                for entry, logging in zip(entries, loggings, strict=True):
                    self._machine.text.logged(entry)
                    self._watch.acknowledge(entry, logging)
                    if conversation is not None:
                        self._follows(conversation, entry, logging.first)
            case AgentSaid(name, entries), AgentLogged(ticket, ""):
                self._whose.pop(ticket).logged += len(entries)
                self._watch.agents.logged(name, tuple(_as_logged(entry) for entry in entries))
            case (Append() | AgentSaid(), AppendFailed(ticket) | AgentLogged(ticket)) if ticket in self._whose:
                self._whose.pop(ticket).is_lost = True
            case BeginAgent(_, key), AgentNamed(ticket, name, ""):
                self._whose.pop(ticket).gave = None
                self._watch.agents.named(key, name)
            case ReadView(), ViewTexts(_, texts):
                self._reads(texts)
            case Look(), Seen(ticket, gave):
                self._whose.pop(ticket).gave = gave
            case _, WaitFailed() if self.main is not None:
                self.main.is_cut = True

    def _follows(self, conversation: Conversation, entry: Entry, first: int) -> None:
        """Its messages are logged in their order."""
        if first <= conversation.last_id:
            raise CheckFailed("turn-log", f"{entry} after message {conversation.last_id}", first)
        conversation.last_id = first
        if self._view is not None and conversation is self.main and first < self._view.t:
            raise CheckFailed("turn-own-message", f"message {self._view.t} or later", first)
        if conversation.logged and entry.kind == "user":
            self._faults.meet("steering")
        conversation.logged += 1

    # --- its view ---

    def _takes(self, view: ViewTaken) -> None:
        check_tiles(view.lines, view.t)
        if view.paused and not self._machine.options.is_limited:
            self._faults.meet("outage")
        self.waits = None
        self._view = view

    def _reads(self, texts: Sequence[str]) -> None:
        """The texts are those of the disk; the view's blocks follow from them."""
        view, ledger = self._view, self._watch.ledger
        assert view is not None
        unbuilt = {part: cut(ledger.messages[part.i].label) for part in view.unbuilt}
        built = {part: ledger.nodes[part].text for part in view.lines if part not in unbuilt}
        room = DEADLINE_VIEW_BYTES_MAX - sum(map(size, built.values()))
        if sum(map(size, unbuilt.values())) > room:  # even shares of what is left (D14)
            share = max(DEADLINE_LINE_BYTES_MIN, room // len(unbuilt))
            unbuilt = {part: cut(text, share) for part, text in unbuilt.items()}
        for part, text_ in zip(view.lines, texts, strict=True):
            if text_ != (right := {**built, **unbuilt}[part]):
                raise CheckFailed("view-texts", f"{part.name}: {right!r}", repr(text_))
        lines = [f"{line(part, text_)}\n" for part, text_ in zip(view.lines, texts, strict=True)]
        whole = len(lines) - len(lines) % BLOCK_LINES
        shown = ["".join(lines[at : at + BLOCK_LINES]) for at in range(0, whole, BLOCK_LINES)]
        shown.append("".join(lines[whole:]) + "</chat>")
        shown[0] = f"<chat>\n{shown[0]}"
        self._shown = shown

    # --- what it does ---

    def _does(self, effect: Effect) -> None:
        match effect:
            case Tell(to, message) if to == EDGE:
                self._shows(message)
            case Tell(to, message) if to == COURIER:
                self._orders_of(message)
            case AskModel(call, request):
                self._asks(call, request)
            case LeaveModel(call):
                self._left(call, self._models)
            case StopTool(call):
                self._left(call, self._tools)

    def _left(self, call: int, calls: SimModels | SimTools) -> None:
        self._whose.pop(call, None)
        self._meets(calls.fault_of(call))

    def _shows(self, message: Msg) -> None:
        match message:
            case ToolBegan(call, name, input_, agent):
                conversation = self._of(agent)
                conversation.begins_tool(f"{name} {input_}", self._on_disk(conversation))
                self._whose[call] = self._began = conversation
            case AgentBegan(name, task):
                assert self._shown is not None
                self.agents[name] = Conversation(name)
                self._views[name], self._tasks[task] = self._shown, name
            case AgentOver(name):
                self._agent_over(name)
            case TurnOver():
                assert self.main is not None
                self.main.ends()
                if message.stopped:
                    self._faults.meet("stopped-turn")
                self.main = self._view = self._shown = None

    def _agent_over(self, name: str) -> None:
        """Its own log has all that was said; its report was logged by its master."""
        conversation = self.agents.pop(name)
        conversation.ends()
        if not conversation.is_lost:
            there = self._watch.agents.labels(name)
            said = [f"{entry.kind}: {text(entry)}" for entry in conversation.entries]
            if there != said:
                raise CheckFailed("agents", said, there)

    def _orders_of(self, message: Msg) -> None:
        match message:
            case Cancel(_, ticket) | LeavePrefix(_, ticket):
                self._held.pop(ticket, None)
                self._orders.pop(ticket, None)
                if ticket == self.waits:
                    self.waits = None
                return
            case Wait(_, ticket):
                self.main = Conversation()
                self.waits = ticket
                self._user.waits()
            case Append(entries, _, ticket):
                self._appends(entries, ticket)
            case AgentSaid(name, entries, _, ticket):
                self._whose[ticket] = self.agents[name]
                self.agents[name].sends(entries)
            case Look(_, _, ticket) | BeginAgent(_, _, _, ticket):
                assert self._began is not None
                self._whose[ticket] = self._began
            case EnterPrefix(prefix, _, ticket):
                if not any(conversation.is_logged for conversation in self._all):
                    raise CheckFailed("request-logged", "all that was said on the disk", "a call at the gate")
                self._held[ticket] = prefix
            case Attend(_, ticket):
                self._held[ticket] = _THERE
        if (ticket := getattr(message, "ticket", 0)) and not isinstance(message, Attend | EnterPrefix):
            self._orders[ticket] = message

    def _appends(self, entries: Sequence[Entry], ticket: int) -> None:
        if all(entry.kind == "work" and (entry.key or "").count(".") == 1 for entry in entries):
            return  # the report of a subagent that was stopped
        assert self.main is not None
        if self._shown is None and not self.main.is_cut:
            raise CheckFailed("turn-own-message", "its view is pinned before it is logged", entries)
        self._whose[ticket] = self.main
        self.main.sends(entries)

    def _asks(self, call: int, request: TurnRequest) -> None:
        """A call is sent: it was counted, its view is the pinned one, and all else that it holds is on the disk."""
        self._counted -= 1
        if self._counted < 0:
            raise CheckFailed("counted", "a call that is noted on the disk", f"call {call} is sent")
        task = task_of(request)
        agent = self._tasks[task] if task is not None else ""
        conversation = self._of(agent)
        shown = self._views[agent] if agent else self._shown
        assert shown is not None
        blocks = request.talk.speeches[0].blocks
        found = [block.text for block in blocks[: len(shown)] if isinstance(block, Text)]
        if found != shown:
            raise CheckFailed("turn-view", shown, found)
        conversation.asks(request, blocks[len(shown) + (1 if agent else 2) :], self._on_disk(conversation))
        self._whose[call] = conversation

    def _of(self, agent: str) -> Conversation:
        conversation = self.agents[agent] if agent else self.main
        assert conversation is not None
        return conversation

    def _on_disk(self, conversation: Conversation) -> Callable[[Entry], bool]:
        if conversation.agent:
            said = self._watch.agents.said[conversation.agent]
            return lambda entry: entry.key in said
        return lambda entry: entry.key in self._watch.ledger.keys


def _as_logged(entry: Entry) -> Entry:
    return Entry(entry.kind, text(entry), key=entry.key)
