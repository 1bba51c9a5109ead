"""The tools `write` and `edit`: a file gets all of its new content, as another takes its place, or stays as it is."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from eukhe.actors.ports import ToolEnded
from eukhe.limits import TOOL_FILE_BYTES_MAX, TOOL_NAME_BYTES
from eukhe.model.edit import NoEdit, edit
from eukhe.model.tool_input import Edit, Write
from eukhe.world.tools.files import Unfit, encoded, kind_of, whole_text
from eukhe.world.tools.place import RealPlace

_NEW_FILE_MODE = 0o666  # number: as every program asks for, and the umask takes from


def run_write(given: Write, place: RealPlace) -> ToolEnded:
    """Writes a whole file. OSError, Unfit."""
    path = Path(place.resolve(given.path))
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise Unfit(f"{folder} can't be its folder: a file has that name, or one of those above") from None
    data = given.text.encode()
    before = _replace(path, data)
    was = "it is new" if before is None else f"it had {before:,}"
    return ToolEnded(f"Wrote {len(data):,} bytes to {path}; {was}.")


def run_edit(given: Edit, place: RealPlace) -> ToolEnded:
    """Changes a passage of a file. OSError, Unfit."""
    path = Path(place.resolve(given.path))
    text, encoding = whole_text(path, TOOL_FILE_BYTES_MAX)
    made = edit(text, given.old, given.new, everywhere=given.all)
    if isinstance(made, NoEdit):
        return ToolEnded(f"{path}: {made.why}", failed=True)
    _replace(path, encoded(made.text, encoding))
    places = "1 place" if made.places == 1 else f"{made.places} places"
    return ToolEnded(f"Changed {places} in {path}.")


def _replace(path: Path, data: bytes) -> int | None:
    """Puts a file of this content in a file's place, with its mode and owner. How large that was; None: it is new."""
    try:
        there = path.stat()
    except FileNotFoundError:
        there = None
    if there is not None and (kind := kind_of(path)) is not None:
        raise Unfit(f"it is {kind}, no file that could be written")
    if there is not None and not os.access(path, os.W_OK):  # its folder would let it be replaced
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    new = path.with_name(f".{secrets.token_hex(TOOL_NAME_BYTES)}.new")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _NEW_FILE_MODE)
    try:
        with os.fdopen(fd, "wb") as file:
            if there is not None:
                with suppress(PermissionError):  # only root may give a file away
                    os.fchown(fd, there.st_uid, there.st_gid)
                os.fchmod(fd, stat.S_IMODE(there.st_mode))
            file.write(data)
            file.flush()
            os.fsync(fd)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    return None if there is None else there.st_size
