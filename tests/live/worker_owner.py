"""An owner's handles and its workers, in a process of its own that can be stopped and killed.

python tests/live/worker_owner.py CHAT CALLS     says `up` once CALLS calls were taken; a line on stdin is what to do:
`exit` without an end, `close` the workers, which is answered by `closed`
"""

import os
import sys
from contextlib import ExitStack, closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from eukhe.world.disk import RealDisk  # noqa: E402
from eukhe.world.index import SqliteIndex  # noqa: E402
from eukhe.world.lock import ChatLock  # noqa: E402
from eukhe.world.process_workers import ProcessWorkers  # noqa: E402
from eukhe.world.providers.registry import SCRIPT_VARIABLE  # noqa: E402
from eukhe.world.socket import UnixSockets  # noqa: E402
from tests.worker_kit import Script, scripted  # noqa: E402


def main() -> None:
    chat, calls = Path(sys.argv[1]), int(sys.argv[2])
    with ExitStack() as stack:
        stack.enter_context(ChatLock(chat))
        disk = stack.enter_context(closing(RealDisk(chat)))
        (chat / "main").mkdir(exist_ok=True)
        disk.append("main/day.jsonl", b"x\n")
        stack.enter_context(closing(SqliteIndex(chat / "index.db")))
        stack.enter_context(closing(UnixSockets(chat))).listen(lambda event: None)
        careless = os.open(chat / "careless", os.O_CREAT | os.O_WRONLY)
        os.set_inheritable(careless, True)
        workers = ProcessWorkers()
        for call in range(calls):
            workers.start(call, scripted(call), lambda event: None)
        Script(Path(os.environ[SCRIPT_VARIABLE])).taken(calls)
        print("up", flush=True)
        for line in sys.stdin:
            if line == "exit\n":
                os._exit(0)
            workers.close()
            print("closed", flush=True)


if __name__ == "__main__":
    main()
