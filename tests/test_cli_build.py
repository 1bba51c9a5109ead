"""Building with an owner that is there already, and settings that change meanwhile."""

import os
import signal
from pathlib import Path

import pytest

from eukhe.world.providers.registry import SCRIPT_VARIABLE
from tests.chat_kit import session, talk
from tests.live.live_kit import append, command, owner


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A model that replies at once, in worker processes."""
    script = tmp_path / "script.json"
    script.write_text("{}")
    monkeypatch.setenv(SCRIPT_VARIABLE, str(script))


@pytest.mark.usefixtures("scripted")
def test_a_building_tells_of_its_own_calls_and_not_of_those_that_its_owner_made_before(
    served: Path, tmp_path: Path
) -> None:
    assert 0 == command(served, "config", "set", "memory.model", "scripted/any").code
    path = session(tmp_path / "talk.jsonl", talk(6))
    assert 0 == command(served, "chat", "import", "sessions", path).code
    assert 3 <= command(served, "chat", "status", "--json").json["nodes"]
    done = command(served, "memory", "build", "--json").json
    assert (0, 0, 0) == (done["built"], done["calls"], done["unsummarized"])


@pytest.mark.usefixtures("scripted")
def test_a_building_tells_of_all_that_the_owner_did_whom_it_started(served: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(6))
    assert 0 == command(served, "chat", "import", "sessions", path).code
    assert 0 == command(served, "stop").code
    for log in (served / "chat" / "tree").iterdir():
        log.unlink()
    assert 0 == command(served, "config", "set", "memory.model", "scripted/any").code
    built = command(served, "memory", "build", "--json").json
    assert (5, 3, 0) == (built["built"], built["calls"], built["unsummarized"])  # two merges of these are free


def test_an_owner_leaves_when_a_setting_of_its_own_changes_and_the_next_one_has_it(served: Path) -> None:
    append(served, "a")
    set_in = f"set in {served / 'settings.json'}"
    assert [f"model {set_in}"] == command(served, "config", "set", "model", "openai/any").err.splitlines()
    pid = owner(served)
    changed = command(served, "config", "set", "memory.viewBytes", "64000")
    leaves = f"pid {pid}, which owns the chat, finishes and leaves; the next one has this"
    assert [f"memory.viewBytes {set_in}", leaves] == changed.err.splitlines()
    append(served, "b")
    assert pid != owner(served)
    assert 0 == command(served, "stop").code
    changed = command(served, "config", "set", "memory.viewBytes", "32000")
    assert [f"memory.viewBytes {set_in}"] == changed.err.splitlines()


def test_an_owner_that_does_not_answer_goes_on_which_is_said(served: Path) -> None:
    append(served, "a")
    pid = owner(served)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        changed = command(served, "config", "set", "prices", "{}")
    finally:
        os.kill(pid, signal.SIGCONT)
    goes_on = "which owns the chat goes on with what it began with; `eukhe stop` it, and the next one has this"
    assert f"pid {pid}, {goes_on}" == changed.err.splitlines()[-1]


@pytest.mark.rule("D13")
def test_a_building_that_an_outage_ends_fails_and_says_so(
    served: Path, tmp_path: Path, scripted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "script.json").write_text('{"*": ["out 600"]}')
    assert 0 == command(served, "config", "set", "memory.model", "scripted/any").code
    path = session(tmp_path / "talk.jsonl", talk(6))
    assert 0 == command(served, "chat", "import", "sessions", path).code
    built = command(served, "memory", "build")
    assert 1 == built.code
    assert "of the view not built: 529 overloaded" in built.err
