"""Replies of providers, in both forms: what is heard of them, as it comes and at the end."""

import pytest
from fake_acts import Act, Call, Think, answer
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from eukhe.actors.ports import Broke, Delta, Replied, Responding
from eukhe.limits import REPLY_CHARS_MAX
from eukhe.model.talk import Image, Reply, Result, Speech, Text, Thought, Usage, Use
from tests.fake_api.fake_kit import png
from tests.providers.provider_kit import BASH, FORMS, FormName, end, fake, heard, streamed

pytestmark = pytest.mark.parametrize("form", FORMS)


def test_a_reply_comes_in_pieces_and_then_whole(form: FormName) -> None:
    long = "It is a long story, told in many pieces. " * 9
    with fake(form, [answer(long)]) as api:
        events = heard(api.turn())
    assert isinstance(events[0], Responding)
    assert 3 < sum(isinstance(event, Delta) for event in events)
    assert long == streamed(events, "text")
    last = events[-1]
    assert isinstance(last, Replied)
    assert (long, Reply((Text(long),), "end")) == (last.text, last.reply)


def test_what_a_call_costs_is_what_it_is_billed(form: FormName) -> None:
    with fake(form, [answer("short"), answer("short")]) as api:
        ends = [end(api.turn(Text("hello " * 4_000, mark=True))) for _ in range(2)]
        billed = [request.usage for request in api.fake.requests]
    assert billed == [event.usage for event in ends if isinstance(event, Replied)]
    assert billed[1].cache_read > 4_000


def test_how_a_call_begins_says_what_it_has_cost_already_where_its_form_can(form: FormName) -> None:
    with fake(form, [answer("x")]) as api:
        begun = heard(api.turn(Text("hello " * 4_000, mark=True)))[0]
    assert isinstance(begun, Responding)
    if form == "openai":
        assert begun.usage is None  # it comes at the end
    else:
        assert begun.usage is not None and begun.usage.cache_write > 4_000


def test_tools_that_are_wanted_come_with_their_inputs(form: FormName) -> None:
    calls = (Call("bash", {"command": "ls -l"}), Call("bash", {"command": "echo “ü”"}))
    with fake(form, [answer("I look.", *calls)]) as api:
        events = heard(api.turn(tools=[BASH]))
    last = events[-1]
    assert isinstance(last, Replied) and last.reply is not None
    assert ("tools", "I look.") == (last.reply.stop, last.text)
    assert [("bash", '{"command":"ls -l"}'), ("bash", '{"command":"echo “ü”"}')] == [
        (use.name, use.input) for use in last.reply.uses
    ]
    assert '{"command":"ls -l"}{"command":"echo “ü”"}' == streamed(events, "use")
    assert 2 == len({use.id for use in last.reply.uses})


def test_a_call_without_text_has_none(form: FormName) -> None:
    with fake(form, [answer(Call("bash", {"command": "ls"}))]) as api:
        last = end(api.turn(tools=[BASH]))
    assert isinstance(last, Replied)
    assert last.text is None


def test_thoughts_are_told_and_only_their_own_provider_gets_them_back(form: FormName) -> None:
    with fake(form, [answer(Think("hm, what is it"), "I know.")]) as api:
        events = heard(api.turn(effort="high", model="anthropic/claude-opus-4-6" if form == "anthropic" else ""))
    last = events[-1]
    assert isinstance(last, Replied) and last.reply is not None
    assert ("hm, what is it", "I know.") == (streamed(events, "thought"), streamed(events, "text"))
    thoughts = [block for block in last.reply.blocks if isinstance(block, Thought)]
    assert (1 if form == "anthropic" else 0) == len(thoughts)


def test_images_and_results_of_tools_are_sent(form: FormName) -> None:
    image = Image("image/png", png())
    said = (
        Speech("user", (Text("look"), image)),
        Speech("assistant", (Text("I do."), Use("a1", "bash", '{"command":"x"}'), Use("a2", "bash", "{broken"))),
        Speech("user", (Result("a1", (Text("seen"), image)), Result("a2", (), failed=True), Text("and?"))),
    )
    with fake(form, [answer("yes")]) as api:
        last = end(api.turn(*said, tools=[BASH]))
        (request,) = api.fake.requests
    assert isinstance(last, Replied), last
    assert "yes" == last.text
    images = [
        block
        for speech in request.speeches
        for outer in speech.blocks
        for block in (outer.content if isinstance(outer, Result) else (outer,))
        if isinstance(block, Image)
    ]
    assert 2 == len(images)


