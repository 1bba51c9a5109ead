"""builtin/recall: a turn answered from the memory, without a model."""

import re
from collections.abc import Sequence

import pytest
import recall as tool
from hypothesis import given
from hypothesis import strategies as st

from eukhe.demo import questions, sessions
from eukhe.limits import PLACEHOLDER, RECALL_LOOKS, RECALL_ROUNDS_MAX
from eukhe.model.chat import ChatLimits
from eukhe.model.recall import WHAT_IT_IS, recall
from eukhe.model.talk import Result, Speech, Talk, Text, Tool, Use
from eukhe.model.text import flatten
from tests.recall_kit import SEARCH, ZOOM, Memory

FILLER = "nothing to say about it, and so on and on. " * 30
TOOLS = [(ZOOM, SEARCH), (ZOOM,)]


@pytest.fixture(scope="module")
def demo() -> Memory:
    return Memory(tool.load(sessions()))


@pytest.mark.parametrize("tools", TOOLS)
@pytest.mark.parametrize("asked", questions(), ids=lambda asked: asked.answer)
def test_the_demos_questions_are_answered_with_the_id_of_the_message(
    demo: Memory, tools: Sequence[Tool], asked: tool.Question
) -> None:
    reply, _ = demo.answer(demo.talk(asked.question, tools))
    shown = dict(re.findall(r"^\[(\d+)\] (.*?)(?:\n\n|\Z)", reply.text, re.MULTILINE | re.DOTALL))
    named = [int(i) for i, passage in shown.items() if asked.answer in passage]
    assert named, reply.text
    assert asked.answer in demo.labels[named[0]]
    assert WHAT_IT_IS in reply.text


def test_half_of_fifty_questions_on_real_sessions_are_answered_at_once() -> None:
    if not tool.DATA.exists():
        pytest.skip("the real sessions are not beside the checkout")
    memory = Memory(tool.load(tool.DATA))
    replies = [(asked, memory.answer(memory.talk(asked.ask))[0].text) for asked in tool.read_questions()]
    assert 25 <= sum(asked.answer in flatten(text) for asked, text in replies)


def test_the_same_talk_gives_the_same_reply(demo: Memory) -> None:
    talk = demo.talk("Which lines does a batch merge first?")
    assert demo.answer(talk) == demo.answer(talk)


@pytest.mark.parametrize("tools", TOOLS)
def test_it_looks_a_bounded_number_of_times_and_never_twice_at_the_same(demo: Memory, tools: Sequence[Tool]) -> None:
    _, looks = demo.answer(demo.talk("Did the zebra eat a purple xylophone on Mars, or was it the lines?", tools))
    assert 0 < len(looks) <= RECALL_ROUNDS_MAX * RECALL_LOOKS
    asked = [(look.name, look.input) for look in looks]
    assert len(asked) == len(set(asked))
    assert len(looks) == len({look.id for look in looks})


def test_without_search_it_only_zooms(demo: Memory) -> None:
    _, looks = demo.answer(demo.talk("What did the write return that ran into the file size limit?", [ZOOM]))
    assert {"zoom"} == {look.name for look in looks}


def test_what_the_memory_does_not_hold_is_said_with_the_words_that_were_looked_for() -> None:
    memory = Memory([f"user: {FILLER}"])
    reply, _ = memory.answer(memory.talk("Where is the lighthouse?"))
    assert f"{WHAT_IT_IS} on this: nothing with the words lighthouse." == reply.text


def test_a_chat_that_is_empty_is_answered_at_once() -> None:
    talk = Talk("", (ZOOM, SEARCH), (Speech("user", (Text("<chat>\n</chat>"), Text("Where is it built?"))),), "off", 1)
    assert "search" == recall(talk).uses[0].name
    nothing = Talk("", (), talk.speeches, "off", 1)
    assert "nothing with the words built" in recall(nothing).text


def test_words_that_only_ask_are_no_question() -> None:
    memory = Memory(["user: the lamps"])
    reply, looks = memory.answer(memory.talk("What is it?"))
    assert [] == looks
    assert "ask with words" in reply.text


