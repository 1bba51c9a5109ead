"""Scenarios of the planner, and tools/replay.py, which prints what they give."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.part import Part
from eukhe.model.scenario import ScenarioError, digest, expected_form, made_up, replay

REPLAY = Path(__file__).resolve().parents[1] / "tools" / "replay.py"
SCENARIO = "config ceiling=58 floor=0 jobs=2\nmessage\nbuilt 0 0 7\n\nmessage\nrender\ncontext 0 1\n"


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([sys.executable, REPLAY, *arguments], capture_output=True, check=False)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("nonsense", "no such command"),
        ("message 5", "no such command, or not with these numbers"),
        ("take 0 0", "no such command, or not with these numbers"),
        ("start 3", "no such command, or not with these numbers"),
        ("start 0 0 7", "no such command, or not with these numbers"),
        ("built 0 0", "no such command, or not with these numbers"),
        ("built 0 0 -5", "-5 is no whole number"),
        ("built 0 zero 5", "zero is no whole number"),
        ("built 0 0 5.5", "5.5 is no whole number"),
        ("built 4000000000000 0 5", "no node has the level 4000000000000"),
        ("config ceiling=1", "config is the first command, and only that"),
    ],
)
def test_a_line_that_is_no_command_is_named_with_its_number_and_why(command: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        list(replay(["config", "message", command]))
    assert f"line 3: {command}: {says}" in str(caught.value)


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("message", "config is the first command, and only that"),
        ("config roof=5", "no limit is named roof"),
        ("config ceiling", "nothing is no whole number"),
        ("config ceiling=-1", "-1 is no whole number"),
    ],
)
def test_a_scenario_begins_with_its_limits(first: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        list(replay([first]))
    assert f"line 1: {first}: {says}" == str(caught.value)


def test_each_command_gives_the_state_after_it() -> None:
    states = list(replay(SCENARIO.splitlines()))
    assert [1, 1, 2, None, None] == [state.get("t") for state in states]
    assert {
        "t": 2,
        "view": [(0, 0), (0, 1)],
        "cview": [(0, 0), (0, 1)],
        "size": 36,
        "csize": 36,
        "shrinking": False,
        "batch": None,
        "queue": [(0, 1)],
        "need": [(0, 1)],
        "settled": False,
    } == states[2]
    rendered = b"<chat>\n0+1|0.0| .\n1+1|(not summarized yet: zoom it)\n</chat>"
    assert {"render": digest(rendered), "bytes": len(rendered)} == states[3]
    assert {"context": [(0, 0)]} == states[4]


@given(st.integers(0, 12), st.integers(0, 10**6), st.integers(0, 600))
def test_a_made_up_text_has_exactly_its_bytes(level: int, i: int, size: int) -> None:
    assert size == len(made_up(Part(level, i), size).encode())


def test_an_expected_line_has_the_hash_of_the_state_and_now_and_then_the_state() -> None:
    state = next(iter(replay(["config", "message"])))
    sha = digest(orjson.dumps(state))
    assert {"sha": sha} == expected_form(state, whole=False)
    assert {"sha": sha, "state": state} == expected_form(state, whole=True)
    assert {"context": []} == expected_form({"context": []}, whole=True)


def test_the_command_prints_a_line_for_each_command(tmp_path: Path) -> None:
    file = tmp_path / "one.scenario"
    file.write_text(SCENARIO)
    done = run(file)
    assert (0, b"") == (done.returncode, done.stderr)
    assert [orjson.loads(orjson.dumps(state)) for state in replay(SCENARIO.splitlines())] == [
        orjson.loads(line) for line in done.stdout.splitlines()
    ]
    hashed = [orjson.loads(line) for line in run("--sha", file).stdout.splitlines()]
    assert ["sha", "state"] == list(hashed[0])
    assert "render" in hashed[3]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"config\nmessage\nmesage\n", "replay: line 3: mesage: no such command"),
        (b"\xff\xfe", "is no text in UTF-8"),
        (None, "No such file or directory"),
    ],
)
def test_wrong_input_gets_one_clear_line_and_exit_1(tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "one.scenario"
    if content is not None:
        file.write_bytes(content)
    done = run(file)
    assert 1 == done.returncode
    assert 1 == done.stderr.decode().count("\n")
    assert says in done.stderr.decode()


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert (1, 1) == (done.returncode, done.stderr.decode().count("\n"))
    assert str(tmp_path) in done.stderr.decode()
