"""What a call sends, and where its cache marks stand. Pure: no clock, disk or threads.

    tools, system | view in blocks of 4 lines | task                                          a compaction
    tools, system | view in blocks of 4 lines | state, `Turn:` sentence, message | steps …     a turn
    tools, system | view in blocks of 4 lines | state, task | steps …                          a subagent

A provider keeps what stands up to a mark, and finds it again by looking back from a later mark, so many positions and
no more. A request has four marks at most:

1. its end; of a compaction only once a follow-up is sent, since nobody else goes on from there;
2. the view's last whole block; in a deadline view the last one before the first unbuilt line, whose text will change;
3. the block of the view that the request before had marked, where it is out of sight of (2);
4. the end of the turn's request before, where it is out of sight of (1); else the end of the system prompt.

Rules 26 to 29, 32 to 34, 41, 49 to 51, 57, D11.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

import msgspec

from eukhe.limits import BLOCK_LINES, CACHE_LOOK_BACK_POSITIONS, LINE_TOKENS_MAX, TURN_TOKENS_MAX
from eukhe.model.part import Part
from eukhe.model.prompt import Texts, merge_task, message_task, too_long_task
from eukhe.model.render import blocks, line
from eukhe.model.talk import Block, Effort, Image, Result, Speech, Talk, Text, Thought, Use

B = TypeVar("B", bound=Block)


class Pinned(msgspec.Struct, frozen=True):
    """A turn's view as every request of it sends it. `view`: its blocks, marked; `state`: what is so now. Rules 49, 51.

    `whole`: the lines up to the view's mark, which with the texts make the prefix that the gate knows.
    """

    view: tuple[Text, ...]
    whole: tuple[Part, ...]
    state: str


def pin(
    lines: Sequence[Part], texts: Sequence[str], unbuilt: Collection[Part], marked: int = 0, state: str = ""
) -> Pinned:
    """Pins a view. `texts`: of its lines; `unbuilt`: those that show their message, cut.

    `marked`: behind so many of the lines stood the mark of the view before, 0 where that is not the same up to there.
    """
    built = next((at for at, part in enumerate(lines) if part in unbuilt), len(lines))
    return Pinned(_view(zip(lines, texts, strict=True), built, marked), whole_lines(lines[:built]), state)


def whole_lines(lines: Sequence[Part]) -> tuple[Part, ...]:
    """The lines of whole blocks."""
    return tuple(lines[: len(lines) - len(lines) % BLOCK_LINES])


def line_talk(
    texts: Texts,
    context: Sequence[tuple[Part, str]],
    part: Part,
    sources: Sequence[str],
    replies: Sequence[str],
    effort: Effort,
    marked: int = 0,
) -> Talk:
    """A call for a line. `context`: the lines that it sees, with their texts; `sources`: what is compressed.

    `replies`: earlier ones of the same conversation, too long. `marked`: see `pin`, of the call before.
    """
    task = message_task(texts, part, sources[0]) if part.level == 0 else merge_task(texts, part, _two(sources))
    speeches = [Speech("user", (*_view(context, len(context), marked), Text(task)))]
    for number, reply in enumerate(replies, start=1):
        follow_up = Text(too_long_task(texts, reply), mark=number == len(replies))
        speeches += [Speech("assistant", (Text(reply),)), Speech("user", (follow_up,))]
    return Talk(texts.system, texts.tools, tuple(speeches), effort, LINE_TOKENS_MAX, marked=True)


def turn_talk(
    texts: Texts,
    pinned: Pinned,
    message: Sequence[Block],
    steps: Sequence[Speech],
    effort: Effort,
    previous_end: int | None = None,
) -> Talk:
    """A request of a turn. `message`: the user's words and images; `steps`: what was said and done since.

    `previous_end`: `end_of` the turn's request before, None for the first one.
    """
    return _going_on(texts, pinned, (Text(texts.turn), *message), steps, effort, previous_end)


def agent_talk(
    texts: Texts,
    pinned: Pinned,
    task: str,
    steps: Sequence[Speech],
    effort: Effort,
    previous_end: int | None = None,
) -> Talk:
    """A request of a subagent: its master's view, then its task, without the `Turn:` sentence. Rule 57."""
    return _going_on(texts, pinned, (Text(task),), steps, effort, previous_end)