def test_the_question_itself_and_earlier_answers_are_no_answer() -> None:
    question = "Where does the lighthouse of Norwick stand?"
    memory = Memory(
        [
            "eukhe: The lighthouse of Norwick stands on the cliff behind the chapel.",
            f"user: {question}",
            'tool: search {"words":"lighthouse Norwick"}',
            "echo: 0|2026-10-05 09:32:11 +02:00|eukhe: The lighthouse of Norwick stands on the cliff",
            'tool: zoom {"id":0,"n":1}',
            "echo: eukhe: The lighthouse of Norwick stands on the cliff behind the chapel.",
            f"eukhe: {WHAT_IT_IS} on this, best first.\n\n[0] the lighthouse of Norwick stands behind the chapel.",
        ]
    )
    reply, _ = memory.answer(memory.talk(question))
    assert ["[0] eukhe: The lighthouse of Norwick stands on the cliff behind the chapel."] == reply.text.split("\n\n")[
        1:
    ]


def test_what_is_logged_in_the_turn_itself_is_not_read() -> None:
    memory = Memory(["eukhe: the lamps of the lighthouse are green"])
    memory.labels = [*memory.labels, "user: of which colour are the lamps of the lighthouse, tell me at once"]
    memory._index.execute("INSERT INTO words (rowid, text) VALUES (1, ?)", (memory.labels[1],))
    reply, looks = memory.answer(memory.talk("of which colour are the lamps?"))
    assert "[0] " in reply.text
    assert "[1] " not in reply.text
    assert '{"id":1,"n":1}' not in [look.input for look in looks]


def test_a_line_that_is_not_written_yet_is_zoomed_into() -> None:
    talk = Talk("", (ZOOM,), (Speech("user", (Text(f"<chat>\n0+1|{PLACEHOLDER}\n</chat>"), Text("lamps?"))),), "off", 1)
    assert ['{"id":0,"n":1}'] == [look.input for look in recall(talk).uses]


def test_the_result_of_a_call_is_read_beside_the_call() -> None:
    command = "tool: bash " + '{"command":"make lamps of the lighthouse"}' + FILLER
    memory = Memory([f"user: {FILLER}", command, f"echo: {FILLER} 17 were lit", f"user: {FILLER}"])
    _, looks = memory.answer(memory.talk("How many lamps of the lighthouse did make light?"))
    assert '{"id":2,"n":1}' in [look.input for look in looks]


def test_a_failed_look_teaches_nothing_and_is_not_repeated() -> None:
    talk = Memory([f"eukhe: lamps {FILLER}"]).talk("Which lamps?", [SEARCH])
    while uses := recall(talk).uses:
        failed = tuple(Result(use.id, (Text("0|2026|eukhe: no such tool"),), failed=True) for use in uses)
        steps = (Speech("assistant", uses), Speech("user", failed))
        talk = Talk("", talk.tools, (*talk.speeches, *steps), "off", 1)
    assert recall(talk).text.startswith(WHAT_IT_IS)


@given(st.lists(st.text(max_size=60), max_size=6), st.text(max_size=60), st.sampled_from([*TOOLS, ()]))
def test_any_memory_and_any_question_get_an_answer(said: list[str], question: str, tools: Sequence[Tool]) -> None:
    memory = Memory([f"user: {text}" for text in said], ChatLimits(8_000, 4_000, 2_000, 1_000))
    reply, looks = memory.answer(memory.talk(question, tools))
    assert reply.text.startswith("builtin/recall: ")
    assert {look.name for look in looks} <= {tool.name for tool in tools} | {"zoom"}


@given(st.text(), st.text(), st.text())
def test_any_result_of_a_look_is_taken(view: str, first: str, second: str) -> None:
    uses = (Use("a", "search", '{"words":"lamps"}'), Use("b", "zoom", '{"id":0,"n":2}'))
    results = (Result("a", (Text(first),)), Result("b", (Text(second),)))
    said = Speech("user", (Text(f"<chat>\n{view}\n</chat>"), Text("Which lamps?")))
    talk = Talk("", (ZOOM, SEARCH), (said, Speech("assistant", uses), Speech("user", results)), "off", 1)
    assert recall(talk).blocks
