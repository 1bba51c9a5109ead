"""With push's list length as its budget, due order makes exactly push's merges at each of the steps t = 0 to 20,000."""

import pytest

from laws.push import Race

STEPS = 20_000


@pytest.mark.rule("20", "21")
def test_due_order_makes_pushs_merges_at_every_step_to_20_000() -> None:
    race = Race([], STEPS)
    left = []
    for _ in range(STEPS + 1):
        if not race.agrees:
            left.append(race.t)
        race.step()
    assert [] == left
