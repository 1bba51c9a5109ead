"""`eukhe chaos`: what it prints, how it exits, and that a run can be had again."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eukhe.cli.chaos import JSON_KEYS, TAPE, Found
from eukhe.sim.canaries import playing
from eukhe.sim.chaos import Outcome, run
from eukhe.sim.faults import FAULTS
from eukhe.sim.options import Options, draw
from eukhe.sim.tape import Tape, read, write
from tests.chat_kit import EUKHE, Ran, eukhe
from tests.leaks import comes_true, descendants

FEW = ("--steps", "300")
BUG = ("--canary", "ack-before-fsync")


def chaos(home: Path, *args: str | Path) -> Ran:
    return eukhe(home, "chaos", *args)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_runs_in_which_nothing_is_found_end_with_a_table_of_faults_and_a_digest(home: Path) -> None:
    ran = chaos(home, "--seed", "3", "--runs", "6", *FEW)
    lines = ran.out.splitlines()
    assert (0, "seeds 3 to 8, 300 steps each") == (ran.code, lines[0])
    assert ["fault", "drawn", "injected", "met", "what"] == lines[1].split()
    assert {line.split()[0] for line in lines[2 : lines.index("")]} <= FAULTS.keys()
    assert lines[-2].startswith("6 runs, ")
    assert lines[-2].endswith(": nothing was found")
    assert lines[-1].startswith("digest ")
    assert not home.exists()


def test_json_has_the_keys_that_are_documented_and_the_same_digest_on_any_number_of_processes(home: Path) -> None:
    found = [chaos(home, "--runs", "6", *FEW, "--jobs", jobs, "--json").json for jobs in ("1", "2")]
    assert found[0].keys() | {"canaries", "faultsKnown"} == set(JSON_KEYS)
    assert (6, None) == (found[0]["runs"], found[0]["failure"])
    assert all({"drawn", "injected", "met"} == counts.keys() for counts in found[0]["faults"].values())
    for one in found:
        del one["stepsPerSecond"]
    assert found[0] == found[1]


def test_a_single_run_says_its_options_first(home: Path) -> None:
    ran = chaos(home, "--seed", "9", "--runs", "1", *FEW, "--only", "kill,cut")
    first, second, *_ = ran.out.splitlines()
    assert (0, True) == (ran.code, first.startswith("seed 9, steps 300, clients "))
    assert "faults: kill 1:" in second
    assert ", cut 1:" in second


def test_a_fault_that_is_skipped_is_not_in_the_table(home: Path) -> None:
    found = chaos(home, "--runs", "4", *FEW, "--skip", "kill,power", "--json").json
    assert {"kill", "power"}.isdisjoint(found["faults"])


def test_a_run_that_fails_says_the_check_the_last_steps_and_how_to_have_it_again(home: Path) -> None:
    ran = chaos(home, "--runs", "5", *FEW, *BUG)
    assert (1, True) == (ran.code, "FAILED at step " in ran.out)
    assert ": acknowledged: what was acknowledged is on the disk, synced" in ran.out
    assert "the last 30 steps:" in ran.out
    replay = ran.out.splitlines()[-1].removeprefix("replay: eukhe chaos ").split()
    assert ["--runs", "1", "--steps", "300", *BUG] == replay[2:]
    again = chaos(home, *replay)
    assert (1, ran.out[ran.out.index("FAILED") :]) == (again.code, again.out[again.out.index("FAILED") :])


def test_a_failure_is_shrunk_onto_a_tape_that_fails_in_the_same_way(home: Path, tmp_path: Path) -> None:
    tape = tmp_path / "short.json"
    found = chaos(home, "--runs", "5", *FEW, *BUG, "--shrink", tape, "--json").json
    options = json.loads(tape.read_bytes())["options"]
    assert ({}, 1, 1) == (options["odds"], options["clients"], options["jobs"])
    assert f"eukhe chaos --replay {tape} --canary ack-before-fsync" == found["failure"]["replay"]
    again = chaos(home, "--replay", tape, *BUG, "--json")
    assert (1, found["failure"]["lastSteps"]) == (again.code, again.json["failure"]["lastSteps"])


def test_a_tape_that_is_not_named_lies_in_this_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert 1 == chaos(home, "--runs", "5", *FEW, "--shrink", *BUG).code
    assert 1 == chaos(home, "--replay", TAPE, *BUG).code


def test_a_tape_that_can_not_be_written_loses_no_finding(home: Path, tmp_path: Path) -> None:
    tape = tmp_path / "none" / "tape.json"
    ran = chaos(home, "--runs", "5", *FEW, *BUG, "--shrink", tape)
    assert (1, True) == (ran.code, "FAILED at step " in ran.out)
    assert ran.out.endswith(f" --runs 1 --steps 300 {' '.join(BUG)}\n")
    assert f"{tape}: No such file or directory: nothing is shortened\n" == ran.err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_the_first_of_very_many_runs_finds_is_said_at_once(home: Path, jobs: str) -> None:
    found = chaos(home, "--runs", "1000000000", *FEW, *BUG, "--jobs", jobs, "--json").json
    assert "acknowledged" == found["failure"]["check"]


def interrupted(options: Options) -> Outcome:
    if options.seed == 3:
        raise KeyboardInterrupt
    return run(options)


def test_ctrl_c_says_what_was_done_until_then() -> None:
    found = Found([draw(seed, 10) for seed in range(1, 6)], 5, interrupted, lambda _: "", "")
    with pytest.raises(KeyboardInterrupt, match="nothing was found in the 2 runs that ended"):
        found.run(1, None)


def test_ctrl_c_while_a_run_is_shortened_leaves_it_on_its_tape(tmp_path: Path) -> None:
    tape = tmp_path / "a tape"
    play = playing(BUG[1])
    plays: list[Options] = []

    def once(options: Options) -> Outcome:
        plays.append(options)
        if len(plays) > 1:
            raise KeyboardInterrupt
        return play(options)

    with pytest.raises(KeyboardInterrupt, match=rf"not shortened: eukhe chaos --replay '{tape}'$"):
        Found([draw(1, 300)], 1, once, lambda _: "", "").run(1, tape)
    assert Tape(draw(1, 300), "acknowledged") == read(tape)


def test_the_faults_are_listed_in_the_order_of_the_table(home: Path) -> None:
    listed = chaos(home, "--list-faults", "--json").json["faultsKnown"]
    assert {name: fault.what for name, fault in FAULTS.items()} == listed
    assert list(FAULTS) == [line.split()[0] for line in chaos(home, "--list-faults").out.splitlines()]
    found = chaos(home, "--runs", "3", *FEW, "--json").json
    assert [name for name in FAULTS if name in found["faults"]] == list(found["faults"])
    assert [name for name in FAULTS if name in found["notMet"]] == found["notMet"]


def test_a_tape_is_played_alone(home: Path, tmp_path: Path) -> None:
    tape = tmp_path / "tape.json"
    write(tape, Tape(draw(7, 200)))
    ran = chaos(home, "--replay", tape)
    assert (0, True) == (ran.code, ran.out.startswith("seed 7, steps 200, "))


@pytest.mark.parametrize("tape", ["{}", "not JSON", ""])
def test_a_file_that_is_no_tape_is_said_so(home: Path, tmp_path: Path, tape: str) -> None:
    path = tmp_path / "tape.json"
    path.write_text(tape)
    ran = chaos(home, "--replay", path)
    assert (1, True) == (ran.code, f"{path}: is no tape: " in ran.err)


def test_a_tape_that_is_not_there_is_said_so(home: Path, tmp_path: Path) -> None:
    ran = chaos(home, "--replay", tmp_path / "none")
    assert (1, True) == (ran.code, "No such file" in ran.err)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--only", "kil"), "no such fault: kil; there are kill, "),
        (("--skip", "kill,nothing"), "no such fault: nothing"),
        (("--only", ""), "no fault is named; there are kill, "),
        (("--skip", " , "), "no fault is named; there are kill, "),
        (("--runs", "0"), "0 is not in the range"),
        (("--canary", "none"), "no such canary: none"),
        (("--replay", "tape.json", "--seed", "3", "--only", "kill"), "a tape has its own --seed, --only"),
    ],
)
def test_a_name_or_number_that_is_none_is_wrong_usage(home: Path, args: tuple[str, ...], said: str) -> None:
    ran = chaos(home, *args)
    assert (2, True) == (ran.code, said in ran.err)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
@pytest.mark.parametrize("children", [0, 1, 2, 3, 4])
def test_ctrl_c_ends_it_and_its_processes_however_many_have_started(tmp_path: Path, children: int) -> None:
    with subprocess.Popen(
        [*EUKHE, "chaos", "--runs", "100000", "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
        cwd=tmp_path,
    ) as process:
        assert process.stdout is not None
        assert "seeds 1 to 100000" in process.stdout.readline()
        assert comes_true(lambda: len(descendants(process.pid)) >= children)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (130, 1) == (process.returncode, len(err.splitlines()))
    assert err.startswith("eukhe: interrupted")
    assert comes_true(lambda: not is_group(process.pid))


def is_group(pid: int) -> bool:
    """Whether there are processes of this one's group."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True
