"""Which model an owner writes lines with where nobody chose one: said, and written down only where it is free."""

import json
from pathlib import Path

import pytest

from tests.chat_kit import Ran, eukhe, session
from tests.leaks import environment
from tests.live.live_kit import WITH_SERVICE, owner, served

__all__ = ["served"]  # a fixture

KEY = {"ANTHROPIC_API_KEY": "sk-not-a-real-one"}
NO_KEYS = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""}
FREE = "no model is set, so builtin/extract writes the memory's lines, offline and for nothing (memory.model)"
CHEAP = "no model is set, so anthropic/claude-haiku-5-5 writes the memory's lines (memory.model)"


def imported(home: Path, tmp_path: Path, given: dict[str, str]) -> Ran:
    """What is said by a command that needs an owner: nothing in it calls a model."""
    small = session(tmp_path / "talk.jsonl", [("user", "hello"), ("assistant", "hello to you")])
    return eukhe(home, "chat", "import", "sessions", small, environment=NO_KEYS | given)


def settings(home: Path) -> dict[str, object]:
    file = home / "settings.json"
    found: dict[str, object] = json.loads(file.read_text()) if file.exists() else {}
    return found


@pytest.mark.rule("D6")
def test_without_a_key_the_free_one_is_written_down_and_said_once(home: Path, tmp_path: Path) -> None:
    first = imported(home, tmp_path, {})
    assert FREE in first.err.splitlines()
    assert {"memory": {"model": "builtin/extract"}} == settings(home)
    assert "" == imported(home, tmp_path, KEY).err, "a key that turns up later must not begin to cost"


@pytest.mark.rule("D6")
def test_with_a_key_the_cheap_one_of_its_provider_is_taken_and_said_but_not_written_down(
    home: Path, tmp_path: Path
) -> None:
    assert CHEAP in imported(home, tmp_path, KEY).err.splitlines()
    assert {} == settings(home)


@pytest.mark.rule("D6")
def test_an_owner_in_the_background_is_told_the_model_and_gets_no_key_in_its_environment(
    served: Path, tmp_path: Path
) -> None:
    first = imported(served, tmp_path, KEY | WITH_SERVICE)
    assert [CHEAP] == [line for line in first.err.splitlines() if "memory.model" in line]
    assert {} == settings(served)
    pid = owner(served)
    assert pid is not None
    assert "ANTHROPIC_API_KEY" not in environment(pid)
    command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    assert b"--line-model=anthropic/claude-haiku-5-5" in command
