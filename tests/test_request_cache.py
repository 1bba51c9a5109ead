"""What one request had marked the next one begins with, and finds in the provider's cache. Rules 28, 29, 31, 33.

Chats are drawn: messages in bursts, lines written late or not at all, batches, turns of some steps, compactions with
follow-ups. Every request goes to the model of a provider's cache, which looks back 20 positions and not one more.
"""

from collections.abc import Sequence
from itertools import takewhile

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.part import Part
from eukhe.model.prompt import texts
from eukhe.model.request import agent_talk, end_of, line_talk, pin, turn_talk, whole_lines
from eukhe.model.talk import Block, Result, Speech, Talk, Text, Thought, Use
from eukhe.sim.prompt_cache import Block as Cached
from eukhe.sim.prompt_cache import Kind, PromptCache

OURS = texts()
MODEL = "claude-haiku-4-5"
TOKENS = 5_000  # of a block: more than any model's minimum
KINDS: dict[type[Block], Kind] = {Thought: "thought", Use: "use", Result: "result"}
LIMITS = ChatLimits(ceiling=6_000, floor=3_000, compaction_ceiling=1_500, compaction_floor=750)
SIZES = (30, 30, 30, 600)  # of messages: some need a call


def row(talk: Talk) -> list[Cached]:
    """A request as a provider's cache has it."""
    found = [Cached(msgspec.json.encode(tool), TOKENS) for tool in talk.tools]
    found.append(Cached(talk.system.encode(), TOKENS, talk.marked))
    for speech in talk.speeches:
        for block in speech.blocks:
            mark = getattr(block, "mark", False)
            bare = msgspec.structs.replace(block, mark=False) if mark else block
            data = speech.role.encode() + msgspec.json.encode(bare)
            found.append(Cached(data, TOKENS, mark, KINDS.get(type(block), "text")))
    return found


def marks(blocks: Sequence[Cached]) -> list[int]:
    return [at for at, block in enumerate(blocks) if block.mark]


def bytes_to(blocks: Sequence[Cached], mark: int) -> list[bytes]:
    """All that a request sends up to a block, with it."""
    return [block.data for block in blocks[: mark + 1]]


def text_of(part: Part) -> str:
    return f"user: what {part.name} says"


class Provider:
    """Takes requests, and sees that each reads all that it can begin with."""

    def __init__(self) -> None:
        self.cache = PromptCache()
        self.sent: list[list[Cached]] = []
        self.read = self.known = 0

    def send(self, talk: Talk, expected: int | None, *, before: list[Cached] | None) -> list[Cached]:
        """`expected`: so many blocks are read at least, None for no matter; `before`: the request before."""
        blocks = row(talk)
        assert len(marks(blocks)) <= 4
        for mark in marks(before or []):
            assert bytes_to(before or [], mark) == bytes_to(blocks, mark)
        call = self.cache.call(MODEL, blocks, 0)
        self.cache.begin(call)
        self.read += call.usage.cache_read
        self.known += TOKENS * max((_common(blocks, other) for other in self.sent[-4:]), default=0)
        self.sent.append(blocks)
        if expected is not None:
            assert call.usage.cache_read >= expected * TOKENS
        return blocks