def end_of(talk: Talk) -> int:
    """How many blocks its speeches have: where the next request of the same turn finds its end."""
    return sum(len(speech.blocks) for speech in talk.speeches)


def blocks_to_mark(talk: Talk) -> int:
    """How many positions a request has up to its last mark: its tools, its system prompt, its speeches' blocks."""
    row = [block for speech in talk.speeches for block in speech.blocks]
    marked = max((at for at, block in enumerate(row, start=1) if _has_mark(block)), default=0)
    return len(talk.tools) + 1 + positions(row[:marked])


def positions(row: Sequence[Block]) -> int:
    """How far back the first of these blocks is from the last, as a provider looks: in positions, its own included.

    Tools' uses in a row are one position together, and so are their results.
    """
    runs = (type(block) is type(before) for before, block in pairwise(row) if _runs(block))
    return len(row) - sum(runs)


def _out_of_sight(row: Sequence[Block]) -> bool:
    """Whether the first of these blocks is not found from a mark at the last."""
    return positions(row) > CACHE_LOOK_BACK_POSITIONS


def _view(lines: Iterable[tuple[Part, str]], built: int, marked: int) -> tuple[Text, ...]:
    """The view's blocks, with marks 2 and 3. `built`: so many lines stand before the first unbuilt one."""
    view = [Text(block) for block in blocks([line(part, text) for part, text in lines])]
    last, before = built // BLOCK_LINES - 1, marked // BLOCK_LINES - 1
    if last >= 0:
        view[last] = _marked(view[last])
    if 0 <= before < last and _out_of_sight(view[before : last + 1]):
        view[before] = _marked(view[before])
    return tuple(view)


def _going_on(
    texts: Texts,
    pinned: Pinned,
    asked: Sequence[Block],
    steps: Sequence[Speech],
    effort: Effort,
    previous_end: int | None,
) -> Talk:
    """A conversation that goes on from a pinned view, with marks 1 and 4."""
    first = Speech("user", (*pinned.view, Text(pinned.state), *asked))
    speeches = [Speech(speech.role, tuple(filter(_says, speech.blocks))) for speech in (first, *steps)]
    assert speeches[-1].role == "user", "a request ends with what the user says"
    row = [block for speech in speeches for block in speech.blocks]
    marks = {len(row) - 1}
    if previous_end is not None and _out_of_sight(row[previous_end - 1 :]):
        marks.add(previous_end - 1)
    return Talk(
        texts.system, texts.tools, _with_marks(speeches, marks), effort, TURN_TOKENS_MAX, marked=len(marks) == 1
    )


def _with_marks(speeches: Iterable[Speech], marks: Collection[int]) -> tuple[Speech, ...]:
    """The speeches with marks at these blocks, counted through all of them, besides those that they have."""
    made, begin = [], 0
    for speech in speeches:
        row = [_marked(block) if at in marks else block for at, block in enumerate(speech.blocks, start=begin)]
        made.append(Speech(speech.role, tuple(row)))
        begin += len(row)
    return tuple(made)


def _marked(block: B) -> B:
    assert isinstance(block, Text | Image | Result), f"a mark can't stand at {type(block).__name__}"
    return msgspec.structs.replace(block, mark=True)


def _has_mark(block: Block) -> bool:
    return not isinstance(block, Thought | Use) and block.mark


def _says(block: Block) -> bool:
    """Providers refuse a text that is empty, or blank."""
    return not isinstance(block, Text) or bool(block.text.strip())


def _runs(block: Block) -> bool:
    return isinstance(block, Use | Result)


def _two(sources: Sequence[str]) -> tuple[str, str]:
    left, right = sources
    return left, right
