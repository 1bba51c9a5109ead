"""The whole owner on a machine that stops anywhere, loses power, and starts again. Faults 12, 20."""

import pytest

from tests.sim.sim_kit import run

SEEDS = 250


@pytest.mark.rule("6", "D1", "D2", "D7", "D8")
@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_what_was_acknowledged_is_there_and_all_ends_well_after_any_crash(first: int) -> None:
    for seed in range(first, first + 50):
        run(seed)


@pytest.mark.slow
@pytest.mark.rule("6", "D1", "D2", "D7", "D8")
@pytest.mark.parametrize("first", range(SEEDS, SEEDS + 5_000, 500))
def test_the_same_of_many_more_seeds(first: int) -> None:
    for seed in range(first, first + 500):
        run(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_the_same_of_long_chats(seed: int) -> None:
    run(seed, messages=400, crashes=30)
