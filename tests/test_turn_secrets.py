"""Secrets in a turn: which tools get their values, and what remembers none."""

import pytest

from eukhe.actors.messages import BeginAgent, MayI, Permit
from eukhe.actors.ports import ToolEnded
from eukhe.model.secrets import Secrets
from tests.actor_kit import Runtime
from tests.turn_kit import SECRET, SECRETS, client, says, use

MARK = Secrets(SECRETS).hide(SECRET)


@pytest.mark.rule("D16")
def test_a_rule_that_would_hold_a_secret_is_neither_offered_nor_remembered(both_runtimes: Runtime) -> None:
    bash = use("bash", f'{{"command":"echo {MARK}"}}')
    with client(both_runtimes, [says("", bash), says("", bash), says("Done.")]) as it:
        it.tools.answers["bash"] = [[ToolEnded("x")]] * 2
        it.say("Do it.")
        first = it.until(MayI)
        assert (f"echo {MARK}", "") == (first.shown, first.rule)
        it.tell(Permit(first.call, True, always=True))
        it.tell(Permit(it.until(MayI, lambda asks: asks.call != first.call).call, True))
        it.over()
    assert 2 * [("bash", f'{{"command":"echo {SECRET}"}}')] == it.tools.runs


@pytest.mark.rule("D16")
def test_a_subagents_task_keeps_the_marks_since_it_is_logged_and_sent(both_runtimes: Runtime) -> None:
    agent = use("agent", f'{{"name":"Bob","task":"Use {MARK}."}}')
    with client(both_runtimes, [says("", agent), says("Begun."), says("Used."), says("Done.")]) as it:
        it.say("Have Bob use it.")
        it.over()
    assert it.owner.given(BeginAgent)
    assert SECRET not in f"{it.model.requests} {it.owner.given(BeginAgent)} {it.events}"
