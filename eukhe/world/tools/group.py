"""Groups of processes that end with this one, whatever ends it.

The keeper is a small shell that reads which groups there are; where this process is gone it reads that there is no
more to come, and kills those that are left. It holds nothing of ours but that pipe, and no group holds anything: what
a tool starts has the handles it would have in a terminal. A group's first process waits until the keeper knows of it.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_SHELL: Final = "/bin/sh"
# `- 41` takes a group out. The builtins are all that it needs; no signal of a terminal is to end it.
_KEEPER: Final = """
trap '' HUP INT QUIT TERM PIPE
groups=' '
while read -r sign group; do
  case $sign in
  +) groups="$groups$group " ;;
  -) left=' '; for one in $groups; do [ "$one" = "$group" ] || left="$left$one "; done; groups=$left ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done 2>/dev/null
"""
# Its input is the gate: one line lets it go on, its end does not.
_WAIT: Final = 'read -r gate || exit; exec "$@" </dev/null'


class Groups:
    """Starts groups. The keeper begins with the first, and again should it die."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keeper: subprocess.Popen[bytes] | None = None
        self._there: set[int] = set()

    def start(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> "Group":
        """A command in a session of its own, without a terminal or an input. OSError where it can't be started."""
        process = subprocess.Popen(
            [_SHELL, "-c", _WAIT, _SHELL, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
        group = Group(self, process)
        try:
            self._add(group.id)
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # it has been killed
                process.stdin.write(b"\n")
            process.stdin.close()
        except BaseException:
            group.close()
            raise
        return group

    def close(self) -> None:
        """Lets the keeper go, which kills what is left."""
        with self._lock:
            keeper, self._keeper = self._keeper, None
        if keeper is not None:
            _end(keeper)

    def forget(self, id_: int) -> None:
        with self._lock:
            self._there.discard(id_)
            if self._keeper is not None:
                with suppress(BrokenPipeError):  # it has died; the next will not know of this group
                    _tell(self._keeper, f"- {id_}")

    def _add(self, id_: int) -> None:
        with self._lock:
            self._there.add(id_)
            if self._keeper is not None:
                try:
                    _tell(self._keeper, f"+ {id_}")
                    return
                except BrokenPipeError:
                    _end(self._keeper)
            self._keeper = subprocess.Popen(
                [_SHELL, "-c", _KEEPER],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                env={},
                start_new_session=True,
            )
            for there in self._there:
                _tell(self._keeper, f"+ {there}")


class Group:
    """A process and all it starts that stays in its group. `id`: the group's, and the process's.

    The process is not waited for before `close`, so that until then its id is no other's.
    """

    def __init__(self, groups: Groups, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self.id = process.pid
        self.output = process.stdout.fileno()
        self._groups = groups
        self._process = process
        self._lock = threading.Lock()
        self._closed = False

    def kill(self) -> None:
        """All of it, at once. From any thread."""
        with self._lock:
            if not self._closed:
                with suppress(ProcessLookupError, PermissionError):  # no one is left; or only those of another user
                    os.killpg(self.id, signal.SIGKILL)

    def has_ended(self) -> bool:
        """Whether its first process has."""
        if not hasattr(os, "waitid"):  # where that is missing, its id may be another's a moment early
            return self._process.poll() is not None
        return os.waitid(os.P_PID, self.id, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def close(self) -> int:
        """Kills what is left of it; what its first process ended with, as `Popen.returncode` has it."""
        self.kill()
        self._groups.forget(self.id)
        with self._lock:
            self._closed = True
            code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        return code


def _tell(keeper: subprocess.Popen[bytes], line: str) -> None:
    assert keeper.stdin is not None
    keeper.stdin.write(f"{line}\n".encode())


def _end(keeper: subprocess.Popen[bytes]) -> None:
    assert keeper.stdin is not None
    with suppress(BrokenPipeError):
        keeper.stdin.close()
    keeper.wait()
