"""A turn's conversation with a model, or a subagent's. Pure: no clock, disk or threads. Rules 46, 48, 50, 58.

It is told what happens, and answers with a `Step`: what is to be logged, and what is to be done once that is on disk.

    begin  -> Ask                  what opens it is logged, the first request is sent
    replied -> Run, Ask or Over    the tools that the reply wants run one after another, each logged before it runs
    ran    -> Run, Ask or Over     its result is logged; after the last one all go back in one speech
    stop, fail -> Over             what was said is kept, and no tool's call stays without a result

Words that come meanwhile, the user's or a subagent's report, wait in `pending`. They are logged when they go in: after
the results of a reply's tools, or where it wanted none, as the next request of the same conversation. So the log
has what was said in the order in which the model read it. Thoughts go back to the model that thought them, and are
never logged.
"""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from eukhe.limits import TURN_REQUESTS_MAX
from eukhe.model.image import image_type, with_images
from eukhe.model.talk import Block, Image, Reply, Result, Speech, Text, Use
from eukhe.model.text import clean, clip

STOPPED = "stopped"
_MARK = f" [{STOPPED}]"
_NOTHING = "(nothing was printed)"


class Words(NamedTuple):
    """What is said or done, as it is logged. `kind`: a message's. The images are their bytes."""

    kind: str
    text: str
    images: tuple[bytes, ...] = ()


class Ask(NamedTuple):
    """Send the next request."""


class Run(NamedTuple):
    """Run this tool; its input is a JSON object."""

    use: Use


class Over(NamedTuple):
    """It has ended, with the last that the model said. `why`: what it failed of, if it did."""

    reply: str
    why: str = ""
    stopped: bool = False


Act = Ask | Run | Over


class Step(NamedTuple):
    """Log this, in this order; when it is on disk, do that."""

    logs: tuple[Words, ...]
    then: Act


