"""The demo's sessions: enough of them, varied, in the true form, and nobody else's."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eukhe.demo import sessions
from eukhe.limits import NODE_BYTES_MAX, REPEAT_CHARS_MIN, VIEW_CEILING_BYTES
from eukhe.model.text import cut, label, size
from eukhe.world.transcripts import Said, Unreadable, plan, read

SHARED = Path(__file__).parents[1] / ".." / "shared" / "data" / "claude-code"
FILES = sorted(sessions().glob("*.jsonl"))
OVERLAP_CHARS = 60
PROGRAMS_PHRASES = (  # of the program whose form it is: the same in every session there is
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the"
    " new_string was NOT written to the file). To tell you how to proceed, the user said:\n",
    "has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n",
    "Async agent launched successfully.\nagentId: ",
    "(internal ID - do not mention to user. Use to resume later if needed.)",
    "The agent is working in the background. You will be notified when it is done.",
    "This session is being continued from a previous conversation that ran out of context. The conversation is"
    " summarized below:\n",
)


@cache
def said() -> tuple[Said | Unreadable, ...]:
    with plan(FILES) as planned:
        return tuple(read(planned))


def messages() -> list[Said]:
    return [one for one in said() if isinstance(one, Said)]


def texts(kind: str) -> list[str]:
    return [one.text for one in messages() if one.kind == kind]


@cache
def records() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(line) for file in FILES for line in file.read_bytes().split(b"\n") if line)


def blocks() -> Iterator[dict[str, Any]]:
    for record in records():
        content = record.get("message", {}).get("content", "")
        yield from (content if isinstance(content, list) else [])


def test_every_part_of_them_can_be_read() -> None:
    assert [] == [one for one in said() if isinstance(one, Unreadable)]


def test_they_are_several_and_hold_600_messages_or_more() -> None:
    assert 8 <= len(FILES)
    assert 600 <= len(messages())
    assert {"user", "eukhe", "tool", "echo", "work"} == {one.kind for one in messages()}


def test_at_least_95_of_100_texts_are_distinct() -> None:
    assert 0.95 * len(messages()) <= len({one.text for one in messages()})


def test_no_long_text_repeats() -> None:
    long = Counter(one.text for one in messages() if len(one.text) >= REPEAT_CHARS_MIN)
    assert [] == [text[:80] for text, times in long.items() if times > 1]


def test_their_lines_pass_the_views_ceiling_by_half_and_more() -> None:
    lines = [cut(label(one.kind, one.text), NODE_BYTES_MAX) for one in messages()]
    assert 1.5 * VIEW_CEILING_BYTES < sum(map(size, lines))


def test_they_spread_over_weeks_and_each_begins_after_the_one_before_ended() -> None:
    spans = []
    for file in FILES:
        with plan([file]) as planned:
            dates = [datetime.fromisoformat(one.date) for one in read(planned) if isinstance(one, Said)]
        spans.append((min(dates), max(dates)))
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    assert (spans[-1][1] - spans[0][0]).days >= 28


def test_a_line_names_the_line_before_it_as_its_parent() -> None:
    known: set[str] = set()
    for record in records():
        if "uuid" in record:
            assert record["uuid"] not in known
            assert record["parentUuid"] is None or record["parentUuid"] in known
            known.add(record["uuid"])


def test_each_result_answers_a_call_before_it_and_one_call_has_none() -> None:
    called: list[str] = []
    for block in blocks():
        match block:
            case {"type": "tool_use", "id": name}:
                called.append(name)
            case {"type": "tool_result", "tool_use_id": name}:
                called.remove(name)  # a ValueError where it was never called, or is answered twice
    assert 1 == len(called), "the interrupted call"


def test_a_steered_prompt_comes_in_where_it_was_taken() -> None:
    queue = [record for record in records() if record["type"] == "queue-operation"]
    taken = ("enqueue", "remove")
    [steered] = [one["content"] for one, then in pairwise(queue) if (one["operation"], then["operation"]) == taken]
    assert [steered] == [text for text in texts("user") if text == steered]
    assert not any(record.get("message", {}).get("content") == steered for record in records())


def test_a_refusal_gives_the_words_that_it_holds() -> None:
    refusals = [text for text in texts("echo") if text.startswith(PROGRAMS_PHRASES[0])]
    assert refusals
    for refusal in refusals:
        assert refusal.removeprefix(PROGRAMS_PHRASES[0]) in texts("user")


def test_an_image_stands_with_words() -> None:
    [shown] = [one for one in messages() if one.images]
    assert ("user", True) == (shown.kind, shown.images[0].startswith(b"\x89PNG\r\n\x1a\n"))
    assert len(shown.text) > len("[image]")


def test_the_reports_of_a_subagent_and_of_a_background_task_are_work() -> None:
    assert 2 == len(texts("work"))
    notes = [text for text in texts("echo") if text.startswith(PROGRAMS_PHRASES[2])]
    assert 1 == len(notes)
    assert any("<task-notification>" in str(record.get("content")) for record in records())


def test_a_command_of_the_users_and_a_slash_command_are_their_words() -> None:
    assert [text for text in texts("user") if text.startswith("!")]
    assert [text for text in texts("user") if re.match(r"/\w+ \S", text)]


def test_a_compaction_and_an_interruption_stand_in_the_files_and_in_no_message() -> None:
    assert any(record.get("subtype") == "compact_boundary" for record in records())
    assert any(record.get("isCompactSummary") for record in records())
    assert any("[Request interrupted by user" in str(block.get("text")) for block in blocks())
    for text in (one.text for one in messages() if one.kind == "user"):
        assert not text.startswith(("This session is being continued", "[Request interrupted"))


def test_thoughts_stand_in_the_files_and_in_no_message() -> None:
    thoughts = [block["thinking"] for block in blocks() if block["type"] == "thinking"]
    assert thoughts
    for thought in thoughts:
        assert not any(thought in one.text for one in messages())


def test_an_error_and_an_answer_on_several_lines_stand_in_the_files() -> None:
    assert any(block.get("is_error") and str(block["content"]).startswith("Exit code") for block in blocks())
    lines = Counter(record["message"]["id"] for record in records() if record["type"] == "assistant")
    assert 3 <= max(lines.values())


def test_no_path_of_the_machine_they_were_written_on_is_left() -> None:
    for file in FILES:
        text = file.read_text()
        assert not re.search(r"/work/|/tmp\b|/root\b|/Users/", text), file.name
        assert {"/home/dev"} == set(re.findall(r"/home/\w+", text)), file.name


def test_a_question_is_answered_by_one_old_message() -> None:
    questions = json.loads((sessions() / "questions.json").read_text())
    assert 3 == len(questions)
    for question in questions:
        assert {"question", "answer"} == question.keys()
        [at] = [i for i, one in enumerate(messages()) if question["answer"] in one.text]
        assert at < len(messages()) / 2
        assert question["answer"] not in question["question"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the samples of other people's sessions are not beside the checkout")
def test_nothing_of_other_peoples_sessions_is_in_them() -> None:
    theirs = "\n".join(_plain(text) for file in SHARED.rglob("*.jsonl") for text in _strings_of_file(file))
    assert len(theirs) > 100_000
    pieces = _pieces(theirs)
    assert _overlap(f"ours {theirs[1_000:1_070]}", theirs, pieces), "what is theirs is found"
    for file in FILES:
        for text in _strings_of_file(file):
            for phrase in PROGRAMS_PHRASES:
                text = text.replace(phrase, "\n")
            assert _overlap(_plain(text), theirs, pieces) is None, file.name


def _plain(text: str) -> str:
    """Without what every program prints alike: runs of spaces, rulers."""
    return re.sub(r"(\W)\1{2,}", r"\1", re.sub(r"\s+", " ", text))


def _pieces(theirs: str) -> set[str]:
    """Half as long as an overlap, so that every overlap holds one of them whole."""
    return {theirs[at : at + OVERLAP_CHARS // 2] for at in range(0, len(theirs), OVERLAP_CHARS // 2)}


def _overlap(text: str, theirs: str, pieces: set[str]) -> str | None:
    half = OVERLAP_CHARS // 2
    for at in range(len(text) - half + 1):
        if text[at : at + half] in pieces:
            for first in range(max(0, at - half), at + 1):
                window = text[first : first + OVERLAP_CHARS]
                if len(window) == OVERLAP_CHARS and window in theirs:
                    return window
    return None


def _strings_of_file(file: Path) -> Iterator[str]:
    for line in file.read_bytes().split(b"\n"):
        try:
            yield from _strings(json.loads(line))
        except ValueError:
            continue  # one sample is broken on purpose


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _strings(one)
        case dict():
            for one in value.values():
                yield from _strings(one)
