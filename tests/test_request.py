"""What a compaction, a turn and a subagent send, and where their marks stand. Rules 26 to 34, 49 to 51, 57, D11."""

from collections.abc import Sequence

import pytest

from eukhe.limits import CACHE_LOOK_BACK_POSITIONS, CACHE_MARKS_MAX
from eukhe.model.part import Part
from eukhe.model.prompt import merge_task, message_task, texts, too_long_task
from eukhe.model.request import Pinned, agent_talk, blocks_to_mark, end_of, line_talk, pin, positions, turn_talk
from eukhe.model.talk import Block, Image, Result, Speech, Talk, Text, Thought, Use

OURS = texts()
WORDS = (Text("hello"),)
LOOK_BACK = CACHE_LOOK_BACK_POSITIONS


def lines(count: int) -> list[tuple[Part, str]]:
    return [(Part(0, i), f"user: {i}") for i in range(count)]


def first_blocks(talk: Talk) -> list[str]:
    return [block.text for block in talk.speeches[0].blocks if isinstance(block, Text)]


def marks(talk: Talk) -> list[int]:
    """The blocks with marks, counted through all speeches; -1 for the system prompt's end."""
    row = [block for speech in talk.speeches for block in speech.blocks]
    marked = [at for at, block in enumerate(row) if not isinstance(block, Thought | Use) and block.mark]
    found = [*([-1] if talk.marked else []), *marked]
    assert len(found) <= CACHE_MARKS_MAX
    return found


def compaction(count: int, marked: int = 0, replies: Sequence[str] = ()) -> Talk:
    return line_talk(OURS, lines(count), Part(0, count), ("user: new",), replies, "low", marked)


def pinned(count: int, *, unbuilt: Sequence[int] = (), marked: int = 0, state: str = "Now: today") -> Pinned:
    parts = [part for part, _ in lines(count)]
    return pin(parts, [text for _, text in lines(count)], [Part(0, i) for i in unbuilt], marked, state)


def step(number: int, results: int = 1) -> list[Speech]:
    """The model uses tools, and gets their results."""
    names = [f"{number}-{k}" for k in range(results)]
    return [
        Speech("assistant", (Text("I look."), *(Use(name, "bash", "{}") for name in names))),
        Speech("user", tuple(Result(name, (Text("done"),)) for name in names)),
    ]


def steps(count: int) -> list[Speech]:
    return [speech for number in range(count) for speech in step(number)]


# --- a compaction ---


@pytest.mark.rule("26", "27", "32")
def test_a_compaction_sends_the_turns_system_prompt_and_tools_its_view_and_its_task() -> None:
    talk = compaction(5)
    assert (OURS.system, OURS.tools, "low", True) == (talk.system, talk.tools, talk.effort, talk.marked)
    view = "<chat>\n0+1|user: 0\n1+1|user: 1\n2+1|user: 2\n3+1|user: 3\n"
    assert [view, "4+1|user: 4\n</chat>", message_task(OURS, Part(0, 5), "user: new")] == first_blocks(talk)
    assert ["user"] == [speech.role for speech in talk.speeches]


@pytest.mark.rule("32", "35")
def test_a_merges_compaction_has_both_lines_in_its_task() -> None:
    talk = line_talk(OURS, lines(4), Part(1, 1), ("a", "b"), (), "off")
    assert merge_task(OURS, Part(1, 1), ("a", "b")) == first_blocks(talk)[-1]


@pytest.mark.rule("29")
@pytest.mark.parametrize(("count", "expected"), [(0, [-1]), (3, [-1]), (4, [-1, 0]), (7, [-1, 0]), (8, [-1, 1])])
def test_the_views_mark_stands_at_its_last_whole_block(count: int, expected: list[int]) -> None:
    assert expected == marks(compaction(count))


@pytest.mark.rule("29", "36")
def test_a_follow_up_goes_on_in_the_same_conversation_and_only_then_the_end_has_a_mark() -> None:
    replies = ("x" * 600, "y" * 550)
    talk = compaction(8, replies=replies)
    assert ["user", "assistant", "user", "assistant", "user"] == [speech.role for speech in talk.speeches]
    said = [block for speech in talk.speeches[1:] for block in speech.blocks]
    assert [
        Text(replies[0]),
        Text(too_long_task(OURS, replies[0])),
        Text(replies[1]),
        Text(too_long_task(OURS, replies[1]), mark=True),
    ] == said
    assert [-1, 1, 7] == marks(talk)


@pytest.mark.parametrize(
    ("blocks_before", "expected"),
    [
        (LOOK_BACK - 1, [-1, 39]),
        (LOOK_BACK, [-1, 39 - LOOK_BACK, 39]),
        (30, [-1, 9, 39]),
    ],
)
@pytest.mark.rule("29")
def test_the_mark_of_the_call_before_stands_where_it_is_out_of_sight(blocks_before: int, expected: list[int]) -> None:
    assert expected == marks(compaction(160, marked=4 * (40 - blocks_before)))


@pytest.mark.parametrize("marked", [0, 160, 164])
def test_no_mark_stands_for_a_view_that_began_anew_or_for_lines_that_are_not_sent(marked: int) -> None:
    assert [-1, 39] == marks(compaction(160, marked=marked))


# --- a turn ---


@pytest.mark.rule("26", "49", "51", "D11")
def test_a_turn_sends_its_view_what_is_so_now_the_turns_sentence_and_the_users_words() -> None:
    talk = turn_talk(OURS, pinned(5), WORDS, (), "high")
    assert ["Now: today", OURS.turn, "hello"] == first_blocks(talk)[2:]
    assert first_blocks(compaction(5))[:2] == first_blocks(talk)[:2]
    assert (OURS.system, OURS.tools, "high") == (talk.system, talk.tools, talk.effort)


