"""A client's turn, on both runtimes: what it orders of the owner and of the model, and what is logged when."""

from typing import Any

import msgspec
import pytest

from eukhe.actors.messages import (
    Append,
    AskStatus,
    AskTexts,
    At,
    Attend,
    CallOver,
    CallSent,
    Cancel,
    DateOf,
    EnterPrefix,
    Look,
    Looking,
    Msg,
    ReadView,
    Say,
    Search,
    Seen,
    TakeView,
    TextsInForce,
    ToolBegan,
    ToolOver,
    ToolPrinted,
    TurnBegan,
    TurnLogged,
    TurnSaid,
    TurnWaits,
    ViewTaken,
    ViewTexts,
    Wait,
    WaitFailed,
    Zoom,
    ZoomAgent,
)
from eukhe.actors.ports import ToolEnded, ToolSaid
from eukhe.limits import CLIENT_END_S
from eukhe.model.part import Part
from eukhe.model.prompt import texts
from eukhe.model.talk import Block, Image, Result, Text, Thought, Use, text_of
from tests.actor_kit import Runtime, on
from tests.turn_kit import (
    PNG,
    USAGE,
    Client,
    Owner,
    Tools,
    answer,
    asked,
    client,
    given,
    heard_all,
    says,
    tell,
    use,
    when,
)


@pytest.mark.rule("48", "49")
def test_a_turn_gets_its_view_then_logs_what_was_said_then_asks_and_logs_the_reply(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("It is done.")]) as it:
        it.say("Do it.")
        over = it.over()
    assert "It is done." == over.reply
    assert "" == over.why
    assert (2, 3) == over.ids
    assert [("user", "Do it."), ("eukhe", "It is done.")] == it.owner.said
    kinds = [type(order) for _, order in it.owner.orders]
    assert sorted(map(kinds.index, (Wait, ReadView, Append, EnterPrefix, CallSent, CallOver))) == [
        kinds.index(kind) for kind in (Wait, ReadView, Append, EnterPrefix, CallSent, CallOver)
    ]
    assert "It is done." == "".join(said.text for said in it.told(TurnSaid))
    assert [2] == [began.t for began in it.told(TurnBegan)]


@pytest.mark.rule("48")
def test_a_tool_runs_when_its_call_is_on_disk_and_the_next_request_goes_when_its_result_is(
    both_runtimes: Runtime,
) -> None:
    tools = Tools(bash=[[ToolSaid("on"), ToolSaid("e\n"), ToolEnded("one\n")]])
    bash = use("bash", '{"command":"echo one"}')
    with client(both_runtimes, [says("I look.", bash), says("It is one.")], tools, ["bash"]) as it:
        seen: list[list[tuple[str, str]]] = []
        tools.before = lambda: seen.append(it.owner.said)
        it.say("What is it?")
        over = it.over()
    said = [("user", "What is it?"), ("eukhe", "I look."), ("tool", 'bash {"command":"echo one"}'), ("echo", "one\n")]
    assert [said[:3]] == seen
    assert [*said, ("eukhe", "It is one.")] == it.owner.said
    assert ("It is one.", USAGE + USAGE, 0.01) == (over.reply, over.usage, over.usd)
    assert "one\n" == "".join(printed.text for printed in it.told(ToolPrinted))
    assert [("one\n", False)] == [(ended.text, ended.failed) for ended in it.told(ToolOver)]
    second = it.model.requests[1].talk.speeches
    assert (Result("u1", (Text("one\n"),), mark=True),) == second[2].blocks


@pytest.mark.rule("48")
def test_every_request_of_a_turn_has_the_same_view(both_runtimes: Runtime) -> None:
    looks = [says("", use("zoom", '{"id":0,"n":2}', f"u{n}")) for n in range(3)]
    with client(both_runtimes, [*looks, says("Seen.")]) as it:
        it.say("Look.")
        it.over()
    views = {request.talk.speeches[0].blocks for request in it.model.requests}
    assert 1 == len({tuple(_unmarked(block) for block in view) for view in views})
    assert 1 == len(it.owner.given(Wait)) == len(it.owner.given(ReadView))
    assert [Zoom(0, 2)] * 3 == [look.what for look in it.owner.given(Look)]


