"""A conversation: what is logged in which order, what is asked of the model, how it ends."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import TOOL_RESULT_CHARS_MAX
from eukhe.model.talk import Block, Image, Reply, Result, Speech, Stop, Text, Thought, Use
from eukhe.model.turn import Ask, Conversation, Over, Run, Step, Words

TOOLS = ("bash", "read", "zoom", "agent")
PNG = b"\x89PNG\r\n\x1a\n..."


def begun(text: str = "Do it.", **more: object) -> Conversation:
    it = Conversation(Words("user", text), TOOLS, **more)  # type: ignore[arg-type]
    it.begin()
    return it


def reply(*blocks: Block, stop: Stop = "end") -> Reply:
    return Reply(blocks, "tools" if any(isinstance(block, Use) for block in blocks) and stop == "end" else stop)


def use(name: str = "bash", given: str = "{}", id_: str = "u1") -> Use:
    return Use(id_, name, given)


def logged(step: Step) -> list[tuple[str, str]]:
    return [(words.kind, words.text) for words in step.logs]


# --- how it goes ---


@pytest.mark.rule("48", "49")
def test_the_users_words_are_logged_before_the_first_request() -> None:
    it = Conversation(Words("user", "Do it."), TOOLS)
    step = it.begin()
    assert ([("user", "Do it.")], Ask()) == (logged(step), step.then)
    assert ((Text("Do it."),), []) == (it.opening, it.speeches)


@pytest.mark.rule("48")
def test_a_reply_without_tools_is_logged_and_ends_it() -> None:
    step = begun().replied(reply(Text("It is "), Text("done.")))
    assert [("eukhe", "It is done.")] == logged(step)
    assert Over("It is done.") == step.then


@pytest.mark.rule("48")
def test_text_before_a_tools_call_is_its_own_message_and_the_call_is_logged_before_it_runs() -> None:
    it = begun()
    step = it.replied(reply(Text("I look."), use("bash", '{"command":"ls"}')))
    assert [("eukhe", "I look."), ("tool", 'bash {"command":"ls"}')] == logged(step)
    assert Run(use("bash", '{"command":"ls"}')) == step.then


@pytest.mark.rule("48")
def test_tools_run_one_after_another_and_their_results_go_back_in_one_speech_in_the_order_of_the_uses() -> None:
    it = begun()
    first, second = use(id_="u1"), use("read", id_="u2")
    asked = reply(Text("Both."), first, Text("And then."), second)
    assert Run(first) == it.replied(asked).then
    step = it.ran("one")
    assert ([("echo", "one"), ("eukhe", "And then."), ("tool", "read {}")], Run(second)) == (logged(step), step.then)
    step = it.ran("two", failed=True)
    assert ([("echo", "two")], Ask()) == (logged(step), step.then)
    results = (Result("u1", (Text("one"),)), Result("u2", (Text("two"),), failed=True))
    assert [Speech("assistant", asked.blocks), Speech("user", results)] == it.speeches


@pytest.mark.rule("8")
def test_thoughts_go_back_and_are_never_logged() -> None:
    it = begun()
    thought = Thought("anthropic", '{"signature":"s"}')
    step = it.replied(reply(thought, use()))
    assert [("tool", "bash {}")] == logged(step)
    it.ran("one")
    assert (thought, use()) == it.speeches[0].blocks


@pytest.mark.rule("46")
def test_words_that_come_while_a_tool_runs_go_in_after_its_results() -> None:
    it = begun()
    it.replied(reply(use()))
    it.hear(Words("user", "Not that one!"))
    step = it.ran("one")
    assert ([("echo", "one"), ("user", "Not that one!")], Ask()) == (logged(step), step.then)
    assert (Result("u1", (Text("one"),)), Text("Not that one!")) == it.speeches[-1].blocks


@pytest.mark.rule("46")
def test_a_final_reply_while_words_wait_is_followed_by_the_next_request() -> None:
    it = begun()
    it.hear(Words("user", "Also this."))
    step = it.replied(reply(Text("Done.")))
    assert ([("eukhe", "Done."), ("user", "Also this.")], Ask()) == (logged(step), step.then)
    assert [Speech("assistant", (Text("Done."),)), Speech("user", (Text("Also this."),))] == it.speeches
    assert Over("Done, too.") == it.replied(reply(Text("Done, too."))).then


@pytest.mark.rule("46", "49")
def test_words_that_came_before_it_began_open_it_with_the_first() -> None:
    it = Conversation(Words("user", "Do it."), TOOLS)
    it.hear(Words("user", "Quickly."))
    assert [("user", "Do it."), ("user", "Quickly.")] == logged(it.begin())
    assert (Text("Do it."), Text("Quickly.")) == it.opening


@pytest.mark.rule("58")
def test_a_report_is_logged_as_work() -> None:
    it = begun()
    it.replied(reply(use()))
    it.hear(Words("work", "[Ann] found it"))
    assert [("echo", "one"), ("work", "[Ann] found it")] == logged(it.ran("one"))


def test_words_that_come_while_the_model_says_nothing_join_what_the_user_said_last() -> None:
    it = begun()
    it.hear(Words("user", "Hello?"))
    assert Ask() == it.replied(reply()).then
    assert ((Text("Do it."), Text("Hello?")), []) == (it.opening, it.speeches)


@pytest.mark.rule("50")
def test_images_are_sent_as_the_log_has_them() -> None:
    it = Conversation(Words("user", "Look.", (PNG,)), TOOLS)
    (words,) = it.begin().logs
    assert (PNG,) == words.images
    text, image = it.opening
    assert isinstance(text, Text)
    assert text.text.startswith("Look.\n[image ")
    assert Image("image/png", PNG) == image
    it.replied(reply(use("read")))
    step = it.ran("", (PNG,))
    assert (PNG,) == step.logs[0].images
    (result,) = it.speeches[-1].blocks
    assert isinstance(result, Result)
    assert Image("image/png", PNG) == result.content[-1]


def test_what_is_no_image_is_said_to_be_none() -> None:
    it = Conversation(Words("user", "Look.", (b"no picture",)), TOOLS)
    it.begin()
    (text,) = it.opening
    assert isinstance(text, Text)
    assert "left out" in text.text


# --- tools that can't run ---


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (use("fly"), "There is no tool fly. There are: bash, read, zoom, agent."),
        (use("bash", "{"), "The input of bash is no JSON."),
        (use("bash", ""), "The input of bash is no JSON."),
        (use("bash", "[1]"), "The input of bash is no JSON object."),
    ],
)
def test_a_tool_that_is_not_there_and_an_input_that_is_none_get_a_failed_result(wanted: Use, said: str) -> None:
    it = begun()
    step = it.replied(reply(wanted))
    assert ([("tool", f"{wanted.name} {wanted.input}"), ("echo", said)], Ask()) == (logged(step), step.then)
    assert (Result("u1", (Text(said),), failed=True),) == it.speeches[-1].blocks


@pytest.mark.rule("57")
def test_what_is_refused_to_a_subagent_gets_a_failed_result() -> None:
    it = begun(refused={"agent": "Not you."})
    assert [("tool", "agent {}"), ("echo", "Not you.")] == logged(it.replied(reply(use("agent"))))


@pytest.mark.rule("9")
def test_a_long_result_is_sent_as_it_is_logged() -> None:
    it = begun()
    it.replied(reply(use()))
    (words,) = it.ran("x" * 100_000).logs
    assert TOOL_RESULT_CHARS_MAX == len(words.text)
    (result,) = it.speeches[-1].blocks
    assert Result("u1", (Text(words.text),)) == result


def test_a_result_without_a_word_says_so_since_no_provider_takes_an_empty_text() -> None:
    it = begun()
    it.replied(reply(use()))
    assert [("echo", "(nothing was printed)")] == logged(it.ran(""))


# --- how it ends ---


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (reply(), "the model said nothing"),
        (reply(Text(" \n")), "the model said nothing"),
        (reply(Thought("anthropic", "{}")), "the model said nothing"),
        (reply(stop="length"), "the reply was cut: the model had no tokens left"),
        (reply(Text("I beg"), stop="length"), "the reply was cut: the model had no tokens left"),
        (reply(stop="refusal"), "the provider refused to answer this"),
        (reply(Text("I"), use(), stop="refusal"), "the provider refused to answer this"),
    ],
)
def test_a_reply_that_is_none_ends_it_and_says_why(said: Reply, why: str) -> None:
    step = begun().replied(said)
    assert isinstance(step.then, Over)
    assert why == step.then.why
    assert [("eukhe", said.text)] * bool(said.text.strip()) == logged(step)


def test_an_end_without_bound_is_bounded_and_said() -> None:
    it = begun(asks=2)
    assert isinstance(it.replied(reply(use())).then, Run)
    assert Ask() == it.ran("one").then
    it.replied(reply(Text("On and on."), use()))
    step = it.ran("two")
    assert [("echo", "two")] == logged(step)
    assert isinstance(step.then, Over)
    assert ("On and on.", True) == (step.then.reply, "after 2 requests" in step.then.why)
    assert it.is_over


@pytest.mark.rule("48")
def test_stopped_while_the_model_speaks_what_it_said_is_kept_and_marked() -> None:
    step = begun().stop("I was about t")
    assert [("eukhe", "I was about t [stopped]")] == logged(step)
    assert Over("I was about t [stopped]", stopped=True) == step.then


def test_stopped_while_a_tool_runs_every_call_gets_its_result() -> None:
    it = begun()
    it.replied(reply(use(id_="u1"), Text("Then"), use("read", id_="u2")))
    it.hear(Words("user", "Enough."))
    step = it.stop()
    assert [
        ("echo", "stopped"),
        ("eukhe", "Then"),
        ("tool", "read {}"),
        ("echo", "stopped before it began"),
        ("user", "Enough."),
    ] == logged(step)
    assert isinstance(step.then, Over)
    assert step.then.stopped


def test_stopped_before_it_began_what_was_said_is_logged() -> None:
    step = Conversation(Words("user", "Do it."), TOOLS).stop()
    assert ([("user", "Do it.")], Over("", stopped=True)) == (logged(step), step.then)


def test_what_failed_for_good_keeps_what_was_said() -> None:
    step = begun().fail("the stream broke", "Half a sent")
    assert [("eukhe", "Half a sent [stopped]")] == logged(step)
    assert Over("Half a sent [stopped]", "the stream broke") == step.then


def test_no_blank_text_is_sent_back() -> None:
    it = begun()
    it.replied(reply(Text("\n"), use()))
    assert (use(),) == it.speeches[0].blocks


# --- whatever happens ---

USES = st.builds(use, st.sampled_from([*TOOLS, "fly"]), st.sampled_from(["{}", '{"a": 1}', "{", "null"]))
BLOCKS = st.lists(st.one_of(st.builds(Text, st.text(max_size=9)), USES), max_size=5)
REPLIES = st.builds(
    lambda blocks, stop: Reply(tuple(blocks), stop), BLOCKS, st.sampled_from(["end", "tools", "length"])
)
HAPPENS = st.lists(st.one_of(REPLIES, st.sampled_from(["ran", "hear", "stop", "fail"])), max_size=30)


@pytest.mark.rule("46", "48")
@given(HAPPENS)
def test_whatever_happens_each_call_has_its_result_right_behind_it_and_all_words_are_logged(
    happens: list[Reply | str],
) -> None:
    it = Conversation(Words("user", "Do it."), TOOLS)
    step = it.begin()
    logs, heard = list(step.logs), 1
    for what in happens:
        if it.is_over:
            break
        if what == "hear":
            it.hear(Words("user", f"word {heard}"))
            heard += 1
            continue
        if isinstance(what, Reply) and step.then == Ask():
            numbered = [
                Use(f"u{at}", block.name, block.input) if isinstance(block, Use) else block
                for at, block in enumerate(what.blocks)
            ]
            step = it.replied(Reply(tuple(numbered), what.stop))
        elif what == "ran" and isinstance(step.then, Run):
            assert isinstance(json.loads(step.then.use.input), dict)
            step = it.ran("result")
        elif what == "stop":
            step = it.stop("half" if step.then == Ask() else "")
        elif what == "fail" and step.then == Ask():
            step = it.fail("why", "half")
        else:
            continue
        logs += step.logs
        assert it.is_over == isinstance(step.then, Over)
        if step.then == Ask():
            _can_be_sent(it)
    if not it.is_over:
        logs += it.stop().logs
    kinds = [words.kind for words in logs]
    assert [at + 1 for at, kind in enumerate(kinds) if kind == "tool"] == [
        at for at, kind in enumerate(kinds) if kind == "echo"
    ]
    assert ["Do it.", *(f"word {n}" for n in range(1, heard))] == [words.text for words in logs if words.kind == "user"]


def _can_be_sent(it: Conversation) -> None:
    """Sides take turns, the user's first and last; each use is answered in the speech behind it, in its order."""
    roles = ["user", *(speech.role for speech in it.speeches)]
    assert ["user", "assistant"] * (len(roles) // 2) + ["user"] == roles
    for said, answered in zip(it.speeches[::2], it.speeches[1::2], strict=True):
        uses = [block.id for block in said.blocks if isinstance(block, Use)]
        assert uses == [block.of for block in answered.blocks if isinstance(block, Result)]
        assert said.blocks
        assert answered.blocks
