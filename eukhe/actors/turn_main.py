"""The main conversation of a turn: it gets its view, then logs what the user said, then goes on until its reply.

The view is pinned before the user's words are logged, so they are not in it; they stand whole behind it. Rule 49.
"""

from collections.abc import Callable
from typing import Final

from eukhe.actors.messages import Append, AppendDone, AppendFailed, Entry, TurnLogged, TurnOver
from eukhe.actors.turn_agent import NOWHERE, REPORT, agent_over
from eukhe.actors.turn_call import Asked
from eukhe.actors.turn_desk import Desk, Effects, edge, flat
from eukhe.actors.turn_speaker import Speaker
from eukhe.actors.turn_view import Viewed, Viewing
from eukhe.limits import MILLISECONDS
from eukhe.model.gate import prefix_of
from eukhe.model.request import turn_talk
from eukhe.model.turn import Conversation, Over, Words

ROLE: Final = "turn"


class Main:
    """`over`: what follows from its end, with the words that came too late for it."""

    agent = ""

    def __init__(
        self,
        desk: Desk,
        words: list[Words],
        state: str,
        over: Callable[[list[Words]], Effects],
        begin_agent: Callable[[str, str, Viewed], Effects],
    ) -> None:
        self._desk = desk
        self._words = words  # until they open the conversation, or after it has ended
        self._reports = [word.text for word in words if word.kind == REPORT]  # of subagents, not logged yet
        self._over = over
        self._begin_agent = begin_agent
        self._viewing: Viewing | None = Viewing(desk, state, self._go_on, self._give_up)
        self._viewed: Viewed | None = None
        self._speaker: Speaker | None = None
        self._ids: list[int] = []

    def begin(self) -> Effects:
        assert self._viewing is not None
        return self._viewing.begin()

    def hear(self, words: Words) -> None:
        """Something is said meanwhile."""
        if words.kind == REPORT:
            self._reports.append(words.text)
        if self._speaker is None or self._speaker.conversation.is_over:
            self._words.append(words)
        else:
            self._speaker.hear(words)

    def stop(self) -> Effects:
        viewing, self._viewing = self._viewing, None
        quiet = viewing.stop() if viewing is not None else []
        speaker = self._speaker or self._open()
        return [*quiet, *speaker.stop()]

    def lose(self, why: str) -> Effects:
        viewing, self._viewing = self._viewing, None
        quiet = viewing.stop() if viewing is not None else []
        speaker = self._speaker or self._open()
        return [*quiet, *speaker.lose(why)]

    # --- from the view to the conversation ---

    def _go_on(self, viewed: Viewed) -> Effects:
        self._viewing, self._viewed = None, viewed
        return self._open().begin()

    def _give_up(self, why: str) -> Effects:
        self._viewing = None
        return self._open().give_up(why)

    def _open(self) -> Speaker:
        """All that was said until now opens the conversation."""
        texts = self._desk.texts
        tools = [tool.name for tool in texts.tools] if texts is not None else []
        first, *others = self._words
        self._words = []
        conversation = Conversation(first, tools)
        for words in others:
            conversation.hear(words)
        self._speaker = Speaker(self._desk, conversation, self)
        return self._speaker

    # --- what the conversation wants ---

    @property
    def t(self) -> int:
        assert self._viewed is not None
        return self._viewed.taken.t

    def asked(self, conversation: Conversation, previous_end: int | None) -> Asked:
        texts, viewed, mind = self._desk.texts, self._viewed, self._desk.mind
        assert texts is not None
        assert viewed is not None
        talk = turn_talk(texts, viewed.pinned, conversation.opening, conversation.speeches, mind.effort, previous_end)
        prefix = prefix_of(mind.model, viewed.pinned.whole, mind.effort, texts)
        return Asked(talk, prefix, ROLE, viewed.taken.batch, previous_end is None)

    def log(
        self, entries: tuple[Entry, ...], logged: Callable[[], Effects], failed: Callable[[str], Effects]
    ) -> Effects:
        def answered(answer: AppendDone | AppendFailed) -> Effects:
            if isinstance(answer, AppendFailed):
                return failed(answer.why)
            return flat(self._note(entries, answer), logged())

        _, append = self._desk.order(lambda me, ticket: Append(entries, me, ticket), answered)
        return [append]

    def _note(self, entries: tuple[Entry, ...], done: AppendDone) -> Effects:
        """Where they were logged."""
        effects: Effects = []
        for entry, at in zip(entries, done.entries, strict=True):
            self._ids += range(at.first, at.first + at.count)
            effects.append(edge(TurnLogged(entry.kind, at.first, at.count)))
            if entry.kind == REPORT:
                self._reports.remove(entry.text)
                effects.append(edge(agent_over(entry.text, at.first)))
        return effects

    def begin_agent(self, name: str, task: str) -> Effects:
        assert self._viewed is not None
        return self._begin_agent(name, task, self._viewed)

    def over(self, over: Over) -> Effects:
        assert self._speaker is not None
        viewed, usage = self._viewed, self._speaker.usage
        model = self._desk.mind.model
        ended = TurnOver(
            over.reply,
            tuple(self._ids),
            model,
            usage,
            self._desk.usd(model, usage),
            round(viewed.waited_s * MILLISECONDS) if viewed is not None else 0,
            len(viewed.taken.unbuilt) if viewed is not None else 0,
            over.stopped,
            over.why,
        )
        return flat(self._lost_reports(), edge(ended), self._over(self._words))

    def _lost_reports(self) -> Effects:
        """The edge waits for its subagents: of a report that could not be logged it is told, too."""
        late = [words.text for words in self._words]
        return [edge(agent_over(report, NOWHERE)) for report in self._reports if report not in late]
