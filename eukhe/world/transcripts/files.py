"""Which files a path means."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from eukhe.errors import ImportFailedError

_NOTE = ".meta.json"  # beside a session of the same name: a program's own note about it, in which nothing is said


class Found(NamedTuple):
    """A file to be looked at, or a path that is passed over, with the reason. `given`: the path it was found by."""

    path: Path
    given: Path
    why: str = ""


def find(paths: Sequence[Path]) -> Iterator[Found]:
    """The files that paths mean: themselves, or all that lie under them, each once however often it is met.

    ImportFailedError for a given path that is not there, can't be read, or is neither a file nor a folder. Links to
    folders are not followed, so that no loop of links and no whole disk is ever walked.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        try:
            mode = path.stat()
        except OSError as error:
            raise ImportFailedError(path, f"can't be read: {_reason(error)}") from None
        if stat.S_ISDIR(mode.st_mode):
            yield from _under(path, seen)
        elif not stat.S_ISREG(mode.st_mode):
            raise ImportFailedError(path, "neither a file nor a folder")
        elif _first(mode, seen):
            yield Found(path, path)


def _under(folder: Path, seen: set[tuple[int, int]]) -> Iterator[Found]:
    """All files under a folder, in the order of their names."""
    failed: list[OSError] = []
    for where, folders, names in os.walk(folder, onerror=failed.append):
        folders.sort()
        here = Path(where)
        for name in folders:
            if (here / name).is_symlink():
                yield Found(here / name, folder, "a link to a folder, not followed: name that folder itself")
        beside = {f"{Path(name).stem}{_NOTE}" for name in names}
        for name in sorted(names):
            if name not in beside:
                yield from _one(here / name, folder, seen)
        yield from _failed(failed, folder)
    yield from _failed(failed, folder)


def _failed(failed: list[OSError], given: Path) -> Iterator[Found]:
    """Takes what could not be listed; ImportFailedError for the folder that was named itself."""
    while failed:
        error = failed.pop()
        if Path(error.filename) == given:
            raise ImportFailedError(given, f"can't be read: {_reason(error)}")
        yield Found(Path(error.filename), given, f"can't be read: {_reason(error)}")


def _one(path: Path, given: Path, seen: set[tuple[int, int]]) -> Iterator[Found]:
    try:
        mode = path.stat()
    except OSError as error:
        yield Found(path, given, f"can't be read: {_reason(error)}")
        return
    if not stat.S_ISREG(mode.st_mode):
        yield Found(path, given, "no regular file")
    elif _first(mode, seen):
        yield Found(path, given)


def _first(mode: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    place = (mode.st_dev, mode.st_ino)
    if place in seen:
        return False
    seen.add(place)
    return True


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
