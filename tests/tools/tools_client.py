"""A client whose tools run, in a process of its own that can be killed.

python tests/tools/tools_client.py FOLDER KEEPER COMMAND…     runs the commands at once, and says all they print; with
`its second` as KEEPER the first has died meanwhile. A line on stdin: exit, without an end
"""

import json
import os
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from eukhe.actors.ports import ToolEvent, ToolSaid  # noqa: E402
from tests.leaks import comes_true  # noqa: E402
from tests.tools_kit import at_work, ended, keepers  # noqa: E402


def main() -> None:
    folder, keeper, *commands = sys.argv[1:]
    with at_work(Path(folder)) as bench:
        for number, command in enumerate(commands):
            bench.tools.start(number, "bash", json.dumps({"command": command}), say)
            if number == 0 and keeper == "its second":
                assert comes_true(lambda: bool(keepers()))
                first = keepers()[0]
                os.kill(first, signal.SIGKILL)
                assert ended(first)
        sys.stdin.readline()
        os._exit(0)


def say(event: ToolEvent) -> None:
    assert isinstance(event, ToolSaid), event
    print(event.text, end="", flush=True)


if __name__ == "__main__":
    main()
