"""Who owns a chat: of many who want it exactly one, whatever a dead owner left, wherever the home is."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from eukhe.actors.messages import AskStatus, Entry, Msg, Sync, Synced
from eukhe.cli import asking, service
from eukhe.cli.asking import Asker
from eukhe.cli.command import Given
from eukhe.cli.main import run
from eukhe.cli.service import owner_of
from eukhe.errors import ChatLockedError, OwnerGone
from eukhe.limits import OWNERS_LOST_MAX
from eukhe.world.home import make_home
from eukhe.world.lock import ChatLock, owner_pid
from tests.chat_kit import messages, session, talk
from tests.leaks import comes_true, descendants, is_running, process
from tests.live.live_kit import WAIT_S, Racers, append, command, heard_of, kill, owner

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play another user")


# --- races ---


def race(served: Path, mode: str, races: int) -> None:
    """Each on a home that is not there yet, and again on the same without an owner."""
    racers = Racers(4)
    served.mkdir()
    for k in range(races):
        home = served / str(k)
        for again in range(2):
            owners, ids = racers.race(home, mode)
            assert 1 == len(owners)
            assert list(range(4 * again, 4 * again + 4)) == ids
            if mode == "background":
                assert owners == {kill(home)}  # so that its socket and lock.pid are there next time
    racers.end()


@pytest.mark.rule("7")
@pytest.mark.parametrize("mode", ["background", "here"])
def test_of_many_that_come_at_once_one_owns_the_chat_and_all_are_served(served: Path, mode: str) -> None:
    race(served, mode, 5)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.rule("7")
@pytest.mark.parametrize(("mode", "races"), [("background", 50), ("here", 500)])
def test_of_many_that_come_at_once_a_thousand_times_one_owns_the_chat(served: Path, mode: str, races: int) -> None:
    race(served, mode, races)


# --- what a dead owner left ---


@pytest.mark.rule("7")
def test_after_a_kill_the_next_command_owns_the_chat(served: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(20))
    assert 0 == command(served, "chat", "import", "sessions", path).code
    killed = kill(served)
    assert killed is not None
    assert (served / "chat" / "socket").is_socket()
    assert ["no process owns the chat\n"] * 2 == [command(served, "stop").out for _ in range(2)]
    assert None is command(served, "chat", "status", "--json").json["owner"]
    session(path, talk(10, start=20), start=20)
    assert "10 messages came in, 20 there already" in command(served, "chat", "import", "sessions", path).out
    assert owner(served) not in (None, killed)


@pytest.mark.rule("7")
@pytest.mark.parametrize("left", ["socket", "file", "link", "pid"])
def test_what_lies_about_an_owner_is_not_believed(served: Path, tmp_path: Path, left: str) -> None:
    chat = make_home(served)
    for name in ("socket", "socket.new"):
        if left == "socket":
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
                dead.bind(str(chat / name))
        elif left == "file":
            (chat / name).write_text("no socket")
        elif left == "link":
            (chat / name).symlink_to(tmp_path / "nowhere")
    (chat / "lock.pid").write_text(str(os.getpid()) if left == "pid" else "nonsense")
    (chat / "lock.starting").touch()
    assert "no process owns the chat\n" == command(served, "stop").out
    assert "0 lines built" in command(served, "memory", "build").out
    assert owner(served) not in (None, os.getpid())


def test_a_process_that_is_gone_owns_nothing(tmp_path: Path) -> None:
    child = subprocess.Popen(["true"])
    (tmp_path / "lock.pid").write_text(str(child.pid))
    child.wait()
    assert None is owner_pid(tmp_path)
    for said in ("0", "-1", "9" * 30):
        (tmp_path / "lock.pid").write_text(said)
        assert None is owner_pid(tmp_path)


STARTER = """
import sys
from pathlib import Path
from eukhe.world.lock import starting
with starting(Path(sys.argv[1])):
    print("starting", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def starter(served: Path) -> Iterator["subprocess.Popen[str]"]:
    """A command that is about to start an owner, and does not get on."""
    chat = make_home(served)
    child = subprocess.Popen(
        [sys.executable, "-c", STARTER, chat], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        assert "starting\n" == child.stdout.readline()
        yield child
        child.kill()


def test_a_starter_that_was_killed_holds_nobody_up(served: Path, starter: "subprocess.Popen[str]") -> None:
    starter.kill()
    starter.wait(WAIT_S)
    assert 0 == command(served, "memory", "build").code


def test_a_starter_that_stands_still_is_waited_for_and_that_is_said(
    served: Path, starter: "subprocess.Popen[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    said = heard_of(monkeypatch, service)
    monkeypatch.setattr(service, "LOCK_WAIT_S", 0)
    os.kill(starter.pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        appended = pool.submit(append, served, "a")
        assert f"{served / 'chat'}: another eukhe is starting a process that owns the chat: waiting" == said.get(
            timeout=WAIT_S
        )
        assert None is owner(served)
        starter.kill()
        assert 0 == appended.result()


def test_an_owner_that_is_killed_while_it_starts_is_replaced(served: Path) -> None:
    def starting() -> list[int]:
        return [pid for pid, found in descendants().items() if "serve --background" in found.command]

    with ThreadPoolExecutor(1) as pool:
        with ChatLock(make_home(served)):  # for which it waits
            appended = pool.submit(append, served, "a")
            assert comes_true(lambda: len(starting()) == 1)
            (pid,) = starting()
            os.kill(pid, signal.SIGKILL)
            assert comes_true(lambda: not is_running(pid))
        assert 0 == appended.result()
    assert owner(served) not in (None, pid)


def test_a_lock_without_an_address_is_waited_for_and_that_is_said(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = heard_of(monkeypatch, service)
    monkeypatch.setattr(service, "LOCK_WAIT_S", 0)
    for wants in (lambda: append(served, "a", no_service=True), lambda: run(["--home", str(served), "stop"])):
        with ThreadPoolExecutor(1) as pool:
            with ChatLock(make_home(served)):
                wanted = pool.submit(wants)
                assert f"owned by pid {os.getpid()}; wait until it ends" in said.get(timeout=WAIT_S)
                assert not wanted.done()
            assert 0 == wanted.result()


def test_a_lock_that_stays_without_an_address_is_given_up(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "EDGE_WAIT_S", 0)
    with ChatLock(make_home(served)):
        with pytest.raises(ChatLockedError, match=f"owned by pid {os.getpid()};"):
            append(served, "a", no_service=True)
        assert 1 == run(["--home", str(served), "stop"])


# --- owners that do not last ---


class Dying:
    """A way to an owner that ends when it is told anything."""

    pid = 1

    def tell(self, to: str, message: Msg) -> None:
        del to, message

    def hear(self, wait_s: float) -> Msg:
        raise OwnerGone("gone")

    def close(self) -> None:
        pass


def test_an_order_that_no_owner_survives_is_given_up() -> None:
    begun: list[Dying] = []

    def renew() -> Dying:
        begun.append(Dying())
        return begun[-1]

    with pytest.raises(OwnerGone, match=r"owners of the chat ended before they answered; owner\.log may say why"):
        Asker(renew(), renew).ask("planner", AskStatus)
    assert 1 + OWNERS_LOST_MAX == len(begun)


class Late(Dying):
    """The next one, which answers if it is given the time."""

    def hear(self, wait_s: float) -> Msg:
        if wait_s < 1:
            raise TimeoutError
        return Synced(1)


def test_the_next_owner_has_as_long_to_answer_as_the_first_one_had(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(asking, "time", SimpleNamespace(monotonic=lambda: now_s[0]))

    def renew() -> Late:
        now_s[0] += 100
        return Late()

    asker = Asker(Dying(), renew)
    assert Synced(1) == asker.answer(asker.tell("index", Sync), 5)


def test_who_takes_over_from_an_owner_that_it_started_leaves_no_zombie(served: Path) -> None:
    with owner_of(Given(str(served))) as owning:
        first = kill(served)
        assert first is not None
        assert 0 == owning.append(Entry("user", "a")).first
        assert comes_true(lambda: process(first) is None)


# --- homes ---


def test_a_home_three_hundred_bytes_deep_works(no_leaks: None, tmp_path: Path, shallow: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(20))
    home = tmp_path / ("d" * 150) / ("e" * 150)
    assert 0 == command(home, "chat", "import", "sessions", path, environment={"TMPDIR": str(shallow)}).code
    pid = owner(home)
    assert pid == command(home, "chat", "status", "--json").json["owner"]  # another TMPDIR does not matter
    assert 0 == command(home, "memory", "build").code
    assert f"pid {pid} has stopped\n" == command(home, "stop").out
    assert [] == list((shallow / f"eukhe-{os.geteuid()}").iterdir())
    assert 20 == len(messages(home))


AS_NOBODY = """
import os, sys
from importlib import import_module
from eukhe.cli.commands import COMMANDS
from eukhe.cli.main import run
for module, _ in COMMANDS.values():
    import_module(module)  # where this Python lies, others may not be let in
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(run(sys.argv[1:]))
"""


@as_root
@pytest.mark.parametrize("words", [("memory", "build"), ("serve",), ("stop",), ("chat", "status")])
def test_another_users_home_is_left_alone(no_leaks: None, shallow: Path, words: tuple[str, ...]) -> None:
    home = shallow / "home"
    append(home, "a", no_service=True)
    shallow.chmod(0o755)
    home.chmod(0o777)
    before = sorted(home.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, "--home", home, *words], capture_output=True, text=True, check=False
    )
    assert (1, "") == (done.returncode, done.stdout)
    assert "belongs to another user" in done.stderr
    assert before == sorted(home.rglob("*"))


def test_an_owner_of_a_home_that_was_moved_leaves_the_next_ones_address(served: Path, tmp_path: Path) -> None:
    assert 0 == append(served, "a")
    old = owner(served)
    assert old is not None
    assert comes_true((served / "chat" / "view.json").exists)  # the last that it does of its own accord
    served.rename(tmp_path / "moved")
    assert 0 == append(served, "b")
    new = owner(served)
    assert new not in (None, old)
    os.kill(old, signal.SIGTERM)
    assert comes_true(lambda: not is_running(old))
    assert new == command(served, "chat", "status", "--json").json["owner"]
    assert f"pid {new} has stopped\n" == command(served, "stop").out
