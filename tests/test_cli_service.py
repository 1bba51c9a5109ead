"""The owner as a user meets it: in the background, or none at all."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eukhe.actors.messages import AskStatus, Entry, IndexLost
from eukhe.cli import service
from eukhe.cli.asking import Asker
from eukhe.cli.command import Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.owner import own
from eukhe.cli.service import owner_of
from tests.chat_kit import EUKHE, Ran, eukhe, messages, session, talk
from tests.leaks import comes_true, environment, handles, is_running
from tests.live.live_kit import (
    WAIT_S,
    WITH_SERVICE,
    Appending,
    append,
    command,
    heard_of,
    kill,
    owner,
    shown,
    terminal,
    verified,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc to look at")


@pytest.fixture
def talked(served: Path, tmp_path: Path) -> Path:
    """A home with 20 messages, and an owner in the background."""
    path = session(tmp_path / "talk.jsonl", talk(20))
    assert 0 == command(served, "chat", "import", "sessions", path).code
    return served


# --- in the background ---


def test_that_an_owner_takes_its_time_to_start_is_said_and_what_it_says_meanwhile(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = heard_of(monkeypatch, service)
    monkeypatch.setattr(service, "OWNER_SILENT_S", 0)
    service.start_in_background(served)
    told = f"pid {owner(served)}, which is to own the chat, is not ready: it reads a long log, or is stopped: waiting"
    no_model = "no model is set, so builtin/extract writes the memory's lines, offline and for nothing (memory.model)"
    assert [told, no_model, True] == [said.get(timeout=WAIT_S), said.get(timeout=WAIT_S), said.empty()]


def test_the_first_command_that_wants_an_owner_starts_one_which_stays(talked: Path) -> None:
    pid = owner(talked)
    assert pid is not None
    for words in (("chat", "view"), ("chat", "zoom", "0", "2"), ("chat", "date", "1"), ("chat", "export")):
        assert 0 == command(talked, *words).code
    assert 0 == command(talked, "memory", "build").code
    status = command(talked, "chat", "status", "--json").json
    assert (pid, 20, 0, None) == tuple(status[key] for key in ("owner", "messages", "unsummarized", "lastError"))
    assert f"pid {pid} has stopped\n" == command(talked, "stop").out
    assert comes_true(lambda: not is_running(pid))


@linux
def test_it_has_nothing_of_whoever_started_it(served: Path, tmp_path: Path) -> None:
    secrets = {"ANTHROPIC_API_KEY": "sk-1", "SOME_TOKEN": "t", "MY_PASSWORD": "p", "AWS_SECRET_ACCESS_KEY": "s"}
    plain = {"TMPDIR": str(tmp_path), "LANG": "C.UTF-8"}
    with (tmp_path / "held").open("w") as held:
        ran = subprocess.run(
            [*EUKHE, "--home", served, "memory", "build"],
            env={**os.environ, **WITH_SERVICE, **secrets, **plain},
            capture_output=True,  # which would not end while it had a handle of these pipes
            pass_fds=[held.fileno()],
            cwd=tmp_path,
            check=False,
        )
    assert 1 == ran.returncode  # no chat here yet
    append(served, "a", no_service=True)
    ran = subprocess.run(
        [*EUKHE, "--home", served, "memory", "build"],
        env={**os.environ, **WITH_SERVICE, **secrets, **plain},
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )
    pid = owner(served)
    assert pid is not None
    given = environment(pid)
    assert plain == {name: given.get(name) for name in plain}
    assert [] == [name for name in secrets if name in given]
    assert "/" == str(Path(f"/proc/{pid}/cwd").readlink())
    log = served / "owner.log"
    open_files = handles(pid)
    assert ["/dev/null", str(log), str(log)] == [open_files[fd] for fd in range(3)]
    assert [] == [name for name in open_files.values() if name.startswith("pipe:")]
    assert pid == os.getsid(pid)


def test_what_it_says_goes_to_a_log_for_the_user_alone(served: Path) -> None:
    before = os.umask(0)
    try:
        append(served, "a")
    finally:
        os.umask(before)
    assert 0o600 == stat.S_IMODE((served / "owner.log").stat().st_mode)
    pid = owner(served)
    assert pid is not None


def test_a_log_that_is_a_link_keeps_it_from_starting_and_that_is_said(served: Path, tmp_path: Path) -> None:
    append(served, "a", no_service=True)
    (served / "owner.log").symlink_to(tmp_path / "elsewhere")
    refused = command(served, "memory", "build")
    assert (1, "") == (refused.code, refused.out)
    assert f"{served / 'owner.log'}: Too many levels of symbolic links; the owner has nowhere to say" in refused.err
    assert not (tmp_path / "elsewhere").exists()
    assert None is owner(served)


def test_what_keeps_it_from_starting_is_said_by_the_command(served: Path) -> None:
    append(served, "a", no_service=True)
    (log,) = (served / "chat" / "main").iterdir()
    with log.open("a") as lines:
        lines.write('{"i":7,"kind":"user","text":"x","size":7,"date":"2026-10-05T09:32:11+02:00"}\n')
    refused = command(served, "memory", "build")
    assert (1, "") == (refused.code, refused.out)
    assert refused.err.startswith(f"eukhe: main/{log.name}:2 (byte ")
    assert "messages 1 to 6 are missing" in refused.err
    assert None is owner(served)


def test_a_terminal_that_is_closed_does_not_end_it(served: Path) -> None:
    append(served, "a", no_service=True)
    with terminal("--home", served, "memory", "build") as (child, screen):
        printed = shown(screen)
        assert 0 == child.wait(WAIT_S)
    assert "0 lines built with 0 calls" in printed
    pid = owner(served)
    assert pid is not None
    assert 1 == append(served, "b")
    assert pid == owner(served)


def test_ctrl_c_ends_a_client_and_not_its_owner(served: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(3_000))
    words = ("--home", served, "chat", "import", "sessions", path)
    with ThreadPoolExecutor(1) as pool, terminal(*words) as (child, screen):
        printed = pool.submit(shown, screen)
        assert comes_true(lambda: len(messages_so_far(served)) > 50)
        os.write(screen, b"\x03")
        assert 130 == child.wait(WAIT_S)
        assert "eukhe: interrupted; what came in stays, and the same command goes on" in printed.result()
    pid = owner(served)
    came = len(messages_so_far(served))
    assert pid is not None
    assert 50 < came < 3_000
    assert came == append(served, "after")
    assert pid == owner(served)


def messages_so_far(home: Path) -> list[bytes]:
    return [log for path in (home / "chat" / "main").glob("*.jsonl") for log in path.read_bytes().splitlines()]


IMPATIENT = """
import sys
from eukhe.actors import door
from eukhe.cli.main import run
door.OWNER_IDLE_S = 0.5
sys.exit(run(["--home", sys.argv[1], "serve", "--background"]))
"""


@pytest.mark.rule("7")
def test_it_leaves_when_nobody_came_for_a_while_and_not_while_somebody_is_there(served: Path) -> None:
    append(served, "a", no_service=True)
    child = subprocess.Popen([sys.executable, "-c", IMPATIENT, served], stdout=subprocess.PIPE, text=True)
    with child:
        assert child.stdout is not None
        assert "ready" == child.stdout.read()
        with owner_of(Given(str(served))) as owning, owner_of(Given(str(served), no_service=True)) as other:
            assert [1, 2] == [each.append(Entry("user", "b")).first for each in (owning, other)]
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(1)  # twice as long as it may be alone
        assert 0 == child.wait(WAIT_S)
    assert not (served / "chat" / "socket").exists()


# --- none ---


@pytest.mark.parametrize("way", ["flag", "environment"])
def test_without_service_no_process_is_left(served: Path, tmp_path: Path, way: str) -> None:
    path = session(tmp_path / "talk.jsonl", talk(20))
    words = ("chat", "import", "sessions", path)
    ran = command(served, *words, "--no-service") if way == "flag" else eukhe(served, *words)
    assert 0 == ran.code
    assert (None, 20) == (owner(served), len(messages(served)))
    assert not (served / "chat" / "socket").exists()


def test_without_service_it_is_a_client_where_there_is_an_owner(talked: Path) -> None:
    pid = owner(talked)
    assert 20 == append(talked, "a", no_service=True)
    assert pid == owner(talked) is not None


@pytest.mark.parametrize(
    "words",
    [
        ("chat", "view"),
        ("chat", "status"),
        ("chat", "zoom", "0"),
        ("chat", "date", "0"),
        ("chat", "verify"),
        ("chat", "export"),
        ("config", "list"),
        ("doctor",),
        ("stop",),
    ],
)
def test_reading_starts_no_owner(served: Path, words: tuple[str, ...]) -> None:
    append(served, "a", no_service=True)
    assert 0 == command(served, *words).code
    assert None is owner(served)


def test_stop_where_there_is_nothing_to_stop(served: Path) -> None:
    nothing = command(served, "stop")
    assert (1, "", True) == (nothing.code, nothing.out, "there is no chat here yet" in nothing.err)
    assert not served.exists()
    append(served, "a", no_service=True)
    assert Ran(0, "no process owns the chat\n", "") == command(served, "stop")


def test_an_owner_that_is_ended_while_its_command_waits_for_answers_ends_cleanly(served: Path) -> None:
    given = Given(str(served))
    with own(served, settings_of(given)) as here:
        asker = Asker(here, lambda: here)
        for _ in range(5):
            asker.tell("planner", AskStatus)


def test_what_went_wrong_is_said_by_the_command_in_whose_time_it_did(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = Given(str(served))
    said = heard_of(monkeypatch, service)
    with own(served, settings_of(given)) as here:
        with owner_of(given):
            here.tell("planner", IndexLost("no room"))
        assert "no room" == said.get(timeout=WAIT_S)
        with owner_of(given):
            pass
    assert said.empty()


# --- several at once ---


def test_whoever_reads_while_others_append_sees_a_whole_memory(served: Path) -> None:
    with Appending(served) as appending:
        appending.wait_for(50)
        pid = owner(served)
        for words in (("chat", "view"), ("chat", "status"), ("chat", "zoom", "0", "8"), ("chat", "verify")):
            ran = command(served, *words)
            assert (0, "") == (ran.code, "" if words[-1] == "verify" else ran.err)
            appending.wait_for(20)
        assert pid == owner(served)
        appending.end()


def test_two_imports_of_the_same_at_once_bring_each_message_in_once(served: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(400))
    with ThreadPoolExecutor(2) as pool:
        ran = list(pool.map(lambda _: command(served, "chat", "import", "sessions", path, "--json"), range(2)))
    assert [0, 0] == [each.code for each in ran]
    assert 400 == sum(each.json["messages"] for each in ran)
    assert 400 == sum(each.json["known"] for each in ran)
    assert sorted(text for _, text in talk(400)) == sorted(message["text"] for message in messages(served))


def test_a_limit_of_calls_is_never_passed_over_because_another_owns_the_chat(talked: Path) -> None:
    limited = ("memory", "build", "--limit-calls", "0")
    refused = command(talked, *limited)
    assert (1, "") == (refused.code, refused.out)
    said = f"the chat is owned by pid {owner(talked)}, which builds without this limit; `eukhe stop` it first\n"
    assert refused.err.endswith(said)
    assert 0 == command(talked, "stop").code
    assert 0 == command(talked, *limited).code
    assert None is owner(talked)


def test_doctor_says_to_stop_the_owner_first(talked: Path) -> None:
    refused = command(talked, "doctor", "--accept-gap")
    assert (1, "") == (refused.code, refused.out)
    assert refused.err.endswith(f"owned by pid {owner(talked)}; wait until it ends, or `eukhe stop` it\n")
    assert 0 == command(talked, "stop").code
    assert 0 == command(talked, "doctor").code


def test_a_client_leaves_the_index_to_its_owner(talked: Path) -> None:
    index = talked / "chat" / "index.db"
    for side in ("-wal", "-shm"):
        Path(f"{index}{side}").unlink(missing_ok=True)
    index.write_bytes(b"no index" * 1_000)
    assert 20 == append(talked, "a")
    assert index.read_bytes().startswith(b"no index")
    kill(talked)
    assert 21 == append(talked, "b")
    assert 0 == command(talked, "stop").code
    assert (0, "") == verified(talked)
