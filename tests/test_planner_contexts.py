"""A call's lines are on disk before its compactor is told to read them. Rules 34, 41, F1."""

import pytest

from eukhe.actors.messages import Logged, Written
from eukhe.model.part import Part
from tests.planner_kit import LONG, SHORT, last_order, orders, planner

pytestmark = pytest.mark.usefixtures("both_runtimes")


@pytest.mark.rule("34", "41", "F1")
def test_a_call_whose_lines_are_read_waits_until_they_are_on_disk() -> None:
    actor = planner(contexts=True, reads_contexts=True)
    logged = actor.receive(Logged(0, (SHORT, LONG)))
    assert {} == orders(logged)
    assert {Part(0, 1)} == set(orders(actor.receive(Written((Part(0, 0),), last_order(logged)))))


def test_one_whose_lines_nobody_reads_waits_for_nothing() -> None:
    actor = planner(contexts=True)
    assert {Part(0, 1)} == set(orders(actor.receive(Logged(0, (SHORT, LONG)))))
