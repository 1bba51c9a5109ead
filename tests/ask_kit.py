"""What tests of `eukhe -p` share: a scripted model that answers turns, and the command as programs run it."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eukhe.world.providers.registry import SCRIPT_VARIABLE
from eukhe.world.providers.scripted import CALLS_SUFFIX
from tests.chat_kit import EUKHE, Ran

WAIT_S = 60.0


class Played:
    """A model of turns, and a home in which lines are written offline."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder
        self.script = folder / "script.json"
        self.environment = {SCRIPT_VARIABLE: str(self.script), "EUKHE_MODEL": "scripted/model"}
        home.mkdir()
        (home / "settings.json").write_text('{"memory": {"model": "builtin/extract"}}')
        self.play("reply")

    def play(self, *acts: str) -> None:
        """What its calls do from now on, the last one for all that follow."""
        self.script.write_text(json.dumps({"turn": acts}))
        self.script.with_name(self.script.name + CALLS_SUFFIX).unlink(missing_ok=True)

    def calls(self) -> str:
        """Those that were taken since, a line each."""
        noted = self.script.with_name(self.script.name + CALLS_SUFFIX)
        return noted.read_text() if noted.exists() else ""

    def says(self, *args: str | Path, stdin: bytes | None = b"", **environment: str) -> Ran:
        """`eukhe -p` to its end. `stdin`: what a pipe brings; None for /dev/null."""
        done = subprocess.run(
            self.line(*args),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            env=self.surroundings(**environment),
            cwd=self.folder,
            timeout=WAIT_S,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def line(self, *args: str | Path) -> list[str]:
        return [*EUKHE, "--home", str(self.home), *map(str, args)]

    def surroundings(self, **environment: str) -> dict[str, str]:
        return {**os.environ, **self.environment, **environment}

    @contextmanager
    def running(self, *args: str | Path, **environment: str) -> Iterator["subprocess.Popen[str]"]:
        """`eukhe -p` while it runs; killed where it does not end by itself."""
        child = subprocess.Popen(
            self.line(*args),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=self.surroundings(**environment),
            cwd=self.folder,
        )
        with child:
            try:
                yield child
            finally:
                child.kill()


@pytest.fixture
def played(home: Path, tmp_path: Path) -> Played:
    return Played(home, tmp_path)


def events(lines: Sequence[str] | str) -> list[dict[str, Any]]:
    """The objects of a stream."""
    return [json.loads(line) for line in (lines.splitlines() if isinstance(lines, str) else lines)]
