"""A whole owner with its door, in this process or, as a program, in one of its own that can be stopped and killed.

python tests/live/door_owner.py CHAT     says `up` when it listens, and ends when it is told to, or its stdin ends
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from eukhe.actors.behaviour import EDGE  # noqa: E402
from eukhe.actors.makers import owner_makers  # noqa: E402
from eukhe.actors.messages import Leaving  # noqa: E402
from eukhe.actors.opening import open_chat  # noqa: E402
from eukhe.actors.threads import Threads  # noqa: E402
from eukhe.model.chat import ChatLimits  # noqa: E402
from eukhe.world.clock import RealClock  # noqa: E402
from eukhe.world.disk import RealDisk  # noqa: E402
from eukhe.world.index import SqliteIndex  # noqa: E402
from eukhe.world.lock import ChatLock  # noqa: E402
from eukhe.world.socket import UnixSockets  # noqa: E402
from eukhe.world.workers import OfflineWorkers  # noqa: E402


@contextmanager
def owning(chat: Path) -> Iterator[Threads]:
    """An owner in this process. It ends with the block."""
    with ExitStack() as stack:
        stack.enter_context(ChatLock(chat))
        disk = stack.enter_context(closing(RealDisk(chat)))
        index, stores = (stack.enter_context(closing(SqliteIndex(chat / "index.db"))) for _ in range(2))
        opened = open_chat(disk, index, ChatLimits(), owner=True)
        clock = RealClock()
        makers = owner_makers(opened, disk, clock, index, stores, "builtin/extract", door=True, pid=os.getpid())
        sockets = stack.enter_context(closing(UnixSockets(chat)))
        system = Threads(makers, disk, clock, OfflineWorkers(), sockets)
        try:
            system.begin()
            yield system
        finally:
            system.end()


@contextmanager
def owner_process(chat: Path) -> Iterator[subprocess.Popen[str]]:
    """An owner in a process of its own, which is up. It is ended with the block, however it is then."""
    owner = subprocess.Popen(
        [sys.executable, __file__, chat], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with owner:
        try:
            assert owner.stdout is not None
            assert "up\n" == owner.stdout.readline()
            yield owner
        finally:
            owner.send_signal(signal.SIGCONT)
            assert owner.stdin is not None
            owner.stdin.close()
            owner.wait(60)


def main() -> None:
    with owning(Path(sys.argv[1])) as system:
        threading.Thread(target=lambda: (sys.stdin.read(), system.tell(EDGE, Leaving("stop"))), daemon=True).start()
        print("up", flush=True)
        assert isinstance(system.edge.hear(None), Leaving)


if __name__ == "__main__":
    main()
