"""A conversation, led: what it wants logged is logged, then what it wants done is done, until it is over. Rule 48.

A turn's, or a subagent's: they differ in where they are logged and in how a request is made. What is asked of it
while a text is on its way to the disk, as to stop, waits until that has arrived.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from eukhe.actors.messages import Entry
from eukhe.actors.turn_call import Asked, Call
from eukhe.actors.turn_desk import Desk, Effects
from eukhe.actors.turn_tools import Tool
from eukhe.model.request import end_of
from eukhe.model.talk import NO_USAGE, Reply, Usage
from eukhe.model.turn import Act, Ask, Conversation, Over, Run, Step, Words


class Ground(Protocol):
    """Where a conversation takes place."""

    agent: str
    """The subagent's name, "" for none."""

    @property
    def t(self) -> int:
        """Of how many messages it has the view."""
        ...

    def asked(self, conversation: Conversation, previous_end: int | None) -> Asked:
        """Its next request."""
        ...

    def log(
        self, entries: tuple[Entry, ...], logged: Callable[[], Effects], failed: Callable[[str], Effects]
    ) -> Effects:
        """Logs what was said; then one of the two follows."""
        ...

    def over(self, over: Over) -> Effects:
        """What follows from its end."""
        ...

    def begin_agent(self, name: str, task: str) -> Effects:
        """Begins a subagent, that has this name now."""
        ...


class Speaker:
    """`usage`: of all its calls."""

    def __init__(self, desk: Desk, conversation: Conversation, ground: Ground) -> None:
        self.conversation = conversation
        self.is_over = False
        self._desk = desk
        self._ground = ground
        self._name = desk.name()
        self._entries = 0
        self._previous_end: int | None = None
        self._usage = NO_USAGE
        self._doing: Call | Tool | None = None
        self._is_logging = False
        self._stops = False

    @property
    def usage(self) -> Usage:
        running = self._doing.usage if isinstance(self._doing, Call) else NO_USAGE
        return self._usage + running

    def begin(self) -> Effects:
        return self._take(self.conversation.begin())

    def hear(self, words: Words) -> None:
        """Something is said to it meanwhile."""
        self.conversation.hear(words)

    def stop(self) -> Effects:
        """The user wants no more of it."""
        if self.is_over:
            return []
        self._stops = True
        return [] if self._is_logging else self._stop()

    def give_up(self, why: str) -> Effects:
        """It can't begin: what was said so far is kept."""
        return self._take(self.conversation.fail(why))

    def lose(self, why: str) -> Effects:
        """Nothing can be logged any more: it ends where it is."""
        if self.is_over:
            return []
        return [*self._leave()[0], *self._end(Over("", why))]

    # --- a step ---

    def _take(self, step: Step) -> Effects:
        if not step.logs:
            return self._do(step.then)
        self._is_logging = True
        return self._ground.log(self._as_entries(step.logs), lambda: self._logged(step.then), self._not_logged)

    def _as_entries(self, logs: Sequence[Words]) -> tuple[Entry, ...]:
        """With keys, so that what is sent again to another owner comes in once."""
        first, self._entries = self._entries, self._entries + len(logs)
        return tuple(
            Entry(kind, text, key=f"{self._name}.{first + k}", images=images)
            for k, (kind, text, images) in enumerate(logs)
        )

    def _logged(self, then: Act) -> Effects:
        self._is_logging = False
        if self.is_over:
            return []  # the owner was lost meanwhile
        if self._stops and not isinstance(then, Over):
            return self._stop()
        return self._do(then)

    def _not_logged(self, why: str) -> Effects:
        self._is_logging = False
        return [] if self.is_over else self._end(Over("", why))

    def _do(self, act: Act) -> Effects:
        match act:
            case Ask():
                return self._ask()
            case Run(use):
                tool = Tool(self._desk, use, self._ground.agent, self._ground.t, self._ran, self._ground.begin_agent)
                self._doing = tool
                return tool.begin()
            case Over():
                return self._end(act)

    def _end(self, over: Over) -> Effects:
        self.is_over = True
        return self._ground.over(over)

    # --- what it does ---

    def _ask(self) -> Effects:
        asked = self._ground.asked(self.conversation, self._previous_end)
        self._previous_end = end_of(asked.talk)
        call = Call(self._desk, asked, self._replied, self._failed)
        self._doing = call
        return call.begin()

    def _replied(self, reply: Reply) -> Effects:
        self._leave_call()
        return self._take(self.conversation.replied(reply))

    def _failed(self, why: str) -> Effects:
        said = self._leave_call()
        return self._take(self.conversation.fail(why, said))

    def _ran(self, text: str, images: tuple[bytes, ...], failed: bool) -> Effects:
        self._doing = None
        return self._take(self.conversation.ran(text, images, failed=failed))

    def _stop(self) -> Effects:
        effects, said = self._leave()
        return [*effects, *self._take(self.conversation.stop(said))]

    def _leave(self) -> tuple[Effects, str]:
        """Ends what runs; what the model had said of its reply."""
        doing = self._doing
        effects = doing.stop() if doing is not None else []
        if isinstance(doing, Call):
            return effects, self._leave_call()
        self._doing = None
        return effects, ""

    def _leave_call(self) -> str:
        call, self._doing = self._doing, None
        assert isinstance(call, Call)
        self._usage += call.usage
        return call.said
