"""Measures eukhe: python tools/bench.py [NAME…] [--quick] [--json]

Each figure stands beside another that was measured in the same run, and beside its aim where it has one. Prints a
Markdown table. What is measured: planner, append, socket, owner, chat, import, start, line, workers, sim, turn,
cache, memory;
all of them take ten minutes and two gigabytes of disk, with --quick one minute.

Nothing of this is a test: how fast a machine is says nothing about what is right.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from measure import append, cache, chat_size, importing, line, memory, owner, planner, sim, socket, start, turn, workers
from measure.figures import QUICK, Figure, Sizes, as_json, table
from measure.machine import line as machine_line
from measure.machine import machine

ROOT = Path(__file__).resolve().parent.parent
REAL_SESSIONS = ROOT.parent / "shared" / "data" / "claude-code"

Measure = Callable[[Sizes, Path, Path], list[Figure]]
"""Of the sizes, an empty folder, the folder of real sessions."""

MEASURES: Mapping[str, Measure] = {
    "planner": lambda sizes, folder, real: planner.measure(sizes),
    "append": lambda sizes, folder, real: append.measure(sizes, folder),
    "socket": lambda sizes, folder, real: socket.measure(sizes, folder),
    "owner": lambda sizes, folder, real: owner.measure(sizes, folder),
    "chat": lambda sizes, folder, real: chat_size.measure(sizes, folder),
    "import": importing.measure,
    "start": lambda sizes, folder, real: start.measure(sizes),
    "line": lambda sizes, folder, real: line.measure(sizes, real),
    "workers": lambda sizes, folder, real: workers.measure(sizes),
    "sim": lambda sizes, folder, real: sim.measure(sizes),
    "turn": lambda sizes, folder, real: turn.measure(sizes, folder),
    "cache": lambda sizes, folder, real: cache.measure(sizes),
    "memory": lambda sizes, folder, real: memory.measure(sizes, folder),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure eukhe, each figure beside another of the same run.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(MEASURES)}; default: all"
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer repetitions")
    parser.add_argument("--json", action="store_true", help="the machine and the figures as JSON")
    parser.add_argument(
        "--folder", type=Path, default=_disk(), help="where to measure: on a disk; default: %(default)s"
    )
    parser.add_argument("--sessions", type=Path, default=REAL_SESSIONS, help="real sessions, measured where present")
    args = parser.parse_args()
    if unknown := sorted(set(args.names) - set(MEASURES)):
        parser.error(f"nothing is named {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    with TemporaryDirectory(prefix="eukhe-bench-", dir=args.folder) as folder:
        on = machine(Path(folder))
        figures = []
        for name in args.names or MEASURES:
            print(f"bench: {name}", file=sys.stderr, flush=True)
            figures += MEASURES[name](QUICK if args.quick else Sizes(), Path(folder) / name, args.sessions)
    if args.json:
        print(json.dumps({"machine": on, "figures": [as_json(figure) for figure in figures]}, ensure_ascii=False))
    else:
        print(f"{table(figures)}\n\n{machine_line(on)}")
    return 0


def _disk() -> Path:
    """Where large temporary files go. The first place for small ones is memory on some systems, where fsync is free."""
    large = Path("/var/tmp")
    return large if large.is_dir() and "TMPDIR" not in os.environ else Path(gettempdir())


if __name__ == "__main__":
    sys.exit(main())
