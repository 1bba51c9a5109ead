"""The chat of a home, for reading. Nothing in it is changed, and no owner is needed.

Where no process owns the chat, the lock is taken for the moment in which index.db is mended; else what the index does
not know yet is read from the logs, for this command alone.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from eukhe.actors.archive import Archive
from eukhe.actors.opening import Opened, open_chat
from eukhe.cli.command import Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import say
from eukhe.cli.progress import logs_progress
from eukhe.errors import ChatLockedError, HomeError, IndexFailed, NotFoundError
from eukhe.limits import PROBLEMS_SHOWN
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.part import Part
from eukhe.model.verify import INDEX_FILE as INDEX_FILE
from eukhe.world.disk import RealDisk
from eukhe.world.home import find_chat
from eukhe.world.index import SqliteIndex
from eukhe.world.index_file import remove_index
from eukhe.world.index_reader import ReaderIndex
from eukhe.world.lock import ChatLock, owner_pid


class Memory(NamedTuple):
    """`folder`: the chat's. `owner`: the process that owns it, if one does."""

    folder: Path
    opened: Opened
    archive: Archive
    owner: int | None

    @property
    def chat(self) -> Chat:
        return self.opened.chat

    def text(self, part: Part) -> str | None:
        """A node's line; None where it is not built. A free node may be built and not yet logged.

        IndexFailed where the index does not have one that is built.
        """
        text = self.archive.node_text(part)
        if text is None and part in self.opened.free:
            sources = (self.text(half) for half in part.halves) if part.level else self.archive.source(part)
            text = "\n".join(source for source in sources or () if source is not None)
        if text is None and self.chat.built_nodes.has(*part):
            raise IndexFailed(INDEX_FILE, f"does not have node {part.name}")
        return text


def find(given: Given) -> Path:
    """The chat's folder. NotFoundError where the home has none."""
    folder = find_chat(given.home)
    if folder is None:
        begins = "`eukhe -p TEXT` begins one, or `eukhe chat import sessions PATH`"
        raise NotFoundError(f"{given.home}: there is no chat here yet; {begins}")
    return folder


@contextmanager
def reading(given: Given) -> Iterator[Memory]:
    """The memory. NotFoundError where the home has no chat, and whatever keeps it from being read."""
    folder = find(given)
    limits = settings_of(given).chat_limits()
    with ExitStack() as stack:
        disk = stack.enter_context(closing(RealDisk(folder)))
        with ExitStack() as mending:
            alone, owner = _lock(folder, mending)
            index, opened = _open(given, disk, limits, stack, alone=alone)
        # Where ids are missing no one can say whether it is the index or the log that does not have a message.
        archive = Archive(disk, index, opened.chat.t if opened.damage is None else 0)
        yield Memory(folder, opened, archive, owner)


def _lock(folder: Path, stack: ExitStack) -> tuple[bool, int | None]:
    """Takes the lock where it can be had; whether it could, and the process that owns the chat."""
    try:
        stack.enter_context(ChatLock(folder, to_own=False))
    except ChatLockedError:
        return False, owner_pid(folder)
    except HomeError:
        return False, None
    return True, None


def _open(
    given: Given, disk: RealDisk, limits: ChatLimits, stack: ExitStack, *, alone: bool
) -> tuple[SqliteIndex | ReaderIndex, Opened]:
    """The index and the chat, for as long as the stack is open. Where the index can't be mended it is only read."""
    path = disk.root / INDEX_FILE
    if alone:
        with suppress(IndexFailed):  # a full disk, a home that may not be written
            mended = SqliteIndex(path)
            return mended, _opened(disk, mended, limits, stack, alone=True)
    index = ReaderIndex(path)
    if given.index_is_bad:
        index.clear()
    return index, _opened(disk, index, limits, stack, alone=alone)


def _opened(
    disk: RealDisk, index: SqliteIndex | ReaderIndex, limits: ChatLimits, stack: ExitStack, *, alone: bool
) -> Opened:
    """The chat. The index is closed with the stack, or at once where it failed."""
    with ExitStack() as tried:
        tried.enter_context(closing(index))
        if index.said:
            say(index.said)
        with logs_progress() as read:
            opened = open_chat(disk, index, limits, owner=False, alone=alone, progress=read)
        stack.enter_context(tried.pop_all())
    return opened


def set_index_aside(given: Given, error: IndexFailed) -> None:
    """Throws a bad index away, so that the command can be run once more, and says so.

    Where the chat can't be locked, as while another process owns it, the file stays and is not looked into.
    """
    folder = find(given)
    try:
        with ChatLock(folder, to_own=False):
            remove_index(folder / INDEX_FILE)
        say(f"{error.path}: {error.why}; it is made anew from the logs")
    except (ChatLockedError, HomeError) as locked:
        given.index_is_bad = True
        say(f"{error.path}: {error.why}; the logs are read instead, since it can't be made anew: {locked}")


def tell_problems(opened: Opened) -> None:
    """Says what is wrong in the files, the worst of it; what closes the chat for writing in a line of its own."""
    damage = opened.damage
    if damage is not None:
        say(str(damage))
    said = damage and (damage.path, damage.line, damage.offset, damage.what)
    others = [
        problem for problem in opened.problems if (problem.file, problem.line, problem.offset, problem.what) != said
    ]
    for problem in sorted(others, key=lambda problem: problem.harmless)[:PROBLEMS_SHOWN]:
        say(str(problem))
    if (more := len(others) + opened.more - PROBLEMS_SHOWN) > 0:
        say(f"and {more} more; `eukhe chat verify` lists all")