@pytest.mark.rule("49", "51", "D11")
def test_the_view_comes_first_then_what_is_so_now_then_the_mark_of_a_turn_then_the_words(
    both_runtimes: Runtime,
) -> None:
    with client(both_runtimes, [says("Yes.")]) as it:
        it.say("Is it?")
        it.over()
    (speech,) = it.model.requests[0].talk.speeches
    view, state, turn, words = map(_unmarked, speech.blocks)
    assert Text("<chat>\n0+1|line 0+1\n1+1|line 1+1\n</chat>") == view
    assert (Text("it is noon"), Text(texts().turn), Text("Is it?")) == (state, turn, words)


@pytest.mark.rule("52", "53", "54", "56", "D15")
@pytest.mark.parametrize(
    ("name", "given", "what"),
    [
        ("zoom", '{"id":4,"n":4}', Zoom(4, 4)),
        ("zoom", '{"id":4}', Zoom(4, 1)),
        ("zoom", '{"id":"Ann"}', ZoomAgent("Ann")),
        ("zoom", '{"id":"Ann","n":2}', ZoomAgent("Ann", 2)),
        ("date", '{"id":4}', DateOf(4)),
        ("search", '{"words":"fsync"}', Search("fsync", 2)),
        ("at", '{"date":"yesterday"}', At("yesterday", 2)),
    ],
)
def test_the_memorys_tools_are_looks_of_the_owners(
    name: str, given: str, what: Looking, both_runtimes: Runtime
) -> None:
    with client(both_runtimes, [says("", use(name, given)), says("Seen.")]) as it:
        it.owner.answers[Look] = lambda look: Seen(look.ticket, "what is there", (PNG,))
        it.say("Look.")
        it.over()
    assert [what] == [look.what for look in it.owner.given(Look)]
    assert (Image("image/png", PNG)) == _unmarked(_results(it)[0].content[-1])
    assert (PNG,) == it.owner.log[2].images


