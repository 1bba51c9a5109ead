"""`eukhe -p` in a terminal: what it is at is told a line each, and a terminal that goes ends it cleanly."""

import os
import signal
from pathlib import Path

import pytest

from tests.ask_kit import Played
from tests.chat_kit import messages
from tests.leaks import comes_true
from tests.live.live_kit import shown, terminal, verified

WAIT_S = 60


@pytest.fixture
def playing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    it = Played(tmp_path / "home", tmp_path)
    for name, value in it.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return it


@pytest.mark.parametrize("columns", ["80", "1"])
def test_tools_and_retries_are_told_a_line_each_and_the_reply_stands_by_itself(
    columns: str, playing: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    playing.play('use read {"path":"script.json"}', "break", "say It is read.")
    with terminal("--home", playing.home, "--no-service", "-p", "Read it.") as (child, screen):
        lines = shown(screen).replace("\r", "").splitlines()
        assert 0 == child.wait(WAIT_S)
    assert "It is read." == lines[-1]
    if columns == "80":
        assert ['read {"path":"script.json"}', "the stream broke; again in 1 s"] == lines[:-1]


def test_a_terminal_is_no_stdin_to_read(playing: Played) -> None:
    playing.play("reply")
    with terminal("--home", playing.home, "--no-service", "-p", "Hello.") as (child, screen):
        assert "You said: Hello." in shown(screen)
        assert 0 == child.wait(WAIT_S)


@pytest.mark.rule("48")
def test_a_terminal_that_is_closed_ends_the_turn_and_its_tools(playing: Played) -> None:
    playing.play('use bash {"command":"echo $$ > pid; sleep 1000"}')
    with terminal("--home", playing.home, "--no-service", "-p", "Do it.", "--allow", "bash") as (child, screen):
        pid = playing.folder / "pid"
        assert comes_true(lambda: pid.exists() and bool(pid.read_text().strip()), WAIT_S)
        os.close(screen)
        assert 128 + signal.SIGHUP == child.wait(WAIT_S)
    assert comes_true(lambda: not Path(f"/proc/{int(pid.read_text())}").exists(), WAIT_S)
    assert ["user", "tool", "echo"] == [message["kind"] for message in messages(playing.home)]
    assert (0, "") == verified(playing.home)


def test_ctrl_c_in_a_terminal_stops_the_turn(playing: Played) -> None:
    playing.play("silent")
    with terminal("--home", playing.home, "--no-service", "-p", "Do it.") as (child, screen):
        assert comes_true(lambda: "silent" in playing.calls(), WAIT_S)
        os.write(screen, b"\x03")
        assert 130 == child.wait(WAIT_S)
    assert (0, "") == verified(playing.home)
