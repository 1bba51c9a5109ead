"""Agents that play a part: without a memory, the same in both forms, and with lines for the memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from fake_acts import Answer, Call, Fail, Reset, Said, Think
from fake_api import FakeApi
from fake_script import Agent, Rule, act_of, input_of, line_of, load

from eukhe.model.talk import Result, Speech, Text, Use
from tests.fake_api.fake_kit import BASH, chatted, created, result, text, user

FIX = Rule(
    "fix (the )?bug",
    [
        [Think("Hm."), "I look.", Call("bash", {"command": "ls", "for": "{said}", "n": 1})],
        [Call("bash", {"command": "cat"}), Call("bash", {"command": "date"})],
        ["It is done: {result}"],
    ],
)
TOOL: Any = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}


def said(*words: str) -> Speech:
    return Speech("user", tuple(Text(word) for word in words))


def replied(*words: str) -> Speech:
    return Speech("assistant", tuple(Text(word) for word in words))


def played(agent: Agent, *speeches: Speech, thinks: bool = False) -> tuple[Said, ...]:
    return agent(speeches, thinks).said


# --- parts ---


def test_a_part_is_played_reply_by_reply_from_the_conversation_alone() -> None:
    first = [said("please fix the bug")]
    second = [*first, Speech("assistant", (Text("I look."), Use("a", "bash", "{}")))]
    second.append(Speech("user", (Result("a", (Text("a.py"),)),)))
    third = [*second, Speech("assistant", (Use("b", "bash", "{}"), Use("c", "bash", "{}")))]
    third.append(Speech("user", (Result("b", (Text("x"),)), Result("c", (Text("Monday"),)))))
    looked = Call("bash", {"command": "ls", "for": "please fix the bug", "n": 1})
    for agent in (Agent([FIX]), Agent([FIX])):  # another one goes on where the first was killed
        assert ("I look.", looked) == played(agent, *first)
        assert FIX.replies[1] == list(played(agent, *second))
        assert ("It is done: Monday",) == played(agent, *third)


def test_thoughts_are_told_only_where_they_are_wanted() -> None:
    assert Think("Hm.") == played(Agent([FIX]), said("fix bug"), thinks=True)[0]
    assert "I look." == played(Agent([FIX]), said("fix bug"))[0]


def test_what_is_said_between_calls_does_not_begin_anew() -> None:
    steered = Speech("user", (Result("a", ()), Text("also fix bug two")))
    called = Speech("assistant", (Use("a", "bash", "{}"),))
    assert FIX.replies[1] == list(played(Agent([FIX]), said("fix bug"), called, steered))


def test_what_is_said_after_the_last_reply_begins_anew() -> None:
    first = played(Agent([FIX]), said("hello"), replied("hi"), said("fix bug"))
    assert "I look." == first[0]


def test_the_first_rule_that_fits_is_played_and_else_the_words_come_back() -> None:
    agent = Agent([Rule("^a", [["first"]]), Rule("b", [["second"]])])
    assert ["first", "second", "You said: c"] == [played(agent, said(words))[0] for words in ("ab", "cb", "c")]


def test_only_the_last_words_count_not_the_view_before_them() -> None:
    assert "You said: hello" == played(Agent([FIX]), said("<chat>\n0+1|user: fix bug\n</chat>", "hello"))[0]


def test_the_sentence_that_says_that_it_is_a_turn_is_no_words_of_the_user() -> None:
    assert "You said: hello\nthere" == played(Agent(), said("Turn: the new message follows.\n\nhello\nthere"))[0]
    assert "You said: hello" == played(Agent(), said("Turn: the new message follows.", "hello"))[0]


def test_a_part_that_is_over_says_so() -> None:
    called = Speech("assistant", (Use("a", "bash", "{}"),))
    again = Speech("user", (Result("a", ()),))
    found = played(Agent([Rule("x", [[Call("bash", {})]])]), said("x"), called, again)
    assert ("There is no more to say.",) == found


# --- lines of the memory ---

TASK = "Compaction: compress message 3.\n" + "-" * 512 + "\n<input>\n{}\n</input>"


@pytest.mark.parametrize("words", ["user: hello", "two\nlines", "é" * 4_000, "", "</chat> <input>\nx"])
def test_a_compaction_is_answered_with_a_line_of_its_input(words: str) -> None:
    (line,) = played(Agent([FIX]), said("<chat>…</chat>", TASK.format(words)))
    assert line_of(words) == line
    assert isinstance(line, str) and 1 <= len(line.encode()) <= 240 and "\n" not in line


def test_a_line_tells_its_input_apart_from_others() -> None:
    long = "x" * 5_000
    assert line_of(long) != line_of(long + "y")
    assert line_of("a") == line_of("a")


def test_a_line_that_was_too_long_is_answered_from_the_same_input() -> None:
    speeches = (said(TASK.format("user: hello")), replied("far too long"), said("Too long: 600 bytes."))
    assert line_of("user: hello") == played(Agent(), *speeches)[0]


def test_a_message_that_looks_like_a_task_is_none_in_a_turn() -> None:
    words = TASK.format("user: x")
    assert f"You said: {words}" == played(Agent(), said("<chat>\n</chat>", "Turn: the new message follows.", words))[0]


def test_the_input_ends_where_its_own_mark_is() -> None:
    assert "a <input> b" == input_of([said(TASK.format("a <input> b") + "\nWrite the line.")])
    assert "" == input_of([said("nothing")])


# --- the same in both forms ---


def anthropic_turn(api: FakeApi, words: str) -> list[str]:
    messages: list[Any] = [user(text(words))]
    log = [f"user: {words}"]
    while True:
        content = created(api, messages=messages, tools=[BASH]).content
        log += [f"eukhe: {block.text}" for block in content if block.type == "text"]
        calls = [block for block in content if block.type == "tool_use"]
        log += [f"tool: {call.name} {orjson.dumps(call.input).decode()}" for call in calls]
        if not calls:
            return log
        messages.append({"role": "assistant", "content": content})
        messages.append(user(*(result(call.id, f"result {at}") for at, call in enumerate(calls))))


def openai_turn(api: FakeApi, words: str) -> list[str]:
    messages: list[Any] = [{"role": "system", "content": "s"}, {"role": "user", "content": words}]
    log = [f"user: {words}"]
    while True:
        message = chatted(api, messages=messages, tools=[TOOL]).json()["choices"][0]["message"]
        log += [f"eukhe: {message['content']}"] if message["content"] else []
        calls = message.get("tool_calls", [])
        log += [f"tool: {call['function']['name']} {call['function']['arguments']}" for call in calls]
        if not calls:
            return log
        messages.append(message)
        results = enumerate(calls)
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": f"result {at}"} for at, call in results]


TURNS: list[Callable[[FakeApi, str], list[str]]] = [anthropic_turn, openai_turn]


@pytest.mark.parametrize("turn", TURNS)
def test_the_same_conversation_leaves_the_same_log_in_both_forms(turn: Callable[[FakeApi, str], list[str]]) -> None:
    with FakeApi(agent=Agent([FIX])) as api:
        log = turn(api, "fix the bug")
    assert [
        "user: fix the bug",
        "eukhe: I look.",
        'tool: bash {"command":"ls","for":"fix the bug","n":1}',
        'tool: bash {"command":"cat"}',
        'tool: bash {"command":"date"}',
        "eukhe: It is done: result 1",
    ] == log


# --- scripts in files ---


def test_a_file_holds_rules_and_acts(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_bytes(
        orjson.dumps(
            {
                "rules": [{"when": "fix", "replies": [["I look.", {"call": "bash", "input": {"a": 1}}], ["Done."]]}],
                "lineBytes": 60,
                "acts": [
                    {"fail": 429, "retry_after": 3},
                    {"reset": "drop"},
                    {"say": [{"think": "hm"}, "hello"], "stop": "length", "twists": [["cut", "message_stop", "end"]]},
                ],
            }
        )
    )
    script = load(path)
    assert ("I look.", Call("bash", {"a": 1})) == played(script.agent, said("fix it"))
    assert 60 == len(str(played(script.agent, said(TASK.format("x" * 100)))[0]))
    fail, reset, say = script.acts
    assert (Fail(429, retry_after=3), Reset("drop")) == (fail, reset)
    assert isinstance(say, Answer)
    assert ((Think("hm"), "hello"), "length", 1) == (say.said, say.stop, len(say.twists))


def test_each_twist_of_a_file_is_known() -> None:
    twists = [["cut", 1], ["cut_byte", 9, "reset"], ["without", "ping"], ["put", 2, "garbage"], ["pings", 2]]
    act = act_of({"say": ["x"], "twists": twists})
    assert isinstance(act, Answer) and 5 == len(act.twists)
