"""The tools that touch the user's machine: each runs in a thread of its own, several at a time.

What they give has its secrets hidden before it is cut, so that no half of one is left. A tool that was stopped is not
heard of any more: a command's processes are killed; a file that is being written is written, or not, as a whole.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from eukhe.actors.ports import ToolEnded, ToolEvent, ToolSaid
from eukhe.limits import TOOLS_CLOSE_S
from eukhe.model.secrets import Secrets
from eukhe.model.tool_input import Bash, Edit, Input, Read, WrongInput, decode
from eukhe.world.tools.bash import run_bash
from eukhe.world.tools.change import run_edit, run_write
from eukhe.world.tools.environment import of_tools
from eukhe.world.tools.group import Groups
from eukhe.world.tools.place import RealPlace
from eukhe.world.tools.printed import Printed
from eukhe.world.tools.read import run_read

Heard = Callable[[ToolEvent], None]


class RealTools:
    """Implements `Tools`. `keys`: those of the providers, which no tool gets, whatever the environment calls them."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], secrets: Secrets, keys: Iterable[str] = ()
    ) -> None:
        self._folder = folder
        self.place = RealPlace(folder)
        self._environment = of_tools(environment, keys)
        self._secrets = secrets
        self._groups = Groups()
        self._lock = threading.Lock()
        self._changing = threading.Lock()  # of two changes of a file the second sees the first
        self._running: dict[int, _Running] = {}
        self._threads: set[threading.Thread] = set()
        self._closed = False

    def start(self, call: int, name: str, input_: str, heard: Heard) -> None:
        running = _Running(heard)
        thread = threading.Thread(target=self._run, args=(call, name, input_, running), name="tool", daemon=True)
        with self._lock:
            assert not self._closed, "the tools have gone"
            assert call not in self._running, f"tool {call} runs"
            self._running[call] = running
            self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            self._end(
                call, thread, running, ToolEnded("No thread could be started for it: there are too many.", failed=True)
            )

    def stop(self, call: int) -> None:
        with self._lock:
            running = self._running.pop(call, None)
        if running is not None:
            running.stop()

    def close(self) -> None:
        """Stops all, and ends all processes. A second time does nothing."""
        with self._lock:
            self._closed = True
            running, threads = list(self._running.values()), list(self._threads)
            self._running.clear()
        for one in running:
            one.stop()
        for thread in threads:
            thread.join(TOOLS_CLOSE_S)  # one that waits for a disk of the network may never end
        self._groups.close()

    def _run(self, call: int, name: str, input_: str, running: "_Running") -> None:
        ended = ToolEnded("It broke.", failed=True)
        try:
            ended = self._ended(name, input_, running)
        finally:
            self._end(call, threading.current_thread(), running, ended)

    def _end(self, call: int, thread: threading.Thread, running: "_Running", ended: ToolEnded) -> None:
        running.end(ended, lambda: self._forget(call))
        with self._lock:
            self._threads.discard(thread)

    def _forget(self, call: int) -> None:
        with self._lock:
            self._running.pop(call, None)

    def _ended(self, name: str, input_: str, running: "_Running") -> ToolEnded:
        """Runs it; whatever goes wrong is said to the model."""
        try:
            given = decode(name, input_)
        except WrongInput as error:
            return ToolEnded(str(error), failed=True)
        try:
            return self._do(given, running)
        except OSError as error:
            what = "bash" if isinstance(given, Bash) else given.path
            return ToolEnded(f"{what}: {error.strerror or error}.", failed=True)

    def _do(self, given: Input, running: "_Running") -> ToolEnded:
        match given:
            case Bash():
                printed = Printed(self._secrets, lambda text: running.tell(ToolSaid(text)))
                return run_bash(given, self._groups, self._folder, self._environment, printed, running.on_stop)
            case Read():
                return run_read(given, self.place, self._secrets, lambda: running.over)
        with self._changing:
            return run_edit(given, self.place) if isinstance(given, Edit) else run_write(given, self.place)


class _Running:
    """A tool that runs until its end is told or it is stopped, whichever comes first."""

    def __init__(self, heard: Heard) -> None:
        self.over = False
        self._heard = heard
        self._kill: Callable[[], None] = _nothing
        self._lock = threading.RLock()  # what is told may stop it

    def tell(self, event: ToolEvent) -> None:
        with self._lock:
            if not self.over:
                self._heard(event)

    def end(self, event: ToolEnded, forget: Callable[[], None]) -> None:
        """Tells its end, once it is forgotten, so that what follows may be anything."""
        with self._lock:
            if not self.over:
                self.over = True
                forget()
                self._heard(event)

    def on_stop(self, kill: Callable[[], None]) -> None:
        """What is to be done when it is stopped; now, if it was."""
        with self._lock:
            self._kill = kill
            if self.over:
                kill()

    def stop(self) -> None:
        with self._lock:
            self.over = True
            self._kill()


def _nothing() -> None:
    pass
