"""A project in a folder of its own, with whatever is wrong in it, for the gate's tools to look at."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def plant(root: Path, name: str, text: str) -> Path:
    """Writes a file of a made-up project."""
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def exit_code(tool: str, root: Path, *flags: str) -> tuple[int, str]:
    """Runs a tool as the gate does. Its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / tool, "--root", root, *flags], capture_output=True, text=True, check=False
    )
    assert "" == done.stderr
    return done.returncode, done.stdout
