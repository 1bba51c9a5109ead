"""The owner of a chat: what it costs while nobody wants anything of it, and how soon a dead one is replaced.

Idle is measured where the system tells the nanoseconds of each thread, as Linux does, beside a Python that sleeps.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from eukhe.actors.messages import Entry
from eukhe.cli.asking import Owner
from eukhe.cli.command import Given
from eukhe.cli.service import owner_of
from eukhe.errors import OwnerGone
from eukhe.model.saved_view import VIEW_FILE
from eukhe.world.home import chat_path
from eukhe.world.link import Link
from measure.command import eukhe, run
from measure.figures import Aim, Figure, Sizes, seconds

MS, NS = 1_000, 1_000_000_000
LIVES = "the same while its owner lives"
SLEEP = [sys.executable, "-I", "-c", "import time; time.sleep(3600)"]
LOOK_S = 0.01


def measure(of: Sizes, folder: Path) -> list[Figure]:
    return [*_idle(of, folder / "idle"), *(_take_over(of, folder / "over", here) for here in (False, True))]


# --- idle ---


def _idle(of: Sizes, home: Path) -> list[Figure]:
    if sys.platform != "linux":
        return []
    with serving(home) as owner, running(SLEEP) as sleeper:
        with owner_of(Given(str(home))) as owning:  # so that it has had something to do
            _append(owning)
        while not (chat_path(home) / VIEW_FILE).exists():  # the last that it does of its own accord
            time.sleep(LOOK_S)
        before = [cpu_s(child) for child in (owner, sleeper)]
        time.sleep(of.idle_s)
        owner_s, sleeper_s = (cpu_s(child) - was for child, was in zip((owner, sleeper), before, strict=True))
    minute = 60 / of.idle_s
    return [
        Figure(
            "CPU of an idle owner, a minute",
            owner_s * MS * minute,
            "ms",
            "a Python that sleeps",
            sleeper_s * MS * minute,
            Aim("more", 1),
        )
    ]


def cpu_s(child: "subprocess.Popen[bytes]") -> float:
    """All that its threads have run."""
    tasks = Path(f"/proc/{child.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / NS


# --- taking over ---


def _take_over(of: Sizes, home: Path, here: bool) -> Figure:
    """From the kill to the acknowledgement by the next owner. The medians."""
    times = [take_over(home, here) for _ in range(of.take_overs)]
    over_s, lives_s = (median(each) for each in zip(*times, strict=True))
    what = "by the client itself" if here else "by one in the background"
    return Figure(f"a killed owner replaced {what}", over_s * MS, "ms", LIVES, lives_s * MS, Aim("value", 1_000))


def take_over(home: Path, here: bool) -> tuple[float, float]:
    """Seconds of an append whose owner was killed, and of one before."""
    with serving(home) as child, owner_of(Given(str(home), no_service=here)) as owner:
        lives_s = seconds(lambda: _append(owner))
        child.kill()
        over_s = seconds(lambda: _append(owner))
    run(eukhe("--home", home, "stop"))
    return over_s, lives_s


def _append(owner: Owner) -> None:
    owner.append(Entry("user", "a"))


# --- processes ---


@contextmanager
def serving(home: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """An owner in a process of its own, which has begun to listen."""
    run(eukhe("--home", home, "config", "set", "memory.model", "builtin/extract"))
    with running(eukhe("--home", home, "serve")) as child:
        while not _is_up(home):
            time.sleep(LOOK_S)
        yield child


def _is_up(home: Path) -> bool:
    try:
        Link.connect(chat_path(home)).close()
    except OwnerGone:
        return False
    return True


@contextmanager
def running(command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            yield child
        finally:
            child.kill()
