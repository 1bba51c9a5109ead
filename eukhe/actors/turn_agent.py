"""A subagent: a conversation in the background, with its master's view and a task, that ends in a report.

Its steps stay in its own log. Its final reply is the report: one `work` message, `[Name] report`, which joins the main
conversation or begins a new one; where the user has stopped it, it is only logged. Rules 54, 57, 58.
"""

from collections.abc import Callable
from typing import Final

from eukhe.actors.messages import (
    AgentBegan,
    AgentLogged,
    AgentOver,
    AgentSaid,
    Append,
    AppendDone,
    AppendFailed,
    Entry,
)
from eukhe.actors.turn_call import Asked
from eukhe.actors.turn_desk import Desk, Effects, edge, flat
from eukhe.actors.turn_speaker import Speaker
from eukhe.actors.turn_tools import AGENT
from eukhe.actors.turn_view import Viewed
from eukhe.model.gate import prefix_of
from eukhe.model.request import agent_talk
from eukhe.model.turn import STOPPED, Conversation, Over, Words

ROLE: Final = "agent"
_REFUSED: Final = {AGENT: "A subagent starts no others: do this part yourself."}
REPORT: Final = "work"
"""The kind of the message that a subagent's report is."""
NOWHERE: Final = -1  # the id of a report that could not be logged


class Agent:
    """`over`: what follows from its end: its report, and whether that is all there is to say of it."""

    def __init__(
        self,
        desk: Desk,
        name: str,
        task: str,
        viewed: Viewed,
        over: Callable[["Agent", Words, bool], Effects],
    ) -> None:
        self.agent = name
        self._desk = desk
        self._task = task
        self._viewed = viewed
        self._over = over
        assert desk.texts is not None
        self._texts = desk.texts
        tools = [tool.name for tool in self._texts.tools]
        self._speaker = Speaker(desk, Conversation(Words("user", task), tools, _REFUSED), self)
        self._is_lost = False

    def told(self) -> Effects:
        return [edge(AgentBegan(self.agent, self._task))]

    def begin(self) -> Effects:
        return self._speaker.begin()

    def stop(self) -> Effects:
        return self._speaker.stop()

    def lose(self, why: str) -> Effects:
        self._is_lost = True
        return self._speaker.lose(why)

    # --- what the conversation wants ---

    @property
    def t(self) -> int:
        return self._viewed.taken.t

    def asked(self, conversation: Conversation, previous_end: int | None) -> Asked:
        mind, pinned = self._desk.mind, self._viewed.pinned
        talk = agent_talk(self._texts, pinned, self._task, conversation.speeches, mind.effort, previous_end)
        prefix = prefix_of(mind.model, pinned.whole, mind.effort, self._texts)
        return Asked(talk, prefix, ROLE, self._viewed.taken.batch, previous_end is None, self.agent)

    def log(
        self, entries: tuple[Entry, ...], logged: Callable[[], Effects], failed: Callable[[str], Effects]
    ) -> Effects:
        _, said = self._desk.order(
            lambda me, ticket: AgentSaid(self.agent, entries, me, ticket),
            lambda answer: _answered(answer, logged, failed),
        )
        return [said]

    def begin_agent(self, name: str, task: str) -> Effects:
        raise AssertionError(f"{self.agent} can't begin {name}")

    def over(self, over: Over) -> Effects:
        report = _report(self.agent, over)
        if self._is_lost:
            return flat(edge(agent_over(report.text, NOWHERE)), self._over(self, report, True))
        if not over.stopped:
            return self._over(self, report, False)
        entry = Entry(report.kind, report.text, key=self._desk.name())
        _, append = self._desk.order(
            lambda me, ticket: Append((entry,), me, ticket), lambda answer: self._reported(report, answer)
        )
        return [append]

    def _reported(self, report: Words, answer: AppendDone | AppendFailed) -> Effects:
        at = answer.entries[0].first if isinstance(answer, AppendDone) else NOWHERE
        return flat(edge(agent_over(report.text, at)), self._over(self, report, True))


def agent_over(report: str, id_: int) -> AgentOver:
    """What the edge is told of a report that was logged."""
    name, _, text = report.removeprefix("[").partition("] ")
    return AgentOver(name, text, id_)


def _answered(answer: AgentLogged, logged: Callable[[], Effects], failed: Callable[[str], Effects]) -> Effects:
    return failed(answer.why) if answer.why else logged()


def _report(name: str, over: Over) -> Words:
    """One message. Of one that failed it says so, and how far it had come."""
    if over.stopped:
        return Words(REPORT, f"[{name}] {over.reply or STOPPED}")
    if over.why:
        return Words(REPORT, f"[{name}] failed: {over.why}" + (f"\n{over.reply}" if over.reply else ""))
    return Words(REPORT, f"[{name}] {over.reply}")
