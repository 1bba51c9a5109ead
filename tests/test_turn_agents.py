"""Subagents of a client, on both runtimes: how they begin, where they are logged, what becomes of their reports."""

import pytest

from eukhe.actors.messages import (
    AgentBegan,
    AgentLogged,
    AgentNamed,
    AgentOver,
    AgentSaid,
    Append,
    AppendFailed,
    Attend,
    BeginAgent,
    CallSent,
    Cancel,
    TurnOver,
    Wait,
)
from eukhe.actors.ports import Outage, ToolEnded
from eukhe.limits import AGENT_WANTED_CHARS_MAX, AGENTS_MAX
from eukhe.model.prompt import texts
from eukhe.model.talk import Text, Use
from tests.actor_kit import Runtime
from tests.turn_kit import Client, answer, asked, client, given, heard_all, says, tell, use, when

TASK = "Find the bug."


def begins(name: str = "Ann", task: str = TASK, id_: str = "u1") -> Use:
    return use("agent", f'{{"name":"{name}","task":"{task}"}}', id_)


def rests(it: Client) -> None:
    """The client has nothing to do any more."""
    when(it, lambda: it.owner.given(Cancel))


@pytest.mark.rule("57", "58")
def test_a_subagent_begins_at_once_and_its_report_joins_the_turn_that_runs(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins())]) as it:
        it.model.by_task[TASK] = [says("Found it.")]
        it.say("Let Ann look.")
        when(it, lambda: len(it.owner.agents.get("Ann", ())) == 2)
        heard_all(it)
        tell(it, asked(it), *says("I let her."))
        tell(it, asked(it), *says("She found it."))
        over = it.until(TurnOver)
    assert "She found it." == over.reply
    assert [
        ("user", "Let Ann look."),
        ("tool", f'agent {{"name":"Ann","task":"{TASK}"}}'),
        ("echo", "[Ann] has begun; its report comes as a message, so do not wait for it."),
        ("eukhe", "I let her."),
        ("work", "[Ann] Found it."),
        ("eukhe", "She found it."),
    ] == it.owner.said
    assert [("user", TASK), ("eukhe", "Found it.")] == [(entry.kind, entry.text) for entry in it.owner.agents["Ann"]]
    assert [AgentBegan("Ann", TASK)] == it.told(AgentBegan)
    assert [AgentOver("Ann", "Found it.", 6)] == it.told(AgentOver)


@pytest.mark.rule("58")
def test_a_report_that_comes_when_the_turn_is_over_begins_another(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins()), says("I let her."), says("She found it.")]) as it:
        it.model.by_task[TASK] = []
        it.say("Let Ann look.")
        assert "I let her." == it.over().reply
        tell(it, asked(it), *says("Found it."))
        assert "She found it." == it.over().reply
        rests(it)
    assert [("work", "[Ann] Found it."), ("eukhe", "She found it.")] == it.owner.said[-2:]
    assert 1 == len(it.owner.given(Attend)) == len(it.owner.given(Cancel))


@pytest.mark.rule("57")
def test_a_subagent_has_its_masters_view_and_tools_and_its_task_but_no_mark_of_a_turn(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins()), says("I let her."), says("Good.")]) as it:
        it.model.by_task[TASK] = [says("", use("read")), says("Found it.")]
        it.tools.answers["read"] = [[ToolEnded("this")]]
        it.say("Let Ann look.")
        it.until(AgentOver)
        it.until(TurnOver)
    its = [request.talk for request in it.model.requests if TASK in str(request.talk.speeches[0])]
    masters = it.model.requests[0].talk
    assert 2 == len(its)
    for talk in its:
        blocks = [block for block in talk.speeches[0].blocks if isinstance(block, Text)]
        assert texts().turn not in [block.text for block in blocks]
        assert (masters.system, masters.tools) == (talk.system, talk.tools)
        assert masters.speeches[0].blocks[0] == blocks[0]
    assert {"turn", "agent"} == {sent.role for sent in it.owner.given(CallSent)}
    assert ["user", "tool", "echo", "eukhe"] == [entry.kind for entry in it.owner.agents["Ann"]]


def test_a_name_that_is_longer_than_an_owner_takes_is_cut(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins("x" * 10_000)), says("I let it."), says("Good.")]) as it:
        it.model.by_task[TASK] = [says("Found it.")]
        it.say("Let somebody look.")
        it.until(AgentOver)
        it.until(TurnOver)
    assert ["x" * AGENT_WANTED_CHARS_MAX] == [order.wanted for order in it.owner.given(BeginAgent)]


@pytest.mark.rule("57")
def test_a_subagent_starts_no_other(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins()), says("I let her."), says("Good.")]) as it:
        it.model.by_task[TASK] = [says("", begins("Bob", "More.")), says("I did it myself.")]
        it.say("Let Ann look.")
        it.until(AgentOver)
        it.until(TurnOver)
    assert ["Ann"] == list(it.owner.agents)
    assert "starts no others" in it.owner.agents["Ann"][2].text


