"""The turn: what a client's user says is answered here, by a model that has the memory and tools. Rules 46 to 58.

One main conversation runs at a time; what is said meanwhile joins it. Beside it subagents run, each a conversation of
its own, whose reports join the main one, or begin a new one. All that is said and done is logged as it happens, by the
chat's owner, whom the courier finds; nothing is carried from one turn to the next but by the memory.
"""

from collections import deque
from collections.abc import Sequence

from eukhe.actors.behaviour import CancelTimer, Effect, SetTimer, Tell
from eukhe.actors.messages import (
    AgentLogged,
    AgentNamed,
    AppendDone,
    AppendFailed,
    AskTexts,
    Attend,
    CallHeard,
    Cancel,
    Counted,
    Msg,
    OwnerIs,
    Permit,
    Ping,
    Pong,
    PrefixOpen,
    Say,
    Seen,
    Status,
    StopTurn,
    Sync,
    Synced,
    TextsInForce,
    ToolHeard,
    TurnDue,
    ViewTaken,
    ViewTexts,
    WaitFailed,
)
from eukhe.actors.turn_agent import Agent
from eukhe.actors.turn_desk import NAME, Desk, Effects, flat
from eukhe.actors.turn_main import Main
from eukhe.actors.turn_view import Viewed
from eukhe.errors import Bug
from eukhe.limits import AGENTS_MAX, CLIENT_END_S
from eukhe.model.text import clean
from eukhe.model.turn import Words

__all__ = ["NAME", "Turn"]
_END = "end"
_ENDED = 0  # the number of the timer of that name; what is begun counts from 1


class Turn:
    """The behaviour."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._main: Main | None = None
        self._agents: list[Agent] = []  # that work
        self._waiting: deque[Agent] = deque()  # until one of these has ended
        self._attends: int | None = None
        self._sync: Sync | None = None

    def receive(self, message: Msg, now: float) -> Sequence[Effect]:
        self._desk.now_s = now
        match message:
            case Say() if self._sync is not None:
                return []  # the client ends
            case Say(text, images):
                return self._hear(Words("user", self._hidden(text), images))
            case StopTurn():
                return self._stop()
            case CallHeard(call) | ToolHeard(call) | Permit(call):
                return self._desk.answered(call, message, last=False)
            case TurnDue(number):
                return self._lose("the client ends") if number == _ENDED else self._desk.answered(number, message)
            case (
                AppendDone(ticket)
                | AppendFailed(ticket)
                | ViewTaken(ticket)
                | WaitFailed(ticket)
                | ViewTexts(ticket)
                | TextsInForce(ticket)
                | Status(ticket)
                | PrefixOpen(ticket)
                | Counted(ticket)
                | Seen(ticket)
                | AgentNamed(ticket)
                | AgentLogged(ticket)
            ):
                return self._desk.answered(ticket, message)
            case OwnerIs(pid, why):
                return [] if pid else self._lose(why)
            case Ping(reply_to, ticket):
                _, ask = self._desk.order(AskTexts, self._know)  # with this the courier looks for the owner
                return [ask, Tell(reply_to, Pong(ticket))]
            case Sync():
                return self._end(message)
        raise Bug(f"the turn does not know {message}")

    def _know(self, answer: TextsInForce) -> Effects:
        self._desk.texts = answer.texts
        return []

    # --- the main conversation ---

    def _hear(self, words: Words) -> Effects:
        if self._main is not None:
            self._main.hear(words)
            return []
        return self._begin([words])

    def _begin(self, words: list[Words]) -> Effects:
        state = self._hidden(self._desk.state())
        self._main = Main(self._desk, words, state, self._main_over, self._begin_agent)
        return flat(self._attend(), self._main.begin())

    def _hidden(self, text: str) -> str:
        return self._desk.secrets.hide(clean(text))

    def _main_over(self, left: list[Words]) -> Effects:
        """`left`: what came too late for it."""
        self._main = None
        if left and self._sync is None:
            return self._begin(left)
        return self._rest()

    def _stop(self) -> Effects:
        """The turn; where none runs, the subagents."""
        return self._main.stop() if self._main is not None else self._stop_agents()

    def _attend(self) -> Effects:
        """Somebody is there, as long as anything goes on: lines may be paid for."""
        if self._attends is not None:
            return []
        self._attends, attend = self._desk.order(Attend, lambda answer: [])
        return [attend]

    def _rest(self) -> Effects:
        """Nobody is there where nothing goes on."""
        if self._main is not None or self._agents or self._waiting:
            return []
        effects: Effects = []
        if self._attends is not None:
            self._desk.forget(self._attends)
            effects.append(self._desk.follow(Cancel(NAME, self._attends)))
            self._attends = None
        if self._sync is not None:
            sync, self._sync = self._sync, None
            effects += [CancelTimer(_END), Tell(sync.reply_to, Synced(sync.ticket))]
        return effects

    # --- subagents ---

    def _begin_agent(self, name: str, task: str, viewed: Viewed) -> Effects:
        agent = Agent(self._desk, name, task, viewed, self._agent_over)
        began = agent.told()
        if len(self._agents) == AGENTS_MAX:
            self._waiting.append(agent)
            return began
        self._agents.append(agent)
        return [*began, *agent.begin()]

    def _agent_over(self, agent: Agent, report: Words, reported: bool) -> Effects:
        """`reported`: all that is to be said of its end was said; else its report is still to be heard."""
        if agent in self._agents:
            self._agents.remove(agent)
        next_one: Effects = []
        if self._waiting and len(self._agents) < AGENTS_MAX:
            waited = self._waiting.popleft()
            self._agents.append(waited)
            next_one = waited.begin()
        if reported or self._sync is not None:
            return flat(next_one, self._rest())
        return flat(next_one, self._hear(report))

    def _stop_agents(self) -> Effects:
        waiting, self._waiting = self._waiting, deque()
        return flat(*(agent.stop() for agent in [*waiting, *self._agents]))

    # --- the end ---

    def _end(self, sync: Sync) -> Effects:
        """All that goes on is stopped, and what was said is logged, if there is an owner who does it."""
        self._sync = sync
        stopped = flat(*([self._main.stop()] if self._main is not None else []), self._stop_agents())
        return flat(SetTimer(_END, CLIENT_END_S, TurnDue(_ENDED)), stopped, self._rest())

    def _lose(self, why: str) -> Effects:
        """No owner can be had: nothing is logged any more, so nothing goes on."""
        if self._attends is not None:  # the courier has forgotten it; what begins now attends anew
            self._desk.forget(self._attends)
            self._attends = None
        agents, self._waiting = [*self._waiting, *self._agents], deque()
        lost = flat(*(agent.lose(why) for agent in agents))
        main = self._main.lose(why) if self._main is not None else []
        return flat(lost, main, self._rest())
