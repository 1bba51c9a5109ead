"""How much of the actors' behaviours chaos alone reaches: python tools/chaos_coverage.py [--runs N] [--missing]

Prints a line a module, lines and branches together, then the branches of all of them alone, in percent. Fails below 95:
code that no run reaches is code whose faults no run finds.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import coverage

ROOT = Path(__file__).resolve().parent.parent
CHAOS_COVERAGE_PERCENT_MIN = 95
RUNS = 100
BRANCHES = "branches"
MODULES = (
    "compactor",
    "door",
    "gate",
    "index",
    "outbox",
    "planner",
    "planner_waits",
    "store",
    "store_intake",
    "store_recent",
    "supervisor",
)


class Covered(NamedTuple):
    """Of one module: lines and branches that were reached, of how many there are, its branches alone; what was not."""

    module: str
    reached: int
    there: int
    branches_reached: int
    branches_there: int
    missing: str

    @property
    def percent(self) -> float:
        return _percent(self.reached, self.there)


def _percent(reached: int, there: int) -> float:
    return 100 * reached / there if there else 100.0


def measure(runs: int, modules: Sequence[str] = MODULES) -> list[Covered]:
    """Runs the first seeds and counts. The modules are loaded anew, so that what loading runs counts, too."""
    measured = coverage.Coverage(
        branch=True, data_file=None, source=[str(ROOT / "eukhe" / "actors")], config_file=False
    )
    measured.exclude(r"raise Bug\(")  # what no run may reach
    for name in [name for name in sys.modules if name.startswith("eukhe.")]:
        del sys.modules[name]
    measured.start()
    try:
        chaos = importlib.import_module("eukhe.sim.chaos")
        options = importlib.import_module("eukhe.sim.options")
        for seed in range(1, runs + 1):
            outcome = chaos.run(options.draw(seed))
            assert outcome.failure is None, outcome.failure
    finally:
        measured.stop()
    return [_covered(measured, module) for module in modules]


def _covered(measured: coverage.Coverage, module: str) -> Covered:
    analysis = measured._analyze(str(ROOT / "eukhe" / "actors" / f"{module}.py"))
    numbers = analysis.numbers
    reached, there = numbers.ratio_covered
    missing = analysis.missing_formatted(branches=True)
    return Covered(module, reached, there, numbers.n_executed_branches, numbers.n_branches, missing)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how much of the behaviours chaos reaches.")
    parser.add_argument("--runs", type=int, default=RUNS, help="seeds from 1 on; default: %(default)s")
    parser.add_argument("--missing", action="store_true", help="the lines and branches that were not reached")
    args = parser.parse_args()
    covered = measure(args.runs)
    for found in covered:
        print(f"{found.module:<14} {found.percent:5.1f} %" + (f"  missing {found.missing}" if args.missing else ""))
    branches = _percent(
        sum(found.branches_reached for found in covered), sum(found.branches_there for found in covered)
    )
    print(f"{BRANCHES:<14} {branches:5.1f} %")
    low = [found.module for found in covered if found.percent < CHAOS_COVERAGE_PERCENT_MIN]
    low += [BRANCHES] * (branches < CHAOS_COVERAGE_PERCENT_MIN)
    if low:
        print(f"below {CHAOS_COVERAGE_PERCENT_MIN} %: {', '.join(low)}", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