@pytest.mark.rule("58")
def test_a_subagent_that_fails_says_so_and_why(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins()), says("I let her."), says("A pity.")]) as it:
        it.model.by_task[TASK] = [(Outage("401: no such key", key=True),)]
        it.say("Let Ann look.")
        it.until(AgentOver)
        it.until(TurnOver)
    assert ("work", "[Ann] failed: 401: no such key") in it.owner.said


def test_a_subagent_that_can_t_be_logged_fails(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins()), says("I let her."), says("A pity.")]) as it:
        it.owner.answers[AgentSaid] = lambda said: AgentLogged(said.ticket, "the disk is full")
        it.say("Let Ann look.")
        it.until(AgentOver)
        it.until(TurnOver)
    assert ("work", "[Ann] failed: the disk is full") in it.owner.said


def test_a_subagent_whose_log_can_t_be_begun_does_not_begin(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins()), says("A pity.")]) as it:
        it.owner.answers[BeginAgent] = lambda begin: AgentNamed(begin.ticket, "Ann", "the disk is full")
        it.say("Let Ann look.")
        assert "A pity." == it.over().reply
    assert ("echo", "the disk is full") in it.owner.said
    assert [] == it.told(AgentBegan)


@pytest.mark.parametrize("wrong", ['{"name":"Ann"}', '{"name":1,"task":"x"}', '{"name":"Ann","task":" "}'])
def test_a_subagent_without_a_task_does_not_begin(wrong: str, both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", use("agent", wrong)), says("Oh.")]) as it:
        it.say("Let Ann look.")
        it.over()
    assert [] == it.owner.given(BeginAgent)


def test_so_many_work_at_a_time_and_more_wait_for_one_of_them_to_end(both_runtimes: Runtime) -> None:
    tasks = [f"Task {k}." for k in range(AGENTS_MAX + 2)]
    uses = [begins(f"A{k}", task, f"u{k}") for k, task in enumerate(tasks)]
    with client(both_runtimes, [says("", *uses), says("They work.")]) as it:
        it.model.by_task = {task: [] for task in tasks}
        it.say("Let them.")
        it.over()
        calls = when(it, lambda: list(it.model.running) if len(it.model.running) >= AGENTS_MAX else None)
        assert AGENTS_MAX == len(calls)
        assert len(tasks) == len(it.told(AgentBegan))
        it.model.answers += [says("One is done."), says("Two are.")]
        tell(it, calls[0], *says("Done."))
        when(it, lambda: len(set(it.model.running) - set(calls)) == 1)
        it.stop()
        it.until(AgentOver)


@pytest.mark.rule("58")
def test_stopped_subagents_are_logged_and_begin_no_turn(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins()), says("I let her.")]) as it:
        it.model.by_task[TASK] = []
        it.say("Let Ann look.")
        it.over()
        asked(it)
        it.stop()
        assert AgentOver("Ann", "stopped", 6) == it.until(AgentOver)
        rests(it)
    assert ("work", "[Ann] stopped") == it.owner.said[-1]
    assert [] == list(it.model.running)


def test_a_turn_that_is_stopped_while_a_subagent_gets_its_name_begins_none(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins())]) as it:
        it.owner.silent.add(BeginAgent)
        it.say("Let Ann look.")
        (begin,) = given(it, BeginAgent)
        it.stop()
        it.over()
        answer(it, AgentNamed(begin.ticket, "Ann"))
        it.say("Another.")
        tell(it, asked(it), *says("Yes."))
        it.over()
    assert [] == it.told(AgentBegan)


def test_a_client_that_ends_stops_what_goes_on_and_logs_it(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins())]) as it:
        it.model.by_task[TASK] = []
        it.say("Let Ann look.")
        when(it, lambda: len(it.model.running) == 2)
    assert ("work", "[Ann] stopped") in it.owner.said
    assert [] == list(it.model.running)
    assert not it.owner.accepted


def test_of_a_report_that_can_t_be_logged_the_edge_is_told_too(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins()), says("I let her.")]) as it:
        it.model.by_task[TASK] = []
        it.say("Let Ann look.")
        it.until(TurnOver)
        it.owner.answers[Append] = lambda append: AppendFailed(append.ticket, "the disk is full")
        tell(it, asked(it), *says("Found it."))
        assert AgentOver("Ann", "Found it.", -1) == it.until(AgentOver)
        assert "the disk is full" == it.over().why
        rests(it)


def test_of_a_report_that_waits_for_a_view_the_edge_is_told_when_no_owner_can_be_had(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("", begins()), says("I let her.")]) as it:
        it.model.by_task[TASK] = []
        it.say("Let Ann look.")
        it.until(TurnOver)
        it.owner.silent.add(Wait)
        tell(it, asked(it), *says("Found it."))
        given(it, Wait, 2)
        it.owner.dies(next_one=False)
        assert AgentOver("Ann", "Found it.", -1) == it.until(AgentOver)
        it.over()
