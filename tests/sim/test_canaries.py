"""Each known bug is found soon, by a check that is about it; where none is planted, nothing is found."""

import json

import pytest

from eukhe.cli.main import run as cli
from eukhe.sim.canaries import CANARIES, playing
from eukhe.sim.chaos import Outcome, run
from eukhe.sim.checks import CHECKS
from eukhe.sim.options import draw
from eukhe.sim.runs import run_all

SEEDS = (1, 1_001, 2_001, 3_001, 4_001)
RUNS = 200
CLEAN = 6
Capture = pytest.CaptureFixture[str]


def found(name: str, first: int) -> Outcome:
    """The first run that fails, of so many seeds from `first` on."""
    for outcome in map(playing(name), map(draw, range(first, first + RUNS))):
        if outcome.failure is not None:
            return outcome
    pytest.fail(f"{name} was not found: eukhe chaos --seed {first} --runs {RUNS} --canary {name}")


@pytest.mark.parametrize("first", SEEDS)
@pytest.mark.parametrize("name", CANARIES)
def test_a_bug_is_found_by_a_check_that_is_about_it(name: str, first: int) -> None:
    outcome = found(name, first)
    assert outcome.failure is not None
    assert outcome.failure.check in CANARIES[name].checks, f"seed {outcome.options.seed}: {outcome.failure}"


@pytest.mark.parametrize("first", SEEDS)
def test_where_none_is_planted_nothing_is_found(first: int) -> None:
    for seed in range(first, first + CLEAN):
        assert run(draw(seed)).failure is None, seed


@pytest.mark.slow
@pytest.mark.parametrize("first", SEEDS)
def test_nor_is_it_in_all_the_runs_that_a_bug_may_take(first: int) -> None:
    for seed in range(first + CLEAN, first + RUNS):
        assert run(draw(seed)).failure is None, seed


@pytest.mark.parametrize("name", CANARIES)
def test_what_was_right_is_right_again_whatever_happens_meanwhile(name: str) -> None:
    canary = CANARIES[name]
    right = getattr(canary.owner, canary.name)
    with pytest.raises(ZeroDivisionError), canary.planted():
        assert right is not getattr(canary.owner, canary.name)
        raise ZeroDivisionError
    assert right is getattr(canary.owner, canary.name)


@pytest.mark.parametrize("name", CANARIES)
def test_a_canary_names_checks_that_there_are(name: str) -> None:
    assert CANARIES[name].checks
    assert set(CANARIES[name].checks) <= CHECKS.keys()


@pytest.mark.usefixtures("no_pool_left")
def test_a_bug_is_planted_in_every_process() -> None:
    drawn = [draw(seed) for seed in range(1, 9)]
    outcomes = list(run_all(drawn, 2, playing("ack-before-fsync")))
    assert ["acknowledged"] * 8 == [outcome.failure.check for outcome in outcomes if outcome.failure is not None]


# --- the command ---


def test_the_command_lists_what_each_is(capsys: Capture) -> None:
    assert 0 == cli(["chaos", "--list-canaries"])
    listed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert {name: canary.what for name, canary in CANARIES.items()} == listed
    assert 0 == cli(["chaos", "--list-canaries", "--json"])
    assert {"canaries": listed} == json.loads(capsys.readouterr().out)


def test_the_command_fails_where_a_bug_is_found_and_says_how_to_see_it_again(capsys: Capture) -> None:
    given = ["chaos", "--canary", "nine-calls", "--jobs", "1"]
    assert 1 == cli([*given, "--json"])
    failure = json.loads(capsys.readouterr().out)["failure"]
    assert "calls-at-most" == failure["check"]
    assert 1 == cli(failure["replay"].split()[1:])
    *_, again = capsys.readouterr().out.splitlines()
    assert f"replay: {failure['replay']}" == again


def test_it_ends_well_where_a_bug_is_not_found(capsys: Capture) -> None:
    assert 0 == cli(["chaos", "--canary", "nine-calls", "--steps", "0", "--runs", "3", "--jobs", "1"])
    assert "3 runs" in capsys.readouterr().out


def test_it_knows_no_other_bug(capsys: Capture) -> None:
    assert 2 == cli(["chaos", "--canary", "ten-calls"])
    assert "no such canary: ten-calls" in capsys.readouterr().err
