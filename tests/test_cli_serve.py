"""`eukhe serve`: the owner in the foreground."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.chat_kit import EUKHE, messages
from tests.leaks import comes_true
from tests.live.live_kit import WAIT_S, append, command, owner, terminal, verified


@contextmanager
def serving(home: Path) -> Iterator["subprocess.Popen[str]"]:
    """`eukhe serve`, which is up."""
    child = subprocess.Popen(
        [*EUKHE, "--home", home, "serve"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        assert comes_true(lambda: (home / "chat" / "socket").exists())
        try:
            yield child
        finally:
            child.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serve_owns_the_chat_for_all_until_a_signal_ends_it(served: Path, number: signal.Signals) -> None:
    with serving(served) as child:
        assert [0, 1] == [append(served, text) for text in "ab"]
        assert child.pid == command(served, "chat", "status", "--json").json["owner"]
        child.send_signal(number)
        _, err = child.communicate(timeout=WAIT_S)
    assert 0 == child.returncode
    assert (
        f"pid {child.pid} owns {served / 'chat'}; Ctrl-C or `eukhe stop` ends it",
        "what was begun is finished first",
    ) == tuple(err.splitlines()[-2:])
    assert ["a", "b"] == [message["text"] for message in messages(served)]
    assert (0, "") == verified(served)


def test_serve_ends_when_it_is_told_to_stop(served: Path) -> None:
    with serving(served) as child:
        append(served, "a")
        assert f"pid {child.pid} has stopped\n" == command(served, "stop").out
        assert 0 == child.wait(WAIT_S)


def test_a_second_serve_is_refused_and_told_what_to_do(served: Path) -> None:
    append(served, "a")
    refused = command(served, "serve")
    assert (1, "") == (refused.code, refused.out)
    assert f"the chat is owned by pid {owner(served)}; wait until it ends, or `eukhe stop` it\n" in refused.err


def test_serve_ends_cleanly_when_its_terminal_goes(served: Path) -> None:
    with terminal("--home", served, "serve") as (child, screen):
        assert comes_true(lambda: (served / "chat" / "socket").exists())
        append(served, "a")
        os.close(screen)
        assert 0 == child.wait(WAIT_S)
    assert (0, "") == verified(served)