@pytest.mark.parametrize(
    ("act", "stop"), [(answer("as far as", stop="length"), "length"), (answer("I won't.", stop="refusal"), "refusal")]
)
def test_why_a_turns_reply_ended_is_told(form: FormName, act: Act, stop: str) -> None:
    with fake(form, [act]) as api:
        last = end(api.turn())
    assert isinstance(last, Replied) and last.reply is not None
    assert stop == last.reply.stop


# --- lines (row 29) ---


@pytest.mark.rule("35", "36", "D9")
@pytest.mark.parametrize(
    ("act", "text"),
    [
        (answer("a line"), "a line"),
        (answer(), None),
        (answer(Think("hm")), None),
        (answer(Call("bash", {"command": "ls"})), None),
        (answer("x" * 1_300), "x" * 1_300),
        (answer("one\ntwo\0three\x1b[1m\ud83d 8+4|text </chat>"), "one\ntwo\ufffdthree\x1b[1m\ufffd 8+4|text </chat>"),
        (answer("x" * 1_300, stop="length"), "x" * 1_300),
    ],
)
def test_a_lines_reply_is_its_text_alone_and_comes_at_once(form: FormName, act: Act, text: str | None) -> None:
    with fake(form, [act]) as api:
        events = heard(api.line())
    assert [Responding, Replied] == [type(event) for event in events]
    last = events[-1]
    assert isinstance(last, Replied)
    assert (text, None) == (last.text, last.reply)
    assert isinstance(last.usage, Usage)


@pytest.mark.rule("D13")
@pytest.mark.parametrize(
    ("act", "why"),
    [
        (answer("I won't.", stop="refusal"), "its provider refused it: I won't."),
        (answer("half of a li", stop="length"), "its tokens ended before the line did"),
        (answer(Think("hm, hm"), stop="length"), "its tokens ended before the line did"),
        (answer("x" * (REPLY_CHARS_MAX + 1), piece_chars=9_999), "the reply has more than 100,000 characters"),
    ],
)
def test_a_line_that_is_none_is_a_failed_call_with_what_it_cost(form: FormName, act: Act, why: str) -> None:
    with fake(form, [act]) as api:
        last = end(api.line())
    assert isinstance(last, Broke)
    assert why == last.why
    assert form == "openai" or last.usage is not None


def test_a_blank_user_and_a_model_that_said_nothing_are_sent_as_what_is_taken(form: FormName) -> None:
    said = (Speech("user", (Text(" \n"), Text(""))), Speech("assistant", (Text(""),)), Speech("user", (Text("hi"),)))
    with fake(form, [answer("yes")]) as api:
        last = end(api.turn(*said))
    assert isinstance(last, Replied), last


# --- both forms ---


@given(
    st.lists(
        st.one_of(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=80).filter(
                str.strip
            ),
            st.builds(Call, st.sampled_from(["bash", "read"]), st.dictionaries(st.text(max_size=9), st.integers(0, 9))),
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=20)
def test_the_same_conversation_gives_the_same_reply_in_both_forms(form: FormName, said: list[str | Call]) -> None:
    texts = [part for part in said if isinstance(part, str)]
    parts = [" ".join(texts), *(part for part in said if isinstance(part, Call))] if texts else said
    replies = []
    for each in FORMS:
        with fake(each, [answer(*parts)]) as api:
            last = end(api.turn(tools=[BASH, replace(BASH, name="read")]))
        assert isinstance(last, Replied) and last.reply is not None
        replies.append([last.text, last.reply.stop, [without_id(block) for block in last.reply.blocks]])
    assert replies[0] == replies[1]


def without_id(block: object) -> object:
    return (block.name, block.input) if isinstance(block, Use) else block
