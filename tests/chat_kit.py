"""What tests of whole commands share: a home, sessions to import, and commands as a user runs them."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from eukhe.limits import VIEW_BYTES_MIN

EUKHE = (sys.executable, "-m", "eukhe")


class Ran(NamedTuple):
    """What became of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def eukhe(home: Path, *args: str | Path, environment: dict[str, str] | None = None) -> Ran:
    """Runs a command in a process of its own."""
    done = subprocess.run(
        [*EUKHE, "--home", str(home), *map(str, args)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **(environment or {})},
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def session(path: Path, texts: Sequence[tuple[str, str]], name: str = "s", start: int = 0) -> Path:
    """A Claude Code session file: kinds `user` and `assistant` with their texts, a second apart."""
    records = []
    for n, (kind, text) in enumerate(texts, start):
        content: Any = text if kind == "user" else [{"type": "text", "text": text}]
        records.append(
            {
                "type": kind,
                "uuid": f"{name}-{n}",
                "parentUuid": f"{name}-{n - 1}" if n else None,
                "sessionId": name,
                "timestamp": f"2026-10-{1 + n // 86_400:02}T{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}.000Z",
                "message": {"role": kind, "content": content},
            }
        )
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return path


def talk(count: int, start: int = 0) -> list[tuple[str, str]]:
    """A conversation in which no two texts are the same; every third one needs a line."""
    kinds = ("user", "assistant")
    return [
        (kinds[n % 2], f"word {n} of the talk" + (f", with detail {n * 7919 % 1009}" * 40 if n % 3 == 0 else ""))
        for n in range(start, start + count)
    ]


def logs(home: Path, folder: str) -> bytes:
    """All bytes of a log."""
    return b"".join(path.read_bytes() for path in sorted((home / "chat" / folder).glob("*.jsonl")))


def messages(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in logs(home, "main").splitlines()]


def change_index(home: Path, statement: str) -> None:
    """Makes rows of the index say what is not so."""
    index = sqlite3.connect(home / "chat" / "index.db")
    assert index.execute(statement).rowcount > 0
    index.commit()
    index.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that is not there yet."""
    return tmp_path / "home"


@pytest.fixture
def filled(home: Path, tmp_path: Path) -> Path:
    """A home with a talk of 60 messages in a small view, so that there are merged lines."""
    for key, value in (("memory.viewBytes", VIEW_BYTES_MIN), ("memory.model", "builtin/extract")):
        assert eukhe(home, "config", "set", key, str(value)).code == 0
    ran = eukhe(home, "chat", "import", "sessions", session(tmp_path / "talk.jsonl", talk(60)))
    assert (0, "") == (ran.code, ran.err)
    return home
