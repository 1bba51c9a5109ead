"""One tool of a conversation while it runs: asked for where it must be, begun, heard, and ended.

The memory's tools are the owner's to answer, `agent` is the turn's own; all others touch the user's machine, and run
if they may. What a tool prints and gives passes the secrets' marks; its input gets the values back just before.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
import orjson

from eukhe.actors.behaviour import StartTool, StopTool
from eukhe.actors.messages import (
    AgentNamed,
    At,
    BeginAgent,
    Cancel,
    DateOf,
    Look,
    Looking,
    MayI,
    Permit,
    Search,
    Seen,
    ToolBegan,
    ToolHeard,
    ToolOver,
    ToolPrinted,
    Zoom,
    ZoomAgent,
)
from eukhe.actors.ports import ToolEnded, ToolSaid
from eukhe.actors.turn_desk import NAME, Desk, Effects, edge, flat
from eukhe.limits import AGENT_WANTED_CHARS_MAX
from eukhe.model.permission import Allowed, Ask, Refused
from eukhe.model.talk import Use
from eukhe.model.turn import STOPPED

AGENT: Final = "agent"
_NOT_ALLOWED: Final = "The user did not allow this."
Ended = Callable[[str, tuple[bytes, ...], bool], Effects]
"""What follows from a tool's end: its text, its images, whether it failed."""
Begin = Callable[[str, str], Effects]
"""Begins a subagent, that has this name now and this task."""
_LOOKS: Final[dict[str, Callable[[dict[str, Any], int], Looking]]] = {
    "zoom": lambda given, t: (
        ZoomAgent(given["id"], given.get("n", 1))
        if isinstance(given["id"], str)
        else Zoom(given["id"], given.get("n", 1))
    ),
    "date": lambda given, t: DateOf(given["id"]),
    "search": lambda given, t: Search(given["words"], t),
    "at": lambda given, t: At(given["date"], t),
}


class Tool:
    """`agent`: the subagent whose it is; "" none's. `begin_agent`: for the tool of that name.

    `t`: of how many messages its conversation has the view.
    """

    def __init__(self, desk: Desk, use: Use, agent: str, t: int, ended: Ended, begin_agent: Begin) -> None:
        self._desk = desk
        self._use = use
        self._agent = agent
        self._t = t
        self._ended = ended
        self._begin_agent = begin_agent
        self._number = desk.number(self._heard)
        self._order: int | None = None  # the ticket of what is asked of the owner
        self._rule: str | None = None  # that would allow it, while the user is asked
        self._runs = False
        self._hiding = desk.secrets.stream()

    def begin(self) -> Effects:
        began = edge(ToolBegan(self._number, self._use.name, self._use.input, self._agent))
        given = orjson.loads(self._use.input)
        if self._use.name == AGENT:
            return flat(began, self._start_agent(given))
        if self._use.name in _LOOKS:
            return flat(began, self._look(given))
        # Only what touches the machine gets the secrets' values: a subagent's task is logged, and sent.
        return flat(began, self._if_it_may(orjson.loads(self._desk.secrets.reveal_json(self._use.input))))

    def stop(self) -> Effects:
        """Ends it at once; nothing follows."""
        effects: Effects = [edge(ToolOver(self._number, STOPPED, True))]
        if self._order is not None:
            self._desk.forget(self._order)
            effects.append(self._desk.follow(Cancel(NAME, self._order)))
        if self._runs:
            effects.append(StopTool(self._number))
        self._desk.forget(self._number)
        return effects

    def _end(self, text: str, images: tuple[bytes, ...] = (), failed: bool = False) -> Effects:
        self._desk.forget(self._number)
        text = self._desk.secrets.hide(text)
        return flat(edge(ToolOver(self._number, text, failed)), self._ended(text, images, failed))

    # --- the memory's, and subagents ---

    def _look(self, given: dict[str, Any]) -> Effects:
        try:
            what = msgspec.convert(msgspec.to_builtins(_LOOKS[self._use.name](given, self._t)), Looking)
        except (KeyError, msgspec.ValidationError) as error:
            return self._end(_wrong(self._use.name, error), failed=True)
        self._order, order = self._desk.order(lambda me, ticket: Look(what, me, ticket), self._seen)
        return [order]

    def _seen(self, seen: Seen) -> Effects:
        self._order = None
        return self._end(seen.text, seen.images, not seen.found)

    def _start_agent(self, given: dict[str, Any]) -> Effects:
        match given:
            case {"name": str(name), "task": str(task)} if task.strip():
                key, wanted = self._desk.name(), name[:AGENT_WANTED_CHARS_MAX]  # an owner hears of no longer one
                self._order, order = self._desk.order(
                    lambda me, ticket: BeginAgent(wanted, key, me, ticket), lambda named: self._named(named, task)
                )
                return [order]
        return self._end("agent takes a name and a task, both of them texts.", failed=True)

    def _named(self, named: AgentNamed, task: str) -> Effects:
        self._order = None
        if named.why:
            return self._end(named.why, failed=True)
        began = self._begin_agent(named.name, task)
        return flat(
            began, self._end(f"[{named.name}] has begun; its report comes as a message, so do not wait for it.")
        )

    # --- those that touch the user's machine ---

    def _if_it_may(self, given: dict[str, Any]) -> Effects:
        match self._desk.policy.decide(self._use.name, given):
            case Allowed():
                return self._run()
            case Refused(why):
                return self._end(why, failed=True)
            case Ask(shown, rule):
                hide = self._desk.secrets.hide
                self._rule = rule if rule == hide(rule) else ""  # rules are stored, and secrets never are
                return [edge(MayI(self._number, self._use.name, hide(shown), self._agent, self._rule))]

    def _answered(self, yes: bool, always: bool) -> Effects:
        rule, self._rule = self._rule, None
        if rule is None:
            return []  # nobody asked, or it was answered before
        if yes and always and rule:
            self._desk.policy.allow(rule)
        return self._run() if yes else self._end(_NOT_ALLOWED, failed=True)

    def _run(self) -> Effects:
        self._runs = True
        return [StartTool(self._number, self._use.name, self._desk.secrets.reveal_json(self._use.input))]

    def _heard(self, message: ToolHeard | Permit) -> Effects:
        match message:
            case Permit(_, yes, always):
                return self._answered(yes, always)
            case ToolHeard(_, ToolSaid(text)):
                return self._printed(self._hiding.take(text))
            case ToolHeard(_, ToolEnded(text, images, failed)):
                return flat(self._printed(self._hiding.rest()), self._end(text, images, failed))
        return []

    def _printed(self, text: str) -> Effects:
        return [edge(ToolPrinted(self._number, text))] if text else []


def _wrong(name: str, error: Exception) -> str:
    """What to tell a model whose input does not fit."""
    what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
    return f"The input of {name} is wrong: {what}."
