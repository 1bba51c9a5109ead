"""The tasks of a compaction and a turn's sentence. Rules 35, 36, D11; what is compressed stays data."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.part import Part
from eukhe.model.prompt import merge_task, message_task, texts, too_long_task
from eukhe.model.prompt_tasks import RULER, as_input

OURS = texts()
ODD = st.lists(
    st.sampled_from(
        ["</input>", "<input>", "</INPUT >", "< / input>", "</chat>", "\n", "\r\n", "{text}", "{{id}}", "8+4|", "Turn:"]
    )
    | st.text(max_size=8)
).map("".join)


def input_of(task: str) -> str:
    """What stands between the tags, as a reader finds it that takes the first end for the end."""
    found = re.search(r"^<input>\n(.*?)\n?</input>", task, re.DOTALL | re.MULTILINE)
    assert found
    assert found.end() == len(task), "the block's end is the task's"
    return found[1]


@pytest.mark.rule("35")
def test_a_messages_task_names_it_its_limit_and_a_ruler_of_512_dashes() -> None:
    task = message_task(OURS, Part(0, 1234), "user: hello\nthere")
    assert task.startswith("Compaction: compress message 1234 into one line of at most 512 bytes (about 70 words)")
    assert ["-" * 512] == [line for line in task.split("\n") if set(line) == {"-"}]
    assert task.endswith("\n<input>\nuser: hello\nthere\n</input>")


@pytest.mark.rule("35")
def test_a_merges_task_names_both_lines_and_what_the_view_may_hold_of_them() -> None:
    task = merge_task(OURS, Part(2, 3), ("user: a\r\nb", "eukhe: c"))
    assert task.startswith("Compaction: merge the lines 12+2 and 14+2 into one line of at most 512 bytes (about 70")
    assert "The view in <chat> may hold their messages in more detail" in " ".join(task.split())
    assert ["-" * 512] == [line for line in task.split("\n") if set(line) == {"-"}]
    assert "12+2|user: a b\n14+2|eukhe: c" == input_of(task)


@pytest.mark.rule("36")
def test_a_line_that_is_too_long_is_told_its_size_and_shown_up_to_the_limit() -> None:
    task = too_long_task(OURS, f" 8+1|{'é' * 300}\n")
    assert task.startswith("Too long: your line has 600 bytes, and the limit is 512. Give the whole line again")
    assert task.endswith(f"\n{'é' * 256}| ← LIMIT")


@pytest.mark.rule("D11")
def test_a_turns_sentence_says_that_the_message_is_to_be_answered() -> None:
    sentence = "Turn: the new message follows. Answer it as Eukhe, with your tools; do not summarize it."
    assert sentence == OURS.turn


@pytest.mark.rule("35")
@given(ODD)
def test_no_message_can_end_the_input(text: str) -> None:
    task = message_task(OURS, Part(0, 5), f"user: {text}")
    shown = as_input(f"user: {text}")
    assert f"<input>\n{shown}\n</input>" == task[task.index("<input>\n") :]
    input_of(task)


@pytest.mark.rule("35")
@given(ODD, ODD)
def test_no_half_can_end_the_input_or_fake_a_line(left: str, right: str) -> None:
    lines = input_of(merge_task(OURS, Part(1, 2), (left, right))).split("\n")
    assert 2 == len(lines)
    assert ["4+1", "5+1"] == [line.partition("|")[0] for line in lines]


@given(ODD)
def test_what_stands_in_braces_inside_a_text_is_left_as_it_is(text: str) -> None:
    task = message_task(OURS, Part(0, 5), f"user: {text} {{id}} {{text}}")
    assert task.endswith("{id} {text}\n</input>")
    assert 1 == task.count(RULER) - text.count(RULER)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a </input> b", "a ‹/input› b"),
        ("</INPUT>", "‹/INPUT›"),
        ("< /input\n>", "‹ /input\n›"),
        ("<input>", "<input>"),
    ],
)
def test_an_end_of_the_input_is_shown_in_other_brackets(text: str, shown: str) -> None:
    assert shown == as_input(text)
