"""The golden scenarios: this planner and this line machine against an independent statement of the design."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from eukhe.model.line import Asking, Done, Failed, broke, replied
from eukhe.model.scenario import expected_form, replay

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden"
pytestmark = pytest.mark.skipif(not GOLDEN.exists(), reason="the golden files are not beside the checkout")

SCENARIOS = sorted(GOLDEN.glob("planner/*.scenario"))


@pytest.mark.rule("19", "22", "23", "24", "33", "34", "38", "39", "40", "41", "42", "D12")
@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_command_of_a_scenario_gives_the_expected_state(path: Path) -> None:
    expected = [orjson.loads(line) for line in path.with_suffix(".expected.jsonl").read_bytes().splitlines()]
    actual = list(replay(path.read_text().splitlines()))
    assert len(expected) == len(actual)
    for number, (want, result) in enumerate(zip(expected, actual, strict=True)):
        got = orjson.loads(orjson.dumps(expected_form(result, whole="state" in want)))
        assert (number, want) == (number, got)


@pytest.mark.rule("36", "37", "D9")
def test_every_case_of_a_line_gives_the_expected_line_and_calls() -> None:
    cases = [orjson.loads(line) for line in (GOLDEN / "lines.jsonl").read_bytes().splitlines()]
    assert [case["expect"] for case in cases] == [outcome(case["source"], case["replies"]) for case in cases]


def outcome(source: str, replies: list[dict[str, Any]]) -> dict[str, Any]:
    state: Asking | Done | Failed = Asking(source)
    for reply in replies:
        if not isinstance(state, Asking):
            break
        state = broke(state) if "error" in reply else replied(state, reply["text"])
    match state:
        case Done(line, calls):
            return {"line": line, "calls": calls}
        case Failed(calls):
            return {"failed": True, "calls": calls}
        case Asking(calls=calls):
            return {"open": True, "calls": calls}
