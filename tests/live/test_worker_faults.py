"""Worker processes of whole owners: what they hold, how they end with their owner, and a memory that rogues write."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import Append, AppendDone, AskStatus, Entry, Status
from eukhe.actors.opening import open_chat
from eukhe.actors.ports import Workers
from eukhe.actors.threads import Threads
from eukhe.limits import EXIT_INTERRUPTED, NODE_BYTES_MAX
from eukhe.model.chat import ChatLimits
from eukhe.model.part import Part
from eukhe.world.clock import RealClock
from eukhe.world.disk import RealDisk
from eukhe.world.home import make_home
from eukhe.world.index import SqliteIndex
from eukhe.world.lock import ChatLock
from eukhe.world.process_workers import ProcessWorkers
from eukhe.world.workers import OfflineWorkers
from tests.chat_kit import EUKHE, eukhe, session, talk
from tests.conftest import FULL
from tests.leaks import comes_true, descendants, environment, handles, is_running, no_leaks
from tests.log_kit import texts_in, verified
from tests.worker_kit import WAIT_S, Script, fork_server, script

__all__ = ["no_leaks", "script"]  # fixtures

pytestmark = [
    pytest.mark.usefixtures("no_leaks"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc"),
]

PROGRAM = Path(__file__).with_name("worker_owner.py")
ACTS = {"n0": ["silent"], "n1": ["spin"], "n2": ["deep"], "n3": ["stop"], "n4": ["pings 0.01"], "n5": ["reply"]}


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@contextmanager
def owner_of(chat: Path, calls: int) -> Iterator["subprocess.Popen[str]"]:
    """An owner in a process of its own, with so many calls under way. It is killed with the block."""
    owner = subprocess.Popen(
        [sys.executable, PROGRAM, chat, str(calls)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    with owner:
        try:
            assert owner.stdout is not None
            assert "up\n" == owner.stdout.readline()
            yield owner
        finally:
            owner.kill()


def tell(owner: "subprocess.Popen[str]", line: str) -> None:
    assert owner.stdin is not None
    owner.stdin.write(line)
    owner.stdin.flush()


def stop_then_kill(owner: "subprocess.Popen[str]") -> None:
    owner.send_signal(signal.SIGSTOP)
    owner.kill()


@pytest.mark.parametrize(
    "end",
    [
        lambda owner: owner.kill(),
        lambda owner: owner.terminate(),
        stop_then_kill,
        lambda owner: tell(owner, "exit\n"),
        lambda owner: owner.stdin.close(),
    ],
    ids=["killed", "terminated", "stopped, then killed", "exit without an end", "a clean end that forgets its workers"],
)
def test_workers_and_fork_server_end_with_their_owner(
    chat: Path, script: Script, end: Callable[["subprocess.Popen[str]"], None]
) -> None:
    script.write(**ACTS)
    with owner_of(chat, len(ACTS)) as owner:
        children = descendants(owner.pid)
        assert len(ACTS) + 1 == len(children)
        end(owner)
        owner.wait(WAIT_S)
        assert comes_true(lambda: not any(map(is_running, children)))
        ChatLock(chat).release()


@pytest.mark.parametrize("to_server", [signal.SIGSTOP, signal.SIGKILL])
def test_workers_end_with_their_owner_also_without_their_fork_server(
    chat: Path, script: Script, to_server: signal.Signals
) -> None:
    script.write(**ACTS)
    with owner_of(chat, len(ACTS)) as owner:
        server = fork_server(owner.pid)
        pids = {made.pid for made in script.made()}
        os.kill(server, to_server)
        assert all(map(is_running, pids))
        owner.kill()
        owner.wait(WAIT_S)
        assert comes_true(lambda: not any(map(is_running, {*pids, server})))


def test_children_hold_nothing_of_the_owners_and_know_no_key(
    chat: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {"ANTHROPIC_API_KEY": "sk-ant-secret", "MY_TOKEN": "t", "DB_PASSWORD": "p", "AWS_SECRET_ACCESS_KEY": "s"}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    script.write(any=["silent"])
    with owner_of(chat, 3) as owner:
        own = {path for path in handles(owner.pid).values() if path.startswith(str(chat))}
        assert {"lock", "index.db", "day.jsonl", "careless"} <= {Path(path).name for path in own}
        children = descendants(owner.pid)
        assert 4 == len(children)
        for pid in children:
            kinds = sorted(path.split(":")[0] for path in handles(pid).values())
            assert ["/dev/null"] * 3 + ["pipe", "socket"] == kinds  # the life; the control or the connection
            assert not keys.keys() & environment(pid).keys()
            assert "sk-ant-secret" not in Path(f"/proc/{pid}/cmdline").read_text()


def test_a_ctrl_c_is_the_owners_to_decide_and_ends_no_worker(chat: Path, script: Script) -> None:
    script.write(any=["silent"])
    with owner_of(chat, 2) as owner:
        children = descendants(owner.pid)
        owner.send_signal(signal.SIGSTOP)  # so that it does not end by it
        os.killpg(owner.pid, signal.SIGINT)
        for pid in children:
            os.kill(pid, signal.SIGINT)
        ignored = 1 << (signal.SIGINT - 1)
        for pid in children:
            status = dict(line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
            assert ignored == int(status["SigIgn"], 16) & ignored
            assert 0 == int(status["ShdPnd"], 16)
            assert is_running(pid)
            assert os.getsid(owner.pid) != os.getsid(pid)  # of a terminal's it would not even hear


def test_a_close_is_silent_and_leaves_the_owner_alone(chat: Path, script: Script) -> None:
    script.write(**ACTS)
    with owner_of(chat, len(ACTS)) as owner:
        tell(owner, "close\n")
        assert owner.stdout is not None
        assert "closed\n" == owner.stdout.readline()
        assert comes_true(lambda: not descendants(owner.pid))
        files = handles(owner.pid).values()
        assert not [path for path in files if path.startswith("pipe:")][3:]  # its own stdin, stdout, stderr
        assert owner.stdin is not None
        owner.stdin.close()
        assert 0 == owner.wait(WAIT_S)
        assert owner.stderr is not None
        assert "" == owner.stderr.read()


def test_a_ctrl_c_ends_a_whole_command_and_its_workers_quietly(tmp_path: Path, home: Path, script: Script) -> None:
    said = eukhe(home, "chat", "import", "sessions", session(tmp_path / "talk.jsonl", talk(1)))
    assert (0, "") == (said.code, said.err.partition("no model is set")[0])
    script.write(any=["spin"])
    assert 0 == eukhe(home, "config", "set", "memory.model", "scripted/rogue").code
    long = session(tmp_path / "long.jsonl", [("user", "it goes on. " * 90)], "long")
    command = subprocess.Popen(
        [*EUKHE, "--home", home, "chat", "import", "sessions", long],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    with command:
        try:
            script.taken(1)
            os.killpg(command.pid, signal.SIGINT)
            _, err = command.communicate(timeout=WAIT_S)
        finally:
            command.kill()
    assert (EXIT_INTERRUPTED, 0) == (command.returncode, err.count("Traceback"))


# --- a memory that rogues write ---


class Memory:
    """A whole owner in this process, without a door, that asks."""

    def __init__(self, system: Threads) -> None:
        self.system = system
        self.logged = 0

    def append(self, text: str) -> None:
        done = self.system.edge.ask("store", lambda to, ticket: Append((Entry("user", text),), to, ticket))
        assert isinstance(done, AppendDone)
        self.logged += 1

    def come_to_rest(self) -> None:
        """Until nothing runs, and what has failed waits for the next message."""
        assert comes_true(lambda: (status := self.status()).idle and status.t == self.logged, WAIT_S)

    def status(self) -> Status:
        status = self.system.edge.ask("planner", AskStatus)
        assert isinstance(status, Status)
        return status


@contextmanager
def memory(chat: Path, model: str, workers: Workers) -> Iterator[Memory]:
    with ExitStack() as stack:
        stack.enter_context(ChatLock(chat))
        disk = stack.enter_context(closing(RealDisk(chat)))
        index, stores = (stack.enter_context(closing(SqliteIndex(chat / "index.db"))) for _ in range(2))
        clock = RealClock()
        opened = open_chat(disk, index, ChatLimits(), owner=True)
        system = Threads(owner_makers(opened, disk, clock, index, stores, model), disk, clock, workers)
        try:
            system.begin()
            yield Memory(system)
        finally:
            system.end()


def told(chat: Path, model: str, workers: Workers, between: Callable[[], None] = lambda: None) -> dict[Part, str]:
    """The lines of a memory of ten long messages, and of as many short ones as it takes to have all of them built."""
    with memory(chat, model, workers) as owner:
        for k in range(10):
            owner.append(f"message {k} of many, about file_{k * k}.py. " + f"It says {k}. " * 70)
            between()
        owner.come_to_rest()
        for k in range(10):
            owner.append(f"and {k}")  # each gives those that failed another chance
            owner.come_to_rest()
        assert 0 == owner.status().parked
    with closing(RealDisk(chat)) as disk:
        assert [] == verified(disk)
        return texts_in(disk)


@pytest.fixture
def honest(tmp_path: Path) -> dict[Part, str]:
    """The lines of a memory that nothing went wrong with."""
    return told(make_home(tmp_path / "honest"), "builtin/extract", OfflineWorkers())


@pytest.mark.rule("37", "39")
@pytest.mark.parametrize("rogue", ["kill", "end", "garbage", "huge", "other-call", "other-node", "twice", "half"])
def test_what_a_rogue_says_is_never_stored(chat: Path, script: Script, honest: dict[Part, str], rogue: str) -> None:
    script.write(any=[rogue, rogue, "reply"] if rogue != "twice" else ["reply", "twice"])
    with closing(ProcessWorkers()) as workers:
        lines = told(chat, "scripted/rogue", workers)
    assert honest == lines
    assert rogue == "twice" or {rogue, "reply"} == {made.act for made in script.made()}


@pytest.mark.rule("37", "39")
def test_a_node_whose_every_worker_dies_is_built_from_its_input(
    chat: Path, script: Script, honest: dict[Part, str]
) -> None:
    script.write(any=["kill"])
    with closing(ProcessWorkers()) as workers:
        lines = told(chat, "scripted/rogue", workers)
    assert honest.keys() == lines.keys()
    assert all(1 <= len(line.encode()) <= NODE_BYTES_MAX for line in lines.values())
    called = {made.node for made in script.made()}
    assert called
    assert all(3 == [made.node for made in script.made()].count(node) for node in called)


@pytest.mark.rule("39")
def test_workers_and_fork_servers_that_are_killed_at_random_harm_no_owner(
    chat: Path, script: Script, honest: dict[Part, str]
) -> None:
    script.write(any=["reply 0.01"])
    dice = random.Random(7)
    before = descendants().keys()
    struck: list[int] = []

    def strike() -> None:
        for _ in range(20 if FULL else 2):
            if pids := sorted(descendants().keys() - before):
                struck.append(dice.choice(pids))
                with suppress(ProcessLookupError):  # it just ended
                    os.kill(struck[-1], signal.SIGKILL)

    with closing(ProcessWorkers()) as workers:
        lines = told(chat, "scripted/rogue", workers, strike)
    assert struck
    assert honest.keys() == lines.keys()
    assert all(1 <= len(line.encode()) <= NODE_BYTES_MAX for line in lines.values())
