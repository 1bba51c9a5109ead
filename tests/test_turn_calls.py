"""A turn's calls, on both runtimes: the gate, what is counted, what is tried again, how a turn is stopped."""

import pytest

from eukhe.actors.messages import (
    Append,
    CallOver,
    CallResponded,
    CallSent,
    EnterPrefix,
    LeavePrefix,
    MayI,
    Permit,
    PrefixRead,
    ReadView,
    TurnLogged,
    TurnRetries,
    TurnSaid,
    ViewTexts,
)
from eukhe.actors.ports import Broke, Delta, Outage, Replied, Responding, ToolEnded, ToolSaid
from eukhe.actors.turn_desk import Mind
from eukhe.limits import TURN_TRIES_MAX
from eukhe.model.talk import Result, Text, text_of
from tests.actor_kit import Runtime, on
from tests.turn_kit import SECRET, USAGE, Answer, Client, answer, asked, client, given, heard_all, says, tell, use, when

DOWN = (Outage("529 overloaded"),)
CUT = (Responding(USAGE), Delta("text", "Half a "), Broke("the stream ended before the reply did", USAGE))


# --- the gate, and what is counted ---


@pytest.mark.rule("30")
def test_a_paid_call_enters_the_gate_is_counted_is_sent_says_it_is_read_leaves_and_says_what_it_cost(
    both_runtimes: Runtime,
) -> None:
    with client(both_runtimes, [says("Done.")]) as it:
        it.say("Do it.")
        it.over()
    of_calls = (EnterPrefix, CallSent, PrefixRead, CallResponded, LeavePrefix, CallOver)
    assert list(of_calls) == [type(order) for _, order in it.owner.orders if isinstance(order, of_calls)]
    (sent,), (responded,), (over,) = map(it.owner.given, (CallSent, CallResponded, CallOver))
    assert sent.call == responded.call == over.call
    assert ("turn", "anthropic/some", USAGE, "") == (sent.role, sent.model, over.usage, over.why)
    assert sent.blocks > len(it.model.requests[0].talk.tools)


def test_what_the_model_says_is_told_in_its_order() -> None:
    deltas = (Delta("text", "I look."), Delta("use", '{"id": 0}'))
    reply = says("I look.", use("date", '{"id": 0}'))
    with on("sim") as runtime, client(runtime, [(*deltas, reply[-1]), says("Done.")]) as it:
        it.say("Do it.")
        it.over()
    told = [(said.kind, said.text) for said in it.told(TurnSaid)]
    assert [("text", "I "), ("text", "look."), ("use", '{"id": '), ("use", "0}")] == told[:4]