@pytest.mark.rule("57")
def test_a_subagent_sends_its_masters_view_then_its_task_without_the_turns_sentence() -> None:
    talk = agent_talk(OURS, pinned(5), "count the files", (), "high")
    assert ["Now: today", "count the files"] == first_blocks(talk)[2:]
    assert turn_talk(OURS, pinned(5), WORDS, (), "high").speeches[0].blocks[:3] == talk.speeches[0].blocks[:3]
    assert [-1, 0, 3] == marks(talk)


@pytest.mark.rule("29")
def test_a_turns_first_request_has_marks_at_the_system_prompts_end_the_views_last_whole_block_and_its_own() -> None:
    assert [-1, 1, 5] == marks(turn_talk(OURS, pinned(9), WORDS, (), "high"))
    assert [-1, 3] == marks(turn_talk(OURS, pinned(3), WORDS, (), "high"))


@pytest.mark.rule("29", "D10")
@pytest.mark.parametrize(("unbuilt", "expected"), [(9, [1]), (8, [1]), (7, [0]), (3, []), (0, [])])
def test_in_a_deadline_view_it_is_the_last_block_before_the_first_unbuilt_line(
    unbuilt: int, expected: list[int]
) -> None:
    view = pinned(12, unbuilt=[unbuilt, 11])
    assert expected == marks(turn_talk(OURS, view, WORDS, (), "high"))[1:-1]
    assert len(view.whole) == 4 * (expected[-1] + 1 if expected else 0)


@pytest.mark.rule("29")
def test_a_turn_also_marks_the_block_that_the_view_before_had_marked_where_it_is_out_of_sight() -> None:
    view = pinned(160, marked=40)
    assert [-1, 9, 39, 43] == marks(turn_talk(OURS, view, WORDS, (), "high"))
    assert [39] == marks(turn_talk(OURS, pinned(160, marked=160 - 4 * (LOOK_BACK - 1)), WORDS, (), "high"))[1:-1]


@pytest.mark.rule("29", "50")
def test_the_request_before_is_marked_in_place_of_the_system_prompt_where_it_is_out_of_sight() -> None:
    view = pinned(160, marked=40)
    before = turn_talk(OURS, view, WORDS, (), "high")
    end = end_of(before)
    near = turn_talk(OURS, view, WORDS, steps(6), "high", end)
    far = turn_talk(OURS, view, WORDS, steps(7), "high", end)
    assert [-1, 9, 39, 43 + 18] == marks(near)
    assert [9, 39, 43, 43 + 21] == marks(far)


def test_a_request_that_is_sent_again_with_a_word_more_is_found_at_its_old_end() -> None:
    view = pinned(8)
    steered = [*step(0)[:1], Speech("user", (*step(0)[1].blocks, *(Text(f"and {k}") for k in range(LOOK_BACK))))]
    end = end_of(turn_talk(OURS, view, WORDS, step(0), "high"))
    assert [1, end - 1, end - 1 + LOOK_BACK] == marks(turn_talk(OURS, view, WORDS, steered, "high", end))


def test_results_and_images_can_have_the_mark_of_the_end() -> None:
    assert (
        marks(turn_talk(OURS, pinned(4), WORDS, step(0, results=3), "high"))[-1]
        == end_of(turn_talk(OURS, pinned(4), WORDS, step(0, results=3), "high")) - 1
    )
    image = Image("image/png", b"png")
    talk = turn_talk(OURS, pinned(4), (*WORDS, image), (), "high")
    assert Image("image/png", b"png", mark=True) == talk.speeches[0].blocks[-1]


def test_a_request_ends_with_what_the_user_says() -> None:
    with pytest.raises(AssertionError, match="what the user says"):
        turn_talk(OURS, pinned(4), WORDS, step(0)[:1], "high")


def test_blank_texts_are_left_out_since_providers_refuse_them() -> None:
    said = [Speech("assistant", (Text(" \n"), Use("a", "bash", "{}"))), step(0)[1]]
    talk = turn_talk(OURS, pinned(4, state=""), (Text(""), Image("image/png", b"png")), said, "high")
    assert [OURS.turn] == first_blocks(talk)[2:]
    assert (Use("a", "bash", "{}"),) == talk.speeches[1].blocks
    assert all(block.text.strip() for speech in talk.speeches for block in speech.blocks if isinstance(block, Text))


# --- how far back ---


@pytest.mark.parametrize(
    ("row", "count"),
    [
        ([], 0),
        ([Text("a"), Text("b")], 2),
        ([Text("a"), Use("1", "x", ""), Use("2", "x", ""), Result("1", ()), Result("2", ()), Text("b")], 4),
        ([Use("1", "x", ""), Text("a"), Use("2", "x", "")], 3),
        ([Result("1", ()), Result("2", ())], 1),
    ],
)
def test_tools_uses_in_a_row_are_one_position_and_so_are_results(row: list[Block], count: int) -> None:
    assert count == positions(row)


def test_blocks_are_counted_from_the_tools_on_up_to_the_last_mark() -> None:
    before = len(OURS.tools) + 1
    assert before + 2 == blocks_to_mark(compaction(8))
    assert before == blocks_to_mark(compaction(3))
    assert before + 6 == blocks_to_mark(turn_talk(OURS, pinned(9), WORDS, (), "high"))