class Conversation:
    """`tools`: the names of those that there are; `refused`: of these, what to say of each that may not be used here.

    `opening`: the blocks of its first speech; `speeches`: all after that, as the next request has them. `is_over`: it
    hears nothing more.
    """

    def __init__(
        self,
        opening: Words,
        tools: Sequence[str],
        refused: dict[str, str] | None = None,
        *,
        asks: int = TURN_REQUESTS_MAX,
    ) -> None:
        self.opening: tuple[Block, ...] = ()
        self.speeches: list[Speech] = []
        self.pending = [opening]
        self.is_over = False
        self._tools = tuple(tools)
        self._refused = refused or {}
        self._asks, self._asks_left = asks, asks
        self._said = ""  # the text of the newest reply
        self._left: list[Block] = []  # of a reply, from its next block on
        self._running: Use | None = None
        self._results: list[Block] = []

    def begin(self) -> Step:
        """All that was said until now opens it."""
        return self._ask([])

    def hear(self, words: Words) -> None:
        """Something is said to the model meanwhile."""
        self.pending.append(words)

    def replied(self, reply: Reply) -> Step:
        """A request was answered."""
        assert not self._left, "a reply before the one before it was done"
        assert self._running is None, "a reply while a tool runs"
        self._said = clean(reply.text)
        spoken = tuple(block for block in reply.blocks if not _is_blank(block))
        if spoken:
            self.speeches.append(Speech("assistant", spoken))
        if reply.uses and reply.stop != "refusal":
            self._left = list(spoken)
            return self._go_on([])
        logs = _spoken(self._said)
        why = _trouble(reply)
        # Words that came while it said nothing may change that; a refusal they do not.
        if self.pending and reply.stop != "refusal":
            return self._ask(logs)
        return self._over(logs, Over(self._said, why))

    def ran(self, text: str, images: tuple[bytes, ...] = (), *, failed: bool = False) -> Step:
        """The tool that ran has ended, with this to tell the model."""
        return self._go_on([self._result(text, images, failed=failed)])

    def stop(self, said: str = "") -> Step:
        """The user wants no more. `said`: how far the reply came that is being made."""
        return self._end(said, Over(_marked(said) or self._said, stopped=True))

    def fail(self, why: str, said: str = "") -> Step:
        """It can't go on: a request was not answered, and will not be."""
        return self._end(said, Over(_marked(said) or self._said, why))

    # --- one block of a reply after the other ---

    def _go_on(self, logs: list[Words]) -> Step:
        """To the next tool, or where there is none left, to the next request."""
        while (use := self._next_use(logs)) is not None:
            if (why := self._unfit(use)) is None:
                return Step(tuple(logs), Run(use))
            logs.append(self._result(why, failed=True))
        return self._ask(logs)

    def _next_use(self, logs: list[Words]) -> Use | None:
        """Logs a reply up to its next tool's call, and that, which now runs."""
        text = ""
        while self._left and self._running is None:
            block = self._left.pop(0)
            if isinstance(block, Text):
                text += block.text
            elif isinstance(block, Use):
                self._running = block
        logs += _spoken(clean(text))
        if self._running is not None:
            logs.append(Words("tool", f"{self._running.name} {self._running.input}"))
        return self._running

    def _unfit(self, use: Use) -> str | None:
        """Why a tool can't run, None where it can."""
        if use.name not in self._tools:
            return f"There is no tool {use.name}. There are: {', '.join(self._tools)}."
        if use.name in self._refused:
            return self._refused[use.name]
        try:
            is_object = isinstance(orjson.loads(use.input), dict)
        except orjson.JSONDecodeError:
            return f"The input of {use.name} is no JSON."
        return None if is_object else f"The input of {use.name} is no JSON object."

    def _result(self, text: str, images: tuple[bytes, ...] = (), *, failed: bool = False) -> Words:
        """Notes what the running tool gave, for the model; gives it for the log."""
        assert self._running is not None, "no tool runs"
        words = Words("echo", clip(clean(text)) or ("" if images else _NOTHING), images)
        self._results.append(Result(self._running.id, _blocks(words), failed))
        self._running = None
        return words

    # --- requests, and the end ---

    def _ask(self, logs: list[Words]) -> Step:
        """The next request, with the results of the tools and then the words that came meanwhile."""
        words, self.pending = self.pending, []
        self._add([*self._results, *(block for said in words for block in _blocks(said))])
        self._results = []
        logs = [*logs, *words]
        if self._asks_left == 0:
            self.is_over = True
            why = f"the turn was ended after {self._asks} requests; say what is still to be done, to go on"
            return Step(tuple(logs), Over(self._said, why))
        self._asks_left -= 1
        return Step(tuple(logs), Ask())

    def _add(self, blocks: list[Block]) -> None:
        """To what the user's side said last, where the model said nothing since."""
        if not self.speeches:
            self.opening += tuple(blocks)
        elif self.speeches[-1].role == "user":
            self.speeches[-1] = Speech("user", (*self.speeches[-1].blocks, *blocks))
        else:
            self.speeches.append(Speech("user", tuple(blocks)))

    def _end(self, said: str, over: Over) -> Step:
        """Every call of a tool gets its result, also those that did not come to run."""
        logs = _spoken(_marked(said))
        if self._running is not None:
            logs.append(self._result(STOPPED, failed=True))
        while self._next_use(logs) is not None:
            logs.append(self._result(f"{STOPPED} before it began", failed=True))
        return self._over(logs, over)

    def _over(self, logs: list[Words], over: Over) -> Step:
        self.is_over = True
        words, self.pending = self.pending, []
        return Step((*logs, *words), over)


def _trouble(reply: Reply) -> str:
    """What is wrong with a reply that wants no tool; empty where nothing is."""
    if reply.stop == "refusal":
        return "the provider refused to answer this"
    if reply.stop == "length":
        return "the reply was cut: the model had no tokens left"
    return "" if reply.text.strip() else "the model said nothing"


def _spoken(text: str) -> list[Words]:
    return [Words("eukhe", text)] if text.strip() else []


def _marked(said: str) -> str:
    """The text of a reply that was not finished; empty where there is none."""
    said = clean(said).rstrip()
    return said + _MARK if said else ""


def _is_blank(block: Block) -> bool:
    """A text that no provider takes back."""
    return isinstance(block, Text) and not block.text.strip()


def _blocks(words: Words) -> tuple[Text | Image, ...]:
    """What is said as a model gets it: the text as it will be logged, then the images that it names."""
    text, files = with_images(clean(words.text), words.images)
    pictures = [Image(f"image/{image_type(data)}", data) for data in files.values()]
    return (*([Text(text)] if text.strip() else []), *pictures)