@pytest.mark.rule("30")
def test_calls_of_a_turn_have_the_same_prefix_and_each_a_name_of_its_own(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", use("date", '{"id":0}')), says("Done.")]) as it:
        it.say("Do it.")
        it.over()
    assert 1 == len({enter.prefix for enter in it.owner.given(EnterPrefix)})
    assert 2 == len({sent.call for sent in it.owner.given(CallSent)})


@pytest.mark.rule("30")
def test_a_call_waits_before_the_gate(both_runtimes: Runtime) -> None:
    with client(both_runtimes) as it:
        it.owner.silent.add(EnterPrefix)
        it.say("Do it.")
        given(it, EnterPrefix)
        it.until(TurnLogged)
        assert [] == it.model.requests
        it.stop()
        it.over()
        assert 1 == len(given(it, LeavePrefix))
    assert [] == it.owner.given(CallOver)


def test_a_model_that_costs_nothing_passes_no_gate_and_is_not_counted(both_runtimes: Runtime) -> None:
    mind = Mind("builtin/recall", "medium", paid=False)
    with client(both_runtimes, [says("Done.")], mind=mind) as it:
        it.say("Do it.")
        assert "Done." == it.over().reply
    assert [] == [order for _, order in it.owner.orders if isinstance(order, EnterPrefix | CallSent | CallOver)]


# --- again, or not ---


@pytest.mark.rule("D13")
@pytest.mark.parametrize("failed", [DOWN, CUT])
def test_a_call_that_failed_is_sent_again_the_same_and_costs_what_all_tries_cost(failed: Answer) -> None:
    with on("sim") as runtime, client(runtime, [failed, failed, says("Done.")]) as it:
        it.say("Do it.")
        over = it.over()
    assert ("Done.", "") == (over.reply, over.why)
    assert [1.0, 2.0] == [retry.after_s for retry in it.told(TurnRetries)]
    assert 1 == len({request.talk for request in it.model.requests})
    assert [("user", "Do it."), ("eukhe", "Done.")] == it.owner.said
    assert 3 == len(it.owner.given(EnterPrefix)) == len(it.owner.given(LeavePrefix))
    assert USAGE.output * (3 if failed == CUT else 1) == over.usage.output
    whys = [call.why for call in it.owner.given(CallOver)]
    assert [True, True, False] == [bool(why) for why in whys]


@pytest.mark.rule("D13")
def test_a_provider_that_says_when_is_asked_then() -> None:
    with on("sim") as runtime, client(runtime, [(Outage("429", retry_after_s=30.0),), says("Done.")]) as it:
        it.say("Do it.")
        it.over()
        assert it.clock.monotonic_s() >= 30
    assert [30.0] == [retry.after_s for retry in it.told(TurnRetries)]


@pytest.mark.parametrize("failed", [DOWN, CUT])
def test_a_server_that_stays_dead_ends_the_turn_after_so_many_tries(failed: Answer) -> None:
    with on("sim") as runtime, client(runtime, [failed] * 9) as it:
        it.say("Do it.")
        over = it.over()
    assert f"{TURN_TRIES_MAX} tries were made" in over.why
    assert TURN_TRIES_MAX == len(it.model.requests)
    said = [("eukhe", "Half a [stopped]")] if failed == CUT else []
    assert [("user", "Do it."), *said] == it.owner.said


@pytest.mark.parametrize(
    ("event", "word"),
    [
        (Outage("401: no such key", key=True), "401: no such key"),
        (Broke("the request is too long", final=True), "too long"),
        (Outage("429", retry_after_s=7_200.0), "7200 s"),
    ],
)
def test_what_no_other_try_would_change_ends_the_turn_at_once(
    event: Outage | Broke, word: str, both_runtimes: Runtime
) -> None:
    with client(both_runtimes, [(event,), says("Never said.")]) as it:
        it.say("Do it.")
        over = it.over()
        assert word in over.why
        it.say("Again.")  # the next turn works
        assert "Never said." == it.over().reply
    assert 2 == len(it.model.requests)


def test_a_reply_that_is_none_of_a_turns_is_tried_again() -> None:
    with on("sim") as runtime, client(runtime, [(Replied("a line"),), says("Done.")]) as it:
        it.say("Do it.")
        assert "Done." == it.over().reply


def test_tries_are_counted_anew_for_each_request() -> None:
    down = [DOWN] * (TURN_TRIES_MAX - 1)
    answers = [*down, says("", use("date", '{"id":0}')), *down, says("Done.")]
    with on("sim") as runtime, client(runtime, answers) as it:
        it.say("Do it.")
        assert "Done." == it.over().reply


# --- stopped ---


@pytest.mark.rule("48")
def test_stopped_while_it_speaks_the_call_is_left_and_what_was_said_is_kept(both_runtimes: Runtime) -> None:
    with client(both_runtimes) as it:
        it.say("Do it.")
        call = asked(it)
        tell(it, call, Responding(USAGE), Delta("text", "I will now remove "))
        it.until(TurnSaid)
        it.stop()
        over = it.over()
    assert (True, "I will now remove [stopped]") == (over.stopped, over.reply)
    assert [("user", "Do it."), ("eukhe", "I will now remove [stopped]")] == it.owner.said
    assert [call] == it.model.stopped
    assert 1 == len(it.owner.given(LeavePrefix))
    assert [(USAGE, "stopped")] == [(call.usage, call.why) for call in it.owner.given(CallOver)]


@pytest.mark.rule("48")
def test_stopped_while_a_tool_runs_it_is_ended_and_its_call_has_its_result(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", use("read", "{}", "u1"), use("read", "{}", "u2"))]) as it:
        it.say("Do it.")
        when(it, lambda: it.tools.running)
        it.stop()
        assert it.over().stopped
    assert ["user", "tool", "echo", "tool", "echo"] == [kind for kind, _ in it.owner.said]
    assert ["stopped", "stopped before it began"] == [text for kind, text in it.owner.said if kind == "echo"]
    assert 1 == len(it.tools.stopped)
    assert [] == list(it.tools.running)


def test_stopped_while_a_text_is_on_its_way_to_the_disk_nothing_follows_it(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", use("read"))]) as it:
        it.owner.answers[Append] = lambda append: None if _has(append, "tool") else it.owner.answer(append)
        it.say("Do it.")
        append = when(it, lambda: next((append for append in it.owner.given(Append) if _has(append, "tool")), None))
        it.stop()
        heard_all(it)
        done = it.owner.answer(append)
        assert done is not None
        answer(it, done)
        assert it.over().stopped
    assert [] == it.tools.runs
    assert [("user", "Do it."), ("tool", "read {}"), ("echo", "stopped")] == it.owner.said


def _has(append: Append, kind: str) -> bool:
    return kind in [entry.kind for entry in append.entries]


def test_stopped_while_it_waits_to_try_again_it_tries_no_more() -> None:
    with on("sim") as runtime, client(runtime, [CUT, says("Never said.")]) as it:
        it.say("Do it.")
        it.until(TurnRetries)
        it.stop()
        assert it.over().stopped
    assert 1 == len(it.model.requests)
    assert [("user", "Do it."), ("eukhe", "Half a [stopped]")] == it.owner.said


def test_the_next_turn_works_whenever_the_one_before_was_stopped() -> None:
    """At each step of a turn in which a tool runs."""
    for step in range(200):
        with on("sim") as runtime, client(runtime, [says("I look.", use("read"))]) as it:
            it.tools.answers["read"] = [[ToolSaid("this"), ToolEnded("this")]]
            it.model.answers += [says("It is this.")]
            it.say("Look.")
            ran = 0
            while ran < step and not it.over_was_heard():
                it.scheduler.step()
                ran += 1
            done = ran < step
            it.stop()
            it.over()
            it.model.answers = [says("Of course.")]
            it.say("Another.")
            assert "Of course." == it.over().reply
        said = it.owner.said
        assert [("user", "Another."), ("eukhe", "Of course.")] == said[-2:]
        assert ("user", "Look.") == said[0]
        kinds = [kind for kind, _ in said]
        assert [at + 1 for at, kind in enumerate(kinds) if kind == "tool"] == [
            at for at, kind in enumerate(kinds) if kind == "echo"
        ]
        if done:
            return
    raise AssertionError("the turn never ended by itself")


# --- leave, and secrets ---


def test_a_tool_that_needs_leave_runs_when_the_user_says_yes(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", use("bash", '{"command":"ls"}')), says("Done.")]) as it:
        it.tools.answers["bash"] = [[ToolEnded("file")]]
        it.say("Do it.")
        asks = it.until(MayI)
        assert ("bash", "ls", []) == (asks.name, asks.shown, it.tools.runs)
        it.tell(Permit(asks.call, True))
        assert "Done." == it.over().reply
    assert [("bash", '{"command":"ls"}')] == it.tools.runs


def test_what_is_always_allowed_is_asked_for_once(both_runtimes: Runtime) -> None:
    bash = use("bash", '{"command":"ls"}')
    with client(both_runtimes, [says("", bash), says("", bash), says("Done.")]) as it:
        it.tools.answers["bash"] = [[ToolEnded("file")]] * 2
        it.say("Do it.")
        it.tell(Permit(it.until(MayI).call, True, always=True))
        it.over()
    assert 1 == len(it.told(MayI))
    assert 2 == len(it.tools.runs)


@pytest.mark.parametrize("attended", [True, False])
def test_what_is_not_allowed_is_told_to_the_model(attended: bool, both_runtimes: Runtime) -> None:
    answers = [says("", use("bash", '{"command":"ls"}')), says("Then not.")]
    with client(both_runtimes, answers, attended=attended) as it:
        it.say("Do it.")
        if attended:
            it.tell(Permit(it.until(MayI).call, False))
        assert "Then not." == it.over().reply
    assert [] == it.tools.runs
    (result,) = [block for block in it.model.requests[1].talk.speeches[-1].blocks if isinstance(block, Result)]
    assert result.failed
    assert "allow" in text_of(result.content)


def test_stopped_while_it_asks_a_late_yes_runs_nothing(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", use("bash", '{"command":"ls"}'))]) as it:
        it.say("Do it.")
        asks = it.until(MayI)
        it.stop()
        it.tell(Permit(asks.call, True))
        assert it.over().stopped
    assert [] == it.tools.runs


@pytest.mark.rule("D16")
def test_a_secret_is_nowhere_but_in_the_tool_that_runs(both_runtimes: Runtime) -> None:
    mark = "[secret STAPLE_TOKEN"
    with client(both_runtimes, rules=["bash"]) as it:
        it.tools.answers["bash"] = [[ToolSaid(f"it is {SECRET}\n"), ToolEnded(f"it is {SECRET}\n")]]
        it.owner.answers[ReadView] = lambda read: ViewTexts(read.ticket, (f"user: {SECRET}", "eukhe: as it was before"))
        it.state = f"folder {SECRET}"
        it.say(f"Use {SECRET}.")
        call = asked(it)
        words = next(block.text for block in reversed(_texts(it)) if mark in block.text)
        told = words[words.index("[") : words.index("]") + 1]
        bash = use("bash", f'{{"command":"echo {told}"}}')
        tell(it, call, Delta("text", f"With {SECRET} I "), *says(f"With {SECRET} I try.", bash)[2:])
        tell(it, asked(it), *says(f"It was {SECRET}."))
        over = it.over()
    assert [("bash", f'{{"command":"echo {SECRET}"}}')] == it.tools.runs
    everything = f"{it.owner.said} {it.events} {it.model.requests} {over}"
    assert SECRET not in everything
    assert 5 == sum(text.count(mark) for _, text in it.owner.said)


def _texts(it: Client) -> list[Text]:
    return [block for block in it.model.requests[-1].talk.speeches[0].blocks if isinstance(block, Text)]
