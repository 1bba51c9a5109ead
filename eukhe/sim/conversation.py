"""What is said in one conversation of a client, a turn's or a subagent's, held against what is logged of it.

Three accounts are kept: what the model and the tools gave, as the turn heard it; what it sent to be logged; what a
request holds. They must agree, and a request is sent when all that it holds is on the disk.
"""

from collections.abc import Callable, Sequence
from typing import Final

from eukhe.actors.messages import Entry
from eukhe.actors.ports import TurnRequest
from eukhe.model.image import with_images
from eukhe.model.talk import Block, Reply, Result, Text, Use, text_of
from eukhe.model.text import clean, clip
from eukhe.sim.checks import CheckFailed
from eukhe.sim.models import THOUGHT

Logged = tuple[str, str]
"""A kind and a text; of what is said to the model the kind is `WORDS`."""
WORDS: Final = "words"
_NOTHING: Final = "(nothing was printed)"


class Conversation:
    """`agent`: the subagent's name, "" for the turn's own. `entries`: sent to be logged; `logged`: so many are.

    `is_cut`: it was stopped, or has failed. `is_lost`: something of it could not be logged. `gave`: what its newest
    tool gave, None where that is not known. `half`: how far the reply came that is being made.
    """

    def __init__(self, agent: str = "") -> None:
        self.agent = agent
        self.entries: list[Entry] = []
        self.logged = 0
        self.last_id = -1
        self.is_cut = self.is_lost = self.is_asking = False
        self.gave: str | None = None
        self.half = ""
        self._spoken: list[Logged] = []  # by the model, and not sent to be logged
        self._runs = False  # a tool's call was sent to be logged, and not its result

    @property
    def is_logged(self) -> bool:
        """All that was sent to be logged is."""
        return self.logged == len(self.entries)

    # --- what is heard ---

    def replied(self, reply: Reply) -> None:
        self.half, self.is_asking = "", False
        self._spoken += _spoken_in(reply.blocks if reply.stop != "refusal" else (Text(reply.text),))

    # --- what is sent to be logged ---

    def sends(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if THOUGHT in entry.text:
                raise CheckFailed("thoughts", "no thought", entry)
            self._sends(entry)
            self.entries.append(entry)

    def _sends(self, entry: Entry) -> None:
        if (entry.kind == "echo") != self._runs:
            raise CheckFailed("use-result", "after each call of a tool its result, and nowhere else", entry)
        if entry.kind == "echo":
            self._runs = False
            if self.gave is not None and entry.text != (right := clip(clean(self.gave)) or _NOTHING):
                raise CheckFailed("turn-log", right, entry.text)
            self.gave = None
        elif entry.kind in ("eukhe", "tool"):
            self._speaks((entry.kind, entry.text))
            self._runs = entry.kind == "tool"

    def _speaks(self, said: Logged) -> None:
        if self._spoken and self._spoken[0] == said:
            self._spoken.pop(0)
        elif self.is_cut and self.half and said == ("eukhe", marked(self.half)):
            self.half = ""
        else:
            raise CheckFailed("turn-log", self._spoken[:1] or "what the model said", said)

    # --- what is asked ---

    def asks(self, request: TurnRequest, opening: Sequence[Block], is_on_disk: Callable[[Entry], bool]) -> None:
        """`opening`: what is said to the model in the first speech, behind the view."""
        self.half, self.is_asking = "", True
        for number, entry in enumerate(self.entries):
            if number >= self.logged or not is_on_disk(entry):
                raise CheckFailed("request-logged", f"on the disk: {entry}", "a request that holds it")
        entries = [(WORDS if entry.kind in ("user", "work") else entry.kind, text(entry)) for entry in self.entries]
        if (told := _told(request, opening)) != entries:
            raise CheckFailed("turn-log", told, entries)

    def begins_tool(self, call: str, is_on_disk: Callable[[Entry], bool]) -> None:
        newest = self.entries[-1] if self.entries else None
        if newest is None or (newest.kind, newest.text) != ("tool", call):
            raise CheckFailed("tool-logged", call, newest)
        if not self.is_logged or not is_on_disk(newest):
            raise CheckFailed("tool-logged", f"on the disk: {newest}", "it runs already")

    # --- the end ---

    def ends(self) -> None:
        """Nothing of it is missing, as far as there was somebody to log it."""
        if self.is_lost:
            return
        if not self.is_logged or self._spoken:
            raise CheckFailed("turn-log", "all that was said is logged", (self._spoken, self.entries[self.logged :]))
        if self._runs:
            raise CheckFailed("use-result", "a result", f"none of {self.entries[-1]}")
        if self.is_cut and self.is_asking and self.half.strip():
            raise CheckFailed("stopped-marked", marked(self.half), [text(entry) for entry in self.entries])


def text(entry: Entry) -> str:
    """As the log has it, and a request."""
    whole, _ = with_images(clean(entry.text), entry.images)
    return whole


def marked(half: str) -> str:
    """A reply that was not finished."""
    return f"{clean(half).rstrip()} [stopped]"


def _spoken_in(blocks: Sequence[Block]) -> list[Logged]:
    """What the model says, as it is to be logged: texts joined up to the next call of a tool."""
    spoken: list[Logged] = []
    words = ""
    for block in blocks:
        if isinstance(block, Text):
            words += block.text
        elif isinstance(block, Use):
            spoken += [*_says(words), ("tool", f"{block.name} {block.input}")]
            words = ""
    return [*spoken, *_says(words)]


def _says(words: str) -> list[Logged]:
    return [("eukhe", clean(words))] if clean(words).strip() else []


def _told(request: TurnRequest, opening: Sequence[Block]) -> list[Logged]:
    """What a request holds behind its view, in the order in which it happened."""
    told: list[Logged] = _words(opening)
    left: list[Logged] = []
    for speech in request.talk.speeches[1:]:
        if speech.role == "assistant":
            left = _spoken_in(speech.blocks)
            continue
        results = [block for block in speech.blocks if isinstance(block, Result)]
        for said in left:
            told.append(said)
            if said[0] == "tool":
                told += [("echo", text_of(results.pop(0).content))] if results else [("echo", "there is no result")]
        told += _words(speech.blocks)
        left = []
    return [*told, *left]


def _words(blocks: Sequence[Block]) -> list[Logged]:
    return [(WORDS, block.text) for block in blocks if isinstance(block, Text)]