class Talker:
    """A chat, and what it sends."""

    def __init__(self) -> None:
        self.chat = Chat(LIMITS)
        self.provider = Provider()
        self.turn_lines: tuple[Part, ...] = ()  # up to the mark of the view handed out before
        self.line_lines: tuple[Part, ...] = ()  # up to the mark of the last call for a line
        self.system_sent = False

    def log(self, count: int, size: int) -> None:
        for _ in range(count):
            self.chat.logged(size)

    def build(self, count: int) -> None:
        """Calls that go well, each with a follow-up."""
        for part in self.chat.queue()[:count]:
            self.chat.start(part)
            self.compact(part)
            self.chat.built(part, 40)
            self.chat.free_above(part)

    def compact(self, part: Part) -> None:
        context = self.chat.context(part)
        whole = whole_lines(context)
        same = self.line_lines if tuple(context[: len(self.line_lines)]) == self.line_lines else ()
        sources = ("word " * 200,) if part.level == 0 else ("left " * 100, "right " * 100)
        seen = [(line, text_of(line)) for line in context]
        before = None
        expected = self.expected(len(same))
        for replies in ((), ("x" * 700,), ("x" * 700, "y" * 600)):
            talk = line_talk(OURS, seen, part, sources, replies, "low", len(same))
            before = self.provider.send(talk, expected, before=before)
            expected = len(before) if replies else max(marks(before)) + 1
        self.line_lines = whole

    def expected(self, lines: int) -> int | None:
        """Blocks that were written before: the view up to these lines, else the system prompt."""
        seen, self.system_sent = self.system_sent, True
        return len(OURS.tools) + 1 + lines // 4 if seen else None

    def turn(self, steps: Sequence[int], *, agent: bool = False) -> None:
        """`steps`: how many tools each uses, with as many results; negative: so many texts of the user's instead."""
        self.chat.take()
        view = self.chat.view
        lines, unbuilt = view.parts(), [Part(view.lines[at], at >> view.lines[at]) for at in view.unbuilt]
        same = self.turn_lines if tuple(lines[: len(self.turn_lines)]) == self.turn_lines else ()
        pinned = pin(lines, [text_of(line) for line in lines], unbuilt, len(same), f"Now: message {self.chat.t}")
        assert len(pinned.whole) >= len(same)
        speeches: list[Speech] = []
        before, end, expected = None, None, self.expected(len(same))
        for number, uses in enumerate([0, *steps]):
            speeches += _step(number, uses)
            if agent:
                talk = agent_talk(OURS, pinned, "do it", speeches, "high", end)
            else:
                talk = turn_talk(OURS, pinned, (Text("the user says"),), speeches, "high", end)
            before = self.provider.send(talk, expected, before=before)
            end, expected = end_of(talk), len(before)
        self.turn_lines = pinned.whole


def _common(blocks: Sequence[Cached], other: Sequence[Cached]) -> int:
    """With how many blocks two requests begin alike."""
    pairs = zip(blocks, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].data == pair[1].data, pairs))


def _step(number: int, uses: int) -> list[Speech]:
    if number == 0:
        return []
    if uses < 0:
        return [
            Speech("assistant", (Thought("anthropic", "{}"), Text("done"))),
            Speech("user", tuple(Text(f"and {number} {k}") for k in range(-uses))),
        ]
    names = [f"{number}-{k}" for k in range(max(1, uses))]
    return [
        Speech("assistant", (Text("I look."), *(Use(name, "bash", "{}") for name in names))),
        Speech("user", tuple(Result(name, (Text("done"),)) for name in names)),
    ]


EVENTS = st.one_of(
    st.tuples(st.just("log"), st.integers(1, 120), st.sampled_from(SIZES)),
    st.tuples(st.just("build"), st.integers(1, 8)),
    st.tuples(st.just("turn"), st.lists(st.integers(-25, 25), max_size=4), st.booleans()),
)


def happen(talker: Talker, events: Sequence[tuple]) -> None:  # type: ignore[type-arg]
    for name, *about in events:
        match name:
            case "log":
                talker.log(*about)
            case "build":
                talker.build(*about)
            case "turn":
                talker.turn(about[0], agent=about[1])


@pytest.mark.rule("28", "29", "33")
@given(st.lists(EVENTS, max_size=12))
def test_every_request_begins_with_what_was_marked_before_and_reads_it(events: list[tuple]) -> None:  # type: ignore[type-arg]
    happen(Talker(), events)


@pytest.mark.rule("28", "29")
@pytest.mark.parametrize("burst", [76, 80, 84, 120])
def test_a_burst_of_messages_between_two_turns_is_bridged_by_the_mark_before(burst: int) -> None:
    happen(Talker(), [("log", 40, 30), ("turn", [], False), ("log", burst, 30), ("turn", [], False)])


@pytest.mark.rule("28", "29")
@pytest.mark.parametrize("texts_between", [17, 18, 19, 20, 25])
def test_a_step_of_many_blocks_is_bridged_by_the_mark_at_the_request_before(texts_between: int) -> None:
    happen(Talker(), [("log", 40, 30), ("turn", [3, -texts_between, 2], False)])


@pytest.mark.rule("28", "29", "33")
def test_of_what_was_sent_before_nearly_all_is_read_and_without_marks_nothing() -> None:
    talker = Talker()
    for _ in range(100):
        talker.log(6, 30)
        talker.turn([1, 2, 1])
    assert 0.99 < talker.provider.read / talker.provider.known
    cache = PromptCache()
    for blocks in talker.provider.sent[-8:]:
        call = cache.call(MODEL, [msgspec.structs.replace(block, mark=False) for block in blocks], 0)
        cache.begin(call)
        assert 0 == call.usage.cache_read
