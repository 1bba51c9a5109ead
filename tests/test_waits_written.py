"""A turn that waits while a line is on its way to the disk. D5."""

import pytest

from eukhe.actors.messages import Cancel, Logged, Written
from eukhe.model.part import Part
from tests.planner_kit import LONG, last_order, orders
from tests.waits_kit import TURN, done, merging

pytestmark = pytest.mark.usefixtures("both_runtimes")


@pytest.mark.rule("38", "D5")
def test_a_line_on_its_way_to_the_disk_is_not_stopped_by_a_wait_and_not_ordered_again() -> None:
    actor, merge = merging()
    actor.receive(Logged(2, (LONG,)))
    on_its_way = last_order(actor.receive(done(merge, Part(1, 0))))
    actor.receive(TURN)
    assert {} == orders(actor.receive(Cancel("door", 1)))
    assert {} == orders(actor.receive(Written((Part(1, 0),), on_its_way)))
