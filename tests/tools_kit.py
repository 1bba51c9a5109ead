"""What tests of tools share: tools at work in a folder, and an ear for what is heard of one."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from eukhe.actors.ports import ToolEnded, ToolEvent, ToolSaid
from eukhe.model.secret_shapes import own_secrets
from eukhe.model.secrets import Secrets
from eukhe.world.tools.tools import RealTools
from tests.leaks import comes_true, descendants, is_running

WAIT_S = 30.0
KEEPER = "read -r sign group"  # stands in its command line


class Ear:
    """Hears a tool."""

    def __init__(self) -> None:
        self.events: SimpleQueue[ToolEvent] = SimpleQueue()
        self.said = ""

    def __call__(self, event: ToolEvent) -> None:
        self.events.put(event)

    def hears(self, wanted: str) -> None:
        """Waits until the tool has printed this."""
        while wanted not in self.said:
            self._more()

    def lines(self, count: int) -> list[str]:
        """The first lines that the tool prints, once they are there."""
        while self.said.count("\n") < count:
            self._more()
        return self.said.split("\n")[:count]

    def _more(self) -> None:
        event = self.events.get(timeout=WAIT_S)
        assert isinstance(event, ToolSaid), event
        self.said += event.text

    def end(self) -> ToolEnded:
        while isinstance(event := self.events.get(timeout=WAIT_S), ToolSaid):
            self.said += event.text
        return event

    def rest(self) -> list[ToolEvent]:
        """What was heard and not yet taken."""
        found = []
        while True:
            try:
                found.append(self.events.get_nowait())
            except Empty:
                return found


class Bench:
    """Tools at work."""

    def __init__(self, tools: RealTools, folder: Path) -> None:
        self.tools = tools
        self.folder = folder
        self._calls = count()

    def begin(self, name: str, /, **given: Any) -> tuple[int, Ear]:
        call, ear = next(self._calls), Ear()
        self.tools.start(call, name, json.dumps(given), ear)
        return call, ear

    def run(self, name: str, /, **given: Any) -> ToolEnded:
        return self.begin(name, **given)[1].end()

    def text(self, name: str, /, **given: Any) -> str:
        """Of a tool that did what it was to do."""
        ended = self.run(name, **given)
        assert not ended.failed, ended.text
        return ended.text

    def why(self, name: str, /, **given: Any) -> str:
        """Of a tool that could not do it."""
        ended = self.run(name, **given)
        assert ended.failed, ended.text
        return ended.text


@contextmanager
def at_work(folder: Path, environment: Mapping[str, str] | None = None, *keys: str) -> Iterator[Bench]:
    """Tools in a folder, with this environment on top of the tests' own."""
    whole = {**os.environ, **(environment or {})}
    with closing(RealTools(folder, whole, Secrets(own_secrets(whole)), keys)) as tools:
        yield Bench(tools, folder)


def ended(pid: int | str) -> bool:
    """Whether a process has, soon."""
    return comes_true(lambda: not is_running(int(pid)))


def keepers() -> list[int]:
    """The processes, of this one, that end its tools' groups with it."""
    return [pid for pid, child in descendants().items() if KEEPER in child.command and child.state != "Z"]