@pytest.mark.parametrize("given", ['{"id":1.5}', '{"id":null}', "{}", '{"id":1,"n":"x"}', '{"id":[1]}'])
def test_a_look_that_is_none_is_told_to_the_model(given: str, both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", use("zoom", given)), says("Oh.")]) as it:
        it.say("Look.")
        assert "Oh." == it.over().reply
    (result,) = _results(it)
    assert result.failed
    assert "The input of zoom is wrong" in text_of(result.content)
    assert [] == it.owner.given(Look)


@pytest.mark.rule("52")
def test_what_is_not_there_is_a_failed_result(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", use("zoom", '{"id":9}')), says("Oh.")]) as it:
        it.owner.answers[Look] = lambda look: Seen(look.ticket, "No line 9+1.", found=False)
        it.say("Look.")
        it.over()
    assert (Result("u1", (Text("No line 9+1."),), failed=True)) == _unmarked(_results(it)[0])


# --- words meanwhile ---


@pytest.mark.rule("46")
def test_words_said_while_a_tool_runs_go_in_behind_its_result(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", use("read")), says("As you like.")]) as it:
        it.say("Do it.")
        it.until(ToolBegan)
        it.say("Not so.")
        _ended(it, "read this")
        assert "As you like." == it.over().reply
    assert ["user", "tool", "echo", "user", "eukhe"] == [kind for kind, _ in it.owner.said]
    assert [Text("Not so.")] == [block for block in map(_unmarked, _last(it)) if isinstance(block, Text)]


@pytest.mark.rule("46")
def test_words_said_while_the_last_reply_comes_get_one_of_their_own_in_the_same_turn(both_runtimes: Runtime) -> None:
    with client(both_runtimes) as it:
        it.say("Do it.")
        it.until(TurnLogged)
        call = asked(it)
        it.say("And that.")
        tell(it, call, *says("Done."))
        call = asked(it)
        tell(it, call, *says("That, too."))
        over = it.over()
    assert ["Do it.", "Done.", "And that.", "That, too."] == [text for _, text in it.owner.said]
    assert ((2, 3, 4, 5), 1) == (over.ids, len(it.owner.given(Wait)))


@pytest.mark.rule("46", "49")
def test_words_said_while_the_turn_waits_are_logged_behind_the_first_and_not_in_the_view(
    both_runtimes: Runtime,
) -> None:
    with client(both_runtimes, [says("Both.")]) as it:
        it.owner.silent.add(Wait)
        it.say("Do it.")
        (wait,) = given(it, Wait)
        it.say("And that.")
        answer(it, ViewTaken(wait.ticket, 2, (Part(0, 0), Part(0, 1)), (), None))
        it.over()
    assert [("user", "Do it."), ("user", "And that."), ("eukhe", "Both.")] == it.owner.said
    assert 1 == len(it.model.requests)


@pytest.mark.rule("46")
def test_words_said_while_the_last_reply_is_logged_begin_a_turn_of_their_own(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("Done.")]) as it:
        it.owner.answers[Append] = lambda append: None if append.entries[0].text == "Done." else it.owner.answer(append)
        it.say("Do it.")
        append = given(it, Append, 2)[1]
        it.say("And that.")
        heard_all(it)
        done = it.owner.answer(append)
        assert done is not None
        answer(it, done)
        assert ("Done.", (2, 3)) == _reply_and_ids(it)
        tell(it, asked(it), *says("That, too."))
        assert ("That, too.", (4, 5)) == _reply_and_ids(it)
    assert 2 == len(it.owner.given(Wait))


def _reply_and_ids(it: Client) -> tuple[str, tuple[int, ...]]:
    over = it.over()
    return over.reply, over.ids


# --- waiting for the view ---


@pytest.mark.rule("47", "D10")
def test_a_turn_says_what_it_waits_for_and_takes_the_view_as_it_is_when_it_has_waited_long_enough() -> None:
    with on("sim") as runtime, client(runtime, [says("Done.")]) as it:
        it.owner.silent.add(Wait)
        it.owner.answers[TakeView] = lambda take: ViewTaken(
            take.ticket, 2, (Part(0, 0), Part(0, 1)), (Part(0, 1),), None
        )
        it.say("Do it.")
        over = it.over()
    assert (20_000, 1) == (over.waited_ms, over.placeholders)
    waits = it.told(TurnWaits)
    assert len(waits) > 10
    assert {(1, 1, 20.0, "")} == {(wait.unbuilt, wait.running, wait.limit_s, wait.why) for wait in waits}
    (read,) = it.owner.given(ReadView)
    assert ((Part(0, 1),)) == read.unbuilt


@pytest.mark.rule("D13")
def test_an_outage_that_ends_the_wait_is_told() -> None:
    with on("sim") as runtime, client(runtime, [says("Done.")]) as it:
        it.owner.view = ViewTaken(0, 1, (Part(0, 0),), (Part(0, 0),), "529 overloaded")
        it.say("Do it.")
        it.over()
    assert ["529 overloaded"] == [began.paused for began in it.told(TurnBegan)]


def test_an_owner_that_says_nothing_is_said_to_say_nothing() -> None:
    with on("sim") as runtime, client(runtime, [says("Done.")]) as it:
        it.owner.silent |= {Wait, AskStatus}
        it.owner.answers[TakeView] = lambda take: ViewTaken(take.ticket, 0, (), (), None)
        it.say("Do it.")
        it.over()
    assert "does not answer" in it.told(TurnWaits)[0].why


@pytest.mark.rule("47")
def test_a_view_that_can_t_be_had_ends_the_turn_and_keeps_the_words(both_runtimes: Runtime) -> None:
    with client(both_runtimes) as it:
        it.owner.answers[Wait] = lambda wait: WaitFailed(wait.ticket, "the disk is full")
        it.say("Do it.")
        assert "the disk is full" == it.over().why
    assert [("user", "Do it.")] == it.owner.said
    assert [] == it.model.requests


def test_texts_that_come_twice_begin_one_turn(both_runtimes: Runtime) -> None:
    owner = Owner()
    owner.silent |= {AskTexts, ReadView}
    with client(both_runtimes, [says("Done.")], owner=owner) as it:
        it.say("Do it.")
        first, second = given(it, AskTexts, 2)
        (read,) = given(it, ReadView)
        answer(it, TextsInForce(first.ticket, texts()))
        answer(it, ViewTexts(read.ticket, ("one", "two")))
        answer(it, TextsInForce(second.ticket, texts()))
        assert "Done." == it.over().reply
    assert 2 == len(it.owner.said)


@pytest.mark.rule("51", "58")
def test_a_turn_that_a_report_begins_is_told_what_is_so_then(both_runtimes: Runtime) -> None:
    begins = use("agent", '{"name":"Ann","task":"Find it."}')
    with client(both_runtimes, [says("", begins), says("I let her."), says("Good.")]) as it:
        it.model.by_task["Find it."] = []
        it.say("Let Ann look.")
        it.over()
        it.state = "it is evening"
        tell(it, asked(it), *says("Found it."))
        it.over()
    first, *_, last = [str(request.talk.speeches[0]) for request in it.model.requests]
    assert ("it is noon" in first, "it is evening" in first) == (True, False)
    assert ("it is noon" in last, "it is evening" in last) == (False, True)


def test_what_no_log_can_hold_is_replaced(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("Done.")]) as it:
        it.state = "\ud83d"
        it.system.actors["turn"].tell(Say("half of one: \ud83d\0", ()))
        it.over()
    assert ("user", "half of one: \ufffd\ufffd") == it.owner.said[0]


@pytest.mark.parametrize("stage", [AskTexts, Wait, ReadView, Append, EnterPrefix, CallSent, CallOver])
def test_a_client_ends_though_its_owner_says_nothing_any_more(stage: type[Msg]) -> None:
    owner = Owner()
    owner.silent.add(stage)
    with on("sim") as runtime, client(runtime, [says("Done.")], owner=owner) as it:
        it.say("Do it.")
        given(it, stage)
        begun_s = it.clock.monotonic_s()
    assert it.clock.monotonic_s() - begun_s <= 2 * CLIENT_END_S
    assert not owner.accepted


def test_somebody_attends_from_the_first_word_to_the_last(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("Done.")]) as it:
        it.say("Do it.")
        it.over()
        (attend,) = it.owner.given(Attend)
    assert attend.ticket in [cancel.ticket for cancel in it.owner.given(Cancel)]
    kinds = [type(order) for _, order in it.owner.orders]
    assert kinds.index(Attend) < kinds.index(Wait)


def _ended(it: Client, text: str, *, failed: bool = False) -> None:
    """The tool that runs ends."""
    heard = when(it, lambda: next(iter(it.tools.running.items()), None))
    it.tools.running.pop(heard[0])
    heard[1](ToolEnded(text, failed=failed))


def _unmarked(block: Any) -> Any:
    return block if isinstance(block, Use | Thought) else msgspec.structs.replace(block, mark=False)


def _last(it: Client) -> tuple[Block, ...]:
    """The last speech of the last request."""
    return it.model.requests[-1].talk.speeches[-1].blocks


def _results(it: Client) -> list[Result]:
    return [block for block in _last(it) if isinstance(block, Result)]
