"""Where a chat's owner is reached: the socket `chat/socket`, or a link there to one, where that path would be too long.

A socket's path has room for about a hundred bytes. Of a longer one the socket lies in a folder of the user's own below
the system's temporary one, named by a digest of the chat's path. The address is no truth, the lock is: what lies there
when its holder comes was left by an owner that has died.
"""

import errno
import os
import socket
import stat
import struct
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import gettempdir

from eukhe.errors import HomeError
from eukhe.limits import (
    CLIENTS_QUEUED_MAX,
    FILE_MODE,
    HOME_MODE,
    SOCKET_DIGEST_BYTES,
    SOCKET_PATH_BYTES_MAX,
)

_NAME = "socket"
_SHORT = "/tmp"
_NEW = ".new"  # the holder of the lock alone makes one
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PEER = struct.Struct("3i")  # pid, uid, gid


class Address:
    """The open address of a chat that this process owns. `listener` waits for clients, who may come from now on."""

    def __init__(self, chat: Path) -> None:
        """HomeError where it can't be opened."""
        self._link = chat / _NAME
        self._socket = self._link if _fits(self._link) else _elsewhere(chat)
        self._inode: int | None = None  # the socket's, which is no other file's as long as it listens
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._open()
        except OSError as error:
            self.close()
            raise HomeError(f"{self._socket}: {error.strerror or error}; the chat's address can't be opened") from error

    def close(self) -> None:
        """It is gone, and nothing is left of it. Should the chat's folder be another one by now, its address stays."""
        with suppress(OSError):
            if self._socket.lstat().st_ino == self._inode:
                for path in {self._link, self._socket}:
                    path.unlink(missing_ok=True)
        self._inode = None
        self.listener.close()

    def _open(self) -> None:
        """Each name comes into its place whole: clients find the old one, or one where somebody listens."""
        new = _new(self._socket)
        new.unlink(missing_ok=True)
        self.listener.bind(str(new))
        new.chmod(FILE_MODE)
        self.listener.listen(CLIENTS_QUEUED_MAX)
        self.listener.setblocking(False)
        self._inode = new.lstat().st_ino
        new.replace(self._socket)
        if self._link != self._socket:
            new = _new(self._link)
            new.unlink(missing_ok=True)
            new.symlink_to(self._socket)
            new.replace(self._link)


def find(chat: Path) -> Path | None:
    """The path by which a chat's owner is reached, if there is one; None where there can be none."""
    path = chat / _NAME
    with suppress(OSError):  # no link, or nothing at all
        path = path.readlink()
    return path if len(os.fsencode(path)) <= SOCKET_PATH_BYTES_MAX else None


def peer_uid(connection: socket.socket) -> int | None:
    """The user at a connection's other end, None where the system does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    _, uid, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return int(uid)


def is_other_user(connection: socket.socket) -> bool:
    """Whether a connection's other end is known to be another user's."""
    return peer_uid(connection) not in (None, os.geteuid())


def _new(path: Path) -> Path:
    return Path(f"{path}{_NEW}")


def _fits(path: Path) -> bool:
    return len(os.fsencode(_new(path))) <= SOCKET_PATH_BYTES_MAX


def _elsewhere(chat: Path) -> Path:
    """The socket's path in the user's folder below the temporary one, which is made where it is missing."""
    name = blake2b(os.fsencode(chat.absolute()), digest_size=SOCKET_DIGEST_BYTES).hexdigest()
    folders = [Path(temporary).absolute() / f"eukhe-{os.geteuid()}" for temporary in (gettempdir(), _SHORT)]
    # A temporary folder of somebody's own may be as deep as the chat.
    folder = next((folder for folder in folders if _fits(folder / name)), folders[-1])
    try:
        _make_private(folder)
    except OSError as error:
        raise HomeError(f"{folder}: {error.strerror}; the chat's path is too long for a socket in it") from error
    _sweep(folder)
    return folder / name


def _sweep(folder: Path) -> None:
    """Takes away the sockets that nobody listens at: their owners were killed, and their chats may be gone by now."""
    for path in folder.iterdir():
        if path.suffix == _NEW:
            continue  # somebody is about to
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe, suppress(OSError):
            probe.setblocking(False)
            if probe.connect_ex(str(path)) == errno.ECONNREFUSED:
                path.unlink()


def _make_private(folder: Path) -> None:
    """Anyone may have made something of this name before: it counts only where nobody else can change what is in it."""
    with suppress(FileExistsError):
        folder.mkdir(HOME_MODE)
        folder.chmod(HOME_MODE)  # whatever the umask
    state = folder.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & _OTHERS:
        raise HomeError(f"{folder}: no folder of your own alone (0700); remove it, or set TMPDIR to another folder")
