"""The owner of a chat in this process: every part is made here and given to the others.

The lock first, then the logs are read and mended, then the actors start. At the end they finish what they were told,
and stop in reverse; what was acknowledged is on disk whatever happens in between.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from eukhe.actors.archive import Archive
from eukhe.actors.host import EDGE
from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import (
    Append,
    AppendDone,
    AppendFailed,
    AskStatus,
    Entry,
    Logging,
    Settle,
    Settled,
    SettleFailed,
    Status,
    Sync,
    Synced,
)
from eukhe.actors.opening import Opened, open_chat
from eukhe.actors.threads import Threads
from eukhe.cli.output import say
from eukhe.cli.progress import logs_progress
from eukhe.cli.reading import INDEX_FILE, tell_problems
from eukhe.errors import Bug, ExpectedError
from eukhe.limits import FILE_MODE, STATUS_EVERY_S
from eukhe.world.clock import RealClock
from eukhe.world.config import Settings, store
from eukhe.world.disk import RealDisk
from eukhe.world.home import make_home
from eukhe.world.index import SqliteIndex
from eukhe.world.lock import ChatLock
from eukhe.world.workers import OfflineWorkers

OWNER_LOG = "owner.log"


class AppendRefused(ExpectedError):
    """The store took nothing of an order, or has failed."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; what was logged before that stays: mend it and run the command again")


class Owner:
    """What a command may ask of the actors. `opened`: how the chat was found; `archive`, `index`: what is committed."""

    def __init__(self, system: Threads, opened: Opened, index: SqliteIndex, archive: Archive, nodes: int) -> None:
        self.edge = system.edge
        self.opened = opened
        self.archive = archive
        self.index = index
        self.nodes_at_start = nodes

    def append(self, entry: Entry) -> Logging:
        """Logs a text; returns when it is on disk. AppendRefused where it will not be."""
        match self.edge.ask("store", lambda reply_to, ticket: Append((entry,), reply_to, ticket)):
            case AppendDone(_, (logging,)):
                return logging
            case AppendFailed(_, why):
                raise AppendRefused(why)
        raise Bug("an append was answered by something else")

    def commit_index(self) -> None:
        """Waits until `archive` and `index` know all that is settled."""
        assert isinstance(self.edge.ask("index", Sync), Synced)

    def status(self) -> Status:
        status = self.edge.ask("planner", AskStatus)
        assert isinstance(status, Status)
        return status

    def settle(self, t: int = 0, moved: Callable[[Status], None] | None = None, *, take: bool = False) -> Settled:
        """Waits until the first `t` messages are in the memory and all that can be built is built.

        `moved` hears now and then how far it is. `take`: then the batch, where one is due (D12). AppendRefused where
        the store has failed.
        """
        ticket = self.edge.ticket()
        self.edge.tell("planner", Settle(EDGE, ticket, t, take))
        while True:
            try:
                answer = self.edge.answer(ticket, STATUS_EVERY_S)
                break
            except TimeoutError:
                if moved is not None:
                    moved(self.status())
        match answer:
            case Settled():
                return answer
            case SettleFailed(_, why):
                raise AppendRefused(why)
        raise Bug("settling was answered by something else")


@contextmanager
def own(home: Path, settings: Settings, *, builds: int | None = None) -> Iterator[Owner]:
    """The chat of a home, owned while the block runs; made where there is none yet.

    `builds`: how many lines may be ordered of the model, None for no limit. HomeError, ChatLockedError,
    LogDamagedError, StoreError.
    """
    chat = make_home(home)
    with ExitStack() as stack:
        stack.enter_context(ChatLock(chat))
        disk = stack.enter_context(closing(RealDisk(chat)))
        index = stack.enter_context(closing(SqliteIndex(chat / INDEX_FILE)))
        if index.said:
            say(index.said)
        with logs_progress() as read:
            opened = open_chat(disk, index, settings.chat_limits(), owner=True, progress=read)
        if opened.damage is not None:
            raise opened.damage
        tell_problems(opened)
        nodes = opened.chat.built_nodes.count
        stores_index = stack.enter_context(closing(SqliteIndex(chat / INDEX_FILE)))
        commands_index = stack.enter_context(closing(SqliteIndex(chat / INDEX_FILE)))
        model = _model(home, settings)
        clock = RealClock()
        makers = owner_makers(opened, disk, clock, index, stores_index, model, builds=builds)
        system = Threads(makers, disk, clock, OfflineWorkers())
        try:
            try:
                system.begin()
                owner = Owner(system, opened, commands_index, Archive(disk, commands_index), nodes)
                yield owner
                if error := owner.status().last_error:
                    say(error)
            finally:
                system.end()
        except Bug as bug:
            _note(home, bug)
            raise


def _model(home: Path, settings: Settings) -> str:
    """The model that writes lines. Where none is set, the one that costs nothing is set, and that is said.

    So that a key that turns up later does not begin to cost what was free.
    """
    model = settings.text("memory.model")
    assert model is not None
    if settings.found["memory.model"].source == "default":
        store(home, "memory.model", model)
        say(f"no model is set, so {model} writes the memory's lines, offline and for nothing (memory.model)")
    return model


def _note(home: Path, bug: Bug) -> None:
    """Writes a crash to owner.log."""
    stamp = RealClock().local().isoformat(timespec="seconds")
    fd = os.open(home / OWNER_LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    with open(fd, "a", encoding="utf-8") as log:  # noqa: PTH123, a descriptor with its mode
        log.write(f"{stamp} {bug.told or bug}\n")
