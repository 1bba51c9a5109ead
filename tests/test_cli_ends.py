"""Commands that are killed, interrupted, or told to end."""

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.chat_kit import EUKHE, eukhe, logs, messages, session, talk


@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGTERM, ""), (signal.SIGHUP, ""), (signal.SIGINT, "eukhe: interrupted\n")]
)
def test_a_signal_to_end_leaves_nothing_behind(tmp_path: Path, number: signal.Signals, said: str) -> None:
    demo = subprocess.Popen(
        [*EUKHE, "demo"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    while demo.poll() is None and not list(tmp_path.glob("eukhe-demo-*/chat/main/*")):
        time.sleep(0.001)  # the process has to get there
    demo.send_signal(number)
    _, err = demo.communicate()
    assert (128 + number, said) == (demo.returncode, err)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.rule("6", "7", "D1", "25")
def test_an_import_that_is_killed_loses_nothing_that_was_logged_and_goes_on(home: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(400))
    for messages_logged in (20, 120, 250):
        importing = subprocess.Popen(
            [*EUKHE, "--home", home, "chat", "import", "sessions", path],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while importing.poll() is None and len(logs(home, "main").splitlines()) < messages_logged:
            time.sleep(0.001)  # the process has to get there
        importing.send_signal(signal.SIGKILL)
        importing.wait()
    killed = logs(home, "main")
    assert eukhe(home, "chat", "status").code == 0
    done = eukhe(home, "chat", "import", "sessions", path)
    assert 0 == done.code
    assert logs(home, "main").startswith(killed[: killed.rfind(b"\n") + 1])
    assert [text for _, text in talk(400)] == [message["text"] for message in messages(home)]
    verified = eukhe(home, "chat", "verify")
    assert (0, "") == (verified.code, verified.err)


def test_ctrl_c_ends_an_import_cleanly(home: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(3000))
    importing = subprocess.Popen(
        [*EUKHE, "--home", home, "chat", "import", "sessions", path],
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    while len(logs(home, "main").splitlines()) < 50:
        time.sleep(0.001)  # the process has to get there
    importing.send_signal(signal.SIGINT)
    _, err = importing.communicate()
    assert 130 == importing.returncode
    assert err.endswith("\neukhe: interrupted; what came in stays, and the same command goes on\n")
    verified = eukhe(home, "chat", "verify")
    assert (0, "") == (verified.code, verified.err)
    status = eukhe(home, "chat", "status", "--json").json
    assert status["unsummarized"] <= 1


def test_a_log_that_can_not_be_mended_is_said_with_what_to_do_and_no_more_is_lost(filled: Path) -> None:
    (log,) = (filled / "chat" / "main").glob("*.jsonl")
    with log.open("ab") as file:
        file.write(b"torn" * 100_000)
    size = log.stat().st_size
    ran = subprocess.run(
        [*EUKHE, "--home", filled, "memory", "build"],
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    said = "what was acknowledged is on disk: mend it, and the next owner goes on from there"
    assert (1, f"eukhe: {log}: File too large (errno 27); {said}\n") == (ran.returncode, ran.stderr)
    assert eukhe(filled, "memory", "build").code == 0
