"""Real processes around a chat: clients that append, racers that want it at once, and owners to be killed.

python tests/live/live_kit.py client HOME NAME background|here    appends until its stdin ends
python tests/live/live_kit.py racer                               for each line `HOME background|here` of its stdin
                                                                  appends once, and stays for another line

Both say each acknowledgement as a line of JSON. `here`: as with --no-service.
"""

import fcntl
import json
import os
import pty
import random
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from threading import Condition, Event, Thread
from types import ModuleType
from typing import NamedTuple, Self

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from eukhe.actors.messages import Entry  # noqa: E402
from eukhe.cli.command import SERVICE_VARIABLE, Given  # noqa: E402
from eukhe.cli.service import owner_of  # noqa: E402
from eukhe.world.home import chat_path  # noqa: E402
from eukhe.world.lock import owner_pid  # noqa: E402
from tests.chat_kit import EUKHE, Ran, eukhe  # noqa: E402
from tests.leaks import process  # noqa: E402

WAIT_S = 60
WITH_SERVICE = {SERVICE_VARIABLE: "0"}
PAUSE_MAX_S = 0.02  # of a client between two appends, so that an owner is met also when it has nothing to do


def command(home: Path, *args: str | Path, environment: dict[str, str] | None = None) -> Ran:
    """Runs a command as a user does, an owner in the background and all."""
    return eukhe(home, *args, environment={**WITH_SERVICE, **(environment or {})})


def owner(home: Path) -> int | None:
    """The process that owns the home's chat, of those that a test started: what lock.pid says is not believed."""
    pid = owner_pid(chat_path(home))
    return pid if pid is not None and is_at(home, pid) else None


def is_at(home: Path, pid: int) -> bool:
    """Whether a process runs that has the home on its command line."""
    found = process(pid)
    return found is not None and found.state not in "ZX" and f"{home} " in f"{found.command} "


def kill(home: Path) -> int | None:
    """Kills the owner that there is right now; whom."""
    pid = owner(home)
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
    return pid


def append(home: Path, text: str, *, no_service: bool = False) -> int:
    """Logs a text as a client in this process; its id."""
    with owner_of(Given(str(home), no_service=no_service)) as owning:
        return owning.append(Entry("user", text)).first


def heard_of(patch: pytest.MonkeyPatch, module: ModuleType) -> "SimpleQueue[str]":
    """What a module of this process says, as it says it."""
    said: SimpleQueue[str] = SimpleQueue()
    patch.setattr(module, "say", said.put)
    return said


@pytest.fixture
def served(no_leaks: None, tmp_path: Path) -> Iterator[Path]:
    """A home that is not there yet, for commands that start owners. The last one is ended with the test."""
    home = tmp_path / "served"
    yield home
    if owner(home) is not None:
        stopped = command(home, "stop")
        assert (0, "") == (stopped.code, stopped.err)


def verified(home: Path) -> tuple[int, str]:
    """What `eukhe chat verify` ends with, and what it says besides: 0 and nothing where all is well."""
    ran = command(home, "chat", "verify")
    return ran.code, ran.err


# --- terminals ---


