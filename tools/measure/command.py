"""Commands as a user runs them, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from eukhe.cli.command import SERVICE_VARIABLE

_RUN = """
import os, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
if code: sys.exit(code)
import resource
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
_RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1_024


def eukhe(*args: str | Path) -> list[str]:
    """The command line of one, by the script that a user has where there is one."""
    script = Path(sys.executable).with_name("eukhe")
    return [*([str(script)] if script.exists() else [sys.executable, "-m", "eukhe"]), *map(str, args)]


def run(command: list[str]) -> None:
    """Runs it to its end. CalledProcessError where it fails."""
    subprocess.run(command, check=True, capture_output=True, env=_environment())


def peak_bytes(command: list[str]) -> int:
    """The most memory that it had at a time.

    A small process runs it: what a process had before it became another program counts as that program's.
    """
    done = subprocess.run(
        [sys.executable, "-I", "-c", _RUN, *command], check=True, capture_output=True, env=_environment()
    )
    return int(done.stdout) * _RSS_UNIT_BYTES


def _environment() -> dict[str, str]:
    """Without the settings of whoever measures. What is measured is one process, and none is left behind."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("EUKHE_", "_EUKHE_"))}
    return {**own, SERVICE_VARIABLE: "1"}
