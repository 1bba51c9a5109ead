"""How long the program takes until it does something, beside a Python that does nothing."""

import sys

from measure.command import eukhe, run
from measure.figures import Aim, Figure, Sizes, medians

MS = 1_000


def measure(of: Sizes) -> list[Figure]:
    ours = eukhe("--version")
    nothing = [sys.executable, "-I", "-c", "pass"]
    ours_s, nothing_s = medians(of.start_runs, lambda: run(ours), lambda: run(nothing))
    return [
        Figure("eukhe --version", ours_s * MS, "ms", "python -I -c pass", nothing_s * MS, Aim("more", 80)),
    ]
