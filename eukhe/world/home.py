"""The home: where everything of a user lies, readable by that user alone.

    <home>/                 0700; every file in it 0600
      settings.json
      chat/
        format.json         the version of what lies here
        main/ tree/ images/ agents/ calls/
        view.json lock

A home that someone else planted could hand the agent another's memory, or have it write where others read. So neither
the home nor a folder of the chat may belong to another user, nor a link that leads there.
"""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import orjson

from eukhe.errors import FormatError, HomeError, StoreError
from eukhe.limits import FORMAT_VERSION, HOME_MODE
from eukhe.world.disk import RealDisk, sync_folder

if not sys.platform.startswith("win"):
    import fcntl

_VARIABLE = "EUKHE_HOME"
_CHAT = "chat"
INSTRUCTIONS = "AGENTS.md"  # the user's own, which may be there before all else
_SETTINGS = "settings.json"
_FORMAT = "format.json"
_FOLDERS = ("main", "tree", "images", "agents", "calls")
_ELSEWHERE = f"name a folder of your own in {_VARIABLE}"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def home_path(environment: Mapping[str, str]) -> Path:
    """`$EUKHE_HOME`, else `~/.eukhe`, absolute. HomeError where there is no such place on this system."""
    if sys.platform.startswith("win"):
        raise HomeError("eukhe does not run on Windows; it does in WSL")
    given = environment.get(_VARIABLE)
    try:
        return (Path(given) if given else Path("~/.eukhe")).expanduser().absolute()
    except RuntimeError as error:  # no home folder to put for `~`
        raise HomeError(f"{given or '~/.eukhe'}: {error}; {_ELSEWHERE}") from error


def chat_path(home: Path) -> Path:
    """The chat's folder in a home."""
    return home / _CHAT


def make_home(home: Path) -> Path:
    """Makes what is missing of the home and its chat, private whatever the umask, and gives the chat's folder.

    HomeError where it can't be made or written or is not the user's own; FormatError for a chat of another version.
    """
    _make_folder(home)
    chat = chat_path(home)
    _make_folder(chat)
    _check_format(chat)
    for name in _FOLDERS:
        _make_folder(chat / name)
    if not (chat / _FORMAT).exists():
        _write_format(chat)
    return chat


def _write_format(chat: Path) -> None:
    with alone(chat):  # two first starts at a time
        try:
            RealDisk(chat).replace(_FORMAT, orjson.dumps({"format": FORMAT_VERSION}) + b"\n", sync=True)
        except StoreError as error:
            raise HomeError(f"{error.path}: {error.reason}; make room, or {_ELSEWHERE}") from error


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keeps two processes that change small files of a folder from taking away each other's work."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def find_chat(home: Path) -> Path | None:
    """The chat's folder for reading, None where there is none yet. Makes and changes nothing.

    HomeError where it can't be read or is not the user's own; FormatError for a chat of another version.
    """
    chat = chat_path(home)
    for folder in (home, chat):
        if not _check_folder(folder):
            return None
    _check_format(chat)
    for name in _FOLDERS:
        _check_folder(chat / name)
    return chat


def _make_folder(path: Path) -> None:
    """Makes it and what it lies in, where missing; a folder with room for others is made private."""
    try:
        for missing in reversed([folder for folder in (path, *path.parents) if not os.path.lexists(folder)]):
            missing.mkdir(HOME_MODE, exist_ok=True)
            missing.chmod(HOME_MODE)
            # Else lost power could take the folder away from around a log that was synced.
            sync_folder(missing.parent)
        if not _check_folder(path):
            raise HomeError(f"{path}: a link to nowhere; remove it, or {_ELSEWHERE}")
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & _OTHERS:
            if not _is_ours(path):
                raise HomeError(
                    f"{path}: holds other files, and others may look into it: no home of eukhe; {_ELSEWHERE}"
                )
            path.chmod(mode & ~_OTHERS)
    except OSError as error:
        raise HomeError(f"{error.filename or path}: {error.strerror}; {_ELSEWHERE}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise HomeError(f"{path}: you may not write here; `chmod u+rwx` it, or {_ELSEWHERE}")


def _is_ours(folder: Path) -> bool:
    """Whether a folder is a home, a part of one, or about to be. Any other is not to be closed to others, as /tmp."""
    names = {entry.name for entry in folder.iterdir()}
    ours = {_CHAT, _SETTINGS, _FORMAT, *_FOLDERS}
    return names <= {INSTRUCTIONS} or not names.isdisjoint(ours) or folder.name in _FOLDERS


def _check_folder(path: Path) -> bool:
    """Whether it is there. HomeError where it is not the user's, or can't be looked into."""
    try:
        states = (path.lstat(), path.stat())
    except FileNotFoundError:
        return False
    except OSError as error:
        raise HomeError(f"{path}: {error.strerror}; {_ELSEWHERE}") from error
    for state in states:
        if state.st_uid != os.geteuid():
            what = "link" if stat.S_ISLNK(state.st_mode) else "folder"
            raise HomeError(f"{path}: this {what} belongs to another user (uid {state.st_uid}); {_ELSEWHERE}")
    if not stat.S_ISDIR(states[-1].st_mode):
        raise HomeError(f"{path}: no folder; move it away, or {_ELSEWHERE}")
    if not os.access(path, os.R_OK | os.X_OK):
        raise HomeError(f"{path}: you may not read it; `chmod u+rx` it, or {_ELSEWHERE}")
    return True


def _check_format(chat: Path) -> None:
    """A chat without the file is one of the first format, or another program's that has the same form."""
    file = chat / _FORMAT
    try:
        found = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return
    except OSError as error:
        raise HomeError(f"{file}: {error.strerror}; {_ELSEWHERE}") from error
    except orjson.JSONDecodeError:
        found = None
    version = found.get("format") if isinstance(found, dict) else None
    if version != FORMAT_VERSION:
        known = f"this version of eukhe knows format {FORMAT_VERSION}"
        raise FormatError(
            f"{file}: names no format; {known}"
            if version is None
            else f"{file}: the chat has format {version}, {known}; install the eukhe that wrote it"
        )