@contextmanager
def terminal(*args: str | Path) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A command that a user runs in a terminal, and that terminal's other end, which the test may close."""
    screen, tty = pty.openpty()

    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    child = subprocess.Popen(
        [*EUKHE, *args],
        stdin=tty,
        stdout=tty,
        stderr=tty,
        env={**os.environ, **WITH_SERVICE},
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(tty)
    with child:
        try:
            yield child, screen
        finally:
            with suppress(OSError):
                os.close(screen)
            child.kill()


def shown(screen: int) -> str:
    """All that a command printed until its end."""
    data = b""
    with suppress(OSError):  # that it has ended
        while part := os.read(screen, 65_536):
            data += part
    return data.decode()


# --- clients that append ---


class Ack(NamedTuple):
    """What a client was told: its `n`th text has these ids."""

    client: str
    n: int
    first: int
    count: int


def text_of(client: str, n: int) -> str:
    """The `n`th text of a client, like no other. Every third needs a line, a few are split."""
    length = 40_000 if n % 40 == 39 else 900 if n % 3 == 0 else 20
    words = " ".join(f"{client}.{n}.{k * 7919 % 1009}" for k in range(length // 8))
    return f"text {n} of {client}: {words}"


class Appending:
    """Three clients that append, all the time, and what was acknowledged to them. `mode`: also `mixed`."""

    def __init__(self, home: Path, mode: str = "background") -> None:
        self.acks: list[Ack] = []
        self._home, self._mode = home, mode
        self._changed = Condition()
        self._numbers = count()
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._ears: list[Thread] = []
        for _ in range(3):
            self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *of_a_failure: object) -> None:
        for child in self._running.values():
            assert child.stdin is not None
            child.kill()
            child.stdin.close()
            child.wait(WAIT_S)

    def wait_for(self, more: int) -> None:
        """Until so many more texts were acknowledged."""
        with self._changed:
            goal = len(self.acks) + more
            assert self._changed.wait_for(lambda: len(self.acks) >= goal, WAIT_S), "nothing is acknowledged any more"

    def replace(self, pid: int) -> None:
        """Where a client was killed, which owned the chat, another one starts."""
        for name, child in list(self._running.items()):
            if child.pid == pid:
                assert child.stdin is not None
                del self._running[name]
                child.stdin.close()
                assert -signal.SIGKILL == child.wait(WAIT_S)
                self._start()

    def end(self) -> None:
        """Each finishes what it has begun, and was served to its end."""
        for child in self._running.values():
            assert child.stdin is not None
            child.stdin.close()
        assert [0] * len(self._running) == [child.wait(WAIT_S) for child in self._running.values()]
        for ear in self._ears:
            ear.join(WAIT_S)

    def _start(self) -> None:
        k = next(self._numbers)
        name = f"client{k}"
        mode = ("background", "here")[k % 2] if self._mode == "mixed" else self._mode
        child = subprocess.Popen(
            [sys.executable, __file__, "client", self._home, name, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._running[name] = child
        ear = Thread(target=self._hear, args=(child,))
        self._ears.append(ear)
        ear.start()

    def _hear(self, child: "subprocess.Popen[str]") -> None:
        assert child.stdout is not None
        with child.stdout as lines:
            for line in lines:
                if line.endswith("\n"):  # else it was killed while it spoke
                    with self._changed:
                        self.acks.append(Ack(*json.loads(line)))
                        self._changed.notify_all()


def client_main(home: str, name: str, mode: str) -> None:
    ends = Event()
    Thread(target=lambda: (sys.stdin.read(), ends.set()), daemon=True).start()
    dice = random.Random(name)
    with owner_of(Given(home, no_service=mode == "here")) as owner:
        for n in count():
            key = f"{name}-{n}" if n % 2 else None
            logging = owner.append(Entry("user" if n % 4 else "eukhe", text_of(name, n), key=key))
            print(json.dumps((name, n, logging.first, logging.count)), flush=True)
            if ends.wait(dice.random() * PAUSE_MAX_S):
                return


# --- racers ---


class Racers:
    """Processes that want the owner of a home at the same moment."""

    def __init__(self, number: int) -> None:
        self.racers = [
            subprocess.Popen(
                [sys.executable, __file__, "racer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(number)
        ]

    def race(self, home: Path, mode: str) -> tuple[set[int], list[int]]:
        """One race: the owners that served them, while all were still there, and the ids they were given."""
        self._tell(f"{home} {mode}")
        served = [json.loads(self._line(racer)) for racer in self.racers]
        self._tell("end")
        assert ["left\n"] * len(self.racers) == [self._line(racer) for racer in self.racers]
        return {owner for owner, _ in served}, sorted(first for _, first in served)

    def end(self) -> None:
        for racer in self.racers:
            racer.communicate()
        assert [0] * len(self.racers) == [racer.returncode for racer in self.racers]

    def _tell(self, line: str) -> None:
        for racer in self.racers:
            assert racer.stdin is not None
            racer.stdin.write(f"{line}\n")
            racer.stdin.flush()

    def _line(self, racer: "subprocess.Popen[str]") -> str:
        assert racer.stdout is not None
        return racer.stdout.readline()


def racer_main() -> None:
    for line in iter(sys.stdin.readline, ""):
        home, mode = line.split()
        with owner_of(Given(home, no_service=mode == "here")) as owner:
            logging = owner.append(Entry("user", f"racer {os.getpid()}"))
            print(json.dumps((owner._asker.pid, logging.first)), flush=True)
            sys.stdin.readline()
        print("left", flush=True)


def main(role: str, args: Sequence[str]) -> None:
    if role == "client":
        client_main(*args)
    else:
        racer_main()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
