"""`eukhe -p` with owners in the background, which die, are stopped, or serve several at once."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ask_kit import Played, events
from tests.chat_kit import messages
from tests.leaks import comes_true
from tests.live.live_kit import WITH_SERVICE, command, kill, owner, verified

WAIT_S = 60


@pytest.fixture
def playing(served: Path, tmp_path: Path) -> Iterator[Played]:
    it = Played(served, tmp_path)
    it.environment |= WITH_SERVICE
    return it  # type: ignore[return-value]


def said(home: Path) -> list[tuple[str, str]]:
    return [(message["kind"], message["text"]) for message in messages(home)]


def whole(home: Path) -> bool:
    """Whether `verify` finds nothing, once no owner is at work."""
    command(home, "stop")
    return verified(home) == (0, "")


@pytest.mark.rule("7")
def test_a_turn_starts_an_owner_that_stays_and_serves_the_next(playing: Played) -> None:
    playing.play("say Yes.")
    assert "Yes.\n" == playing.says("-p", "Are you there?").out
    pid = owner(playing.home)
    assert pid is not None
    assert "Yes.\n" == playing.says("-p", "Still?").out
    assert pid == owner(playing.home)
    assert 4 == len(said(playing.home))


@pytest.mark.rule("7", "48")
def test_an_owner_that_is_killed_while_a_tool_runs_is_replaced_and_the_turn_goes_on(playing: Played) -> None:
    playing.play(
        'use bash {"command":"touch began; while [ ! -e go ]; do sleep 0.01; done; echo gone on"}', "say Done."
    )
    with playing.running("-p", "Do it.", "--allow", "bash") as child:
        assert comes_true(lambda: (playing.folder / "began").exists(), WAIT_S)
        assert kill(playing.home) is not None
        (playing.folder / "go").touch()
        out, _ = child.communicate(timeout=WAIT_S)
    assert (0, "Done.\n") == (child.returncode, out)
    assert ["user", "tool", "echo", "eukhe"] == [kind for kind, _ in said(playing.home)]
    assert "gone on\n" in said(playing.home)[2][1]
    assert whole(playing.home)


@pytest.mark.rule("7", "48")
def test_an_owner_that_is_killed_after_any_message_of_a_turn_costs_no_word_and_brings_none_twice(
    playing: Played,
) -> None:
    read = 'use read {"path":"script.json"}'
    for logged in range(5):
        playing.play(read, "say Done.")
        before = len(said(playing.home)) if logged else 0
        with playing.running("-p", f"Turn {logged}.") as child:
            there = playing.home / "chat" / "main"
            assert comes_true(lambda: there.exists() and len(said(playing.home)) >= before + logged, WAIT_S)  # noqa: B023
            kill(playing.home)
            out, err = child.communicate(timeout=WAIT_S)
        assert (0, "Done.\n") == (child.returncode, out), err
    assert whole(playing.home)
    assert ["user", "tool", "echo", "eukhe"] * 5 == [kind for kind, _ in said(playing.home)]
    assert [f"Turn {n}." for n in range(5)] == [text for kind, text in said(playing.home) if kind == "user"]


def test_two_turns_at_the_same_time_both_go_well(playing: Played) -> None:
    hold = 'use bash {"command":"touch here.$$; while [ $(ls here.* | wc -l) -lt 2 ]; do sleep 0.01; done"}'
    playing.play(hold, hold, "say Done.")
    with (
        playing.running("-p", "One.", "--allow", "bash", "--output-format", "stream-json") as one,
        playing.running("-p", "Two.", "--allow", "bash", "--output-format", "stream-json") as two,
    ):
        told = [events(child.communicate(timeout=WAIT_S)[0]) for child in (one, two)]
    assert [0, 0] == [one.returncode, two.returncode]
    ids = [set(of[-1]["ids"]) for of in told]
    assert ["Done.", "Done."] == [of[-1]["reply"] for of in told]
    assert set(range(8)) == ids[0] | ids[1]
    assert not ids[0] & ids[1]
    assert whole(playing.home)


def test_an_owner_that_is_stopped_is_said_to_be_and_the_turn_goes_on_when_it_does(playing: Played) -> None:
    playing.play("say Yes.")
    playing.says("-p", "Are you there?")
    pid = owner(playing.home)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        with playing.running("-p", "Still?", "--output-format", "stream-json") as child:
            assert child.stderr is not None
            assert f"pid {pid}, which owns the chat, does not answer" in child.stderr.readline()
            os.kill(pid, signal.SIGCONT)
            out, _ = child.communicate(timeout=WAIT_S)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert "Yes." == events(out)[-1]["reply"]


def test_a_client_that_is_killed_in_mid_turn_leaves_no_process_and_the_log_as_far_as_it_came(playing: Played) -> None:
    playing.play('use bash {"command":"echo $$ > pid; sleep 1000"}')
    with playing.running("-p", "Do it.", "--allow", "bash") as child:
        pid = playing.folder / "pid"
        assert comes_true(lambda: pid.exists() and bool(pid.read_text().strip()), WAIT_S)
        child.kill()
        child.wait(WAIT_S)
    assert comes_true(lambda: not Path(f"/proc/{int(pid.read_text())}").exists(), WAIT_S)
    assert ["user", "tool"] == [kind for kind, _ in said(playing.home)]
    playing.play("say Yes.")
    assert "Yes.\n" == playing.says("-p", "And now?").out
    assert whole(playing.home)
