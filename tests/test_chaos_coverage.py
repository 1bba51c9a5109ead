"""Chaos alone reaches nearly all of what the owner's actors do."""

import subprocess
import sys
from pathlib import Path

import pytest
from chaos_coverage import BRANCHES, MODULES, ROOT

TOOL = ROOT / "tools" / "chaos_coverage.py"


def coverage(*args: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TOOL, *args], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.timeout(600)
def test_chaos_alone_reaches_95_percent_of_every_behaviour_and_of_all_their_branches() -> None:
    done = coverage("--runs", "100", "--missing")
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    assert [*MODULES, BRANCHES] == [line.split()[0] for line in done.stdout.splitlines()]


def test_what_is_not_reached_is_named_and_fails(tmp_path: Path) -> None:
    done = coverage("--runs", "0", cwd=tmp_path)
    assert 1 == done.returncode
    assert done.stderr.startswith("below 95 %: compactor, door, gate, ")
    assert done.stderr.endswith(f", {BRANCHES}\n")
