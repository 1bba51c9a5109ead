"""What is so now, for the end of a turn's view: time, folder, branch, the folder's own instructions. Rule 51.

Whatever a folder holds, this takes no time worth naming: files are read up to a limit, and no program is run.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from eukhe.actors.ports import Clock
from eukhe.limits import (
    FOLDER_INSTRUCTIONS_BYTES_MAX,
    FOLDER_INSTRUCTIONS_CHARS_MAX,
    GIT_BRANCH_CHARS_MAX,
    GIT_COMMIT_DIGITS,
    GIT_FILE_BYTES_MAX,
)
from eukhe.model.text import clean, clip, flatten
from eukhe.world.home import INSTRUCTIONS
from eukhe.world.prompts import read_beginning, with_newlines

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_BRANCH: Final = "ref: refs/heads/"
_NO_BRANCH: Final = ".invalid"  # what stands in HEAD of a repository that keeps its branches in another form
_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}")
_GIT_FILE: Final = "gitdir: "


def state_now(folder: Path, clock: Clock) -> str:
    """What is so now, a line each, then what the folder's AGENTS.md says."""
    lines = [f"Now: {_time(clock)}", f"Folder: {_one_line(str(folder))}"]
    if branch := git_branch(folder):
        lines.append(f"Git branch: {branch}")
    if instructions := _instructions(folder):
        lines += ["", f"The folder's {INSTRUCTIONS}:", "", instructions]
    return "\n".join(lines)


def git_branch(folder: Path) -> str | None:
    """The branch that is checked out in a folder, or `no branch, at` a commit. None where that can't be told."""
    for git in _git_folders(folder):
        head = _read(git / "HEAD", GIT_FILE_BYTES_MAX).strip()
        branch = head.removeprefix(_BRANCH)
        if branch not in (head, _NO_BRANCH):
            return _one_line(branch)[:GIT_BRANCH_CHARS_MAX]
        return f"no branch, at {head[:GIT_COMMIT_DIGITS]}" if _COMMIT.fullmatch(head) else None
    return None


def _git_folders(folder: Path) -> Iterator[Path]:
    """The folders with git's own files, of this folder and of those that it lies in, the nearest first."""
    for above in (folder, *folder.parents):
        git = above / ".git"
        if os.path.isdir(git):  # noqa: PTH112, Path's raises where it may not look
            yield git
        elif (named := _read(git, GIT_FILE_BYTES_MAX)).startswith(_GIT_FILE):  # a worktree's, or a submodule's
            yield above / named.removeprefix(_GIT_FILE).rstrip("\r\n")


def _instructions(folder: Path) -> str:
    text = with_newlines(_read(folder / INSTRUCTIONS, FOLDER_INSTRUCTIONS_BYTES_MAX))
    return clip(text.strip(), FOLDER_INSTRUCTIONS_CHARS_MAX)


def _time(clock: Clock) -> str:
    moment = clock.local()
    offset = moment.strftime("%z")
    return f"{_DAYS[moment.weekday()]}, {moment:%Y-%m-%d %H:%M:%S} {offset[:-2]}:{offset[-2:]}"


def _one_line(text: str) -> str:
    """A name that anybody may have given, on one line."""
    return flatten(clean(text))


def _read(path: Path, bytes_max: int) -> str:
    """The beginning of a file, as text whatever it holds; empty where there is none, or none that can be read."""
    try:
        data = read_beginning(path, bytes_max)
    except (OSError, ValueError):  # ValueError: a name with a NUL
        return ""
    return clean(data.decode("utf-8-sig", errors="replace"))
