"""The owner of a chat in this process: every part is made here and given to the others.

The lock first, then the logs are read and mended, then the actors start. At the end they finish what they were told,
and stop in reverse; what was acknowledged is on disk whatever happens in between.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TextIO, cast, get_args
from uuid import uuid4

from eukhe.actors.ledger import Spending
from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import Leaving, Msg, Synced
from eukhe.actors.opening import open_chat
from eukhe.actors.ports import Key
from eukhe.actors.threads import Edge, Threads
from eukhe.cli.estimate import first_call_usd
from eukhe.cli.output import say
from eukhe.cli.progress import logs_progress
from eukhe.cli.reading import INDEX_FILE, tell_problems
from eukhe.errors import Bug, ExpectedError, HomeError, StoreError
from eukhe.limits import FILE_MODE, LOCK_WAIT_S, OWNER_LOG_BYTES_MAX
from eukhe.model.prices import Prices
from eukhe.model.talk import Effort
from eukhe.world.clock import RealClock
from eukhe.world.config import Settings, store
from eukhe.world.disk import RealDisk
from eukhe.world.home import make_home
from eukhe.world.index import SqliteIndex
from eukhe.world.keys import keys_of
from eukhe.world.lock import ChatLock
from eukhe.world.prompts import load_prompts
from eukhe.world.providers.choice import memory_model
from eukhe.world.providers.registry import costs_money
from eukhe.world.socket import UnixSockets
from eukhe.world.workers import workers_for

OWNER_LOG = "owner.log"
OWNER_LOG_BEFORE = "owner.log.before"


class AskedToEnd(ExpectedError):
    """The chat is owned by this command, and another eukhe wants it to end."""

    def __init__(self, why: str) -> None:
        super().__init__(f"another eukhe asked this one to end ({why}); what was logged stays, run the command again")


class StoreFailed(ExpectedError):
    """The store can write no more, or the logs can't be opened to be written."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; what was acknowledged is on disk: mend it, and the next owner goes on from there")


class Here:
    """The way to an owner in this process, as `asking.Line` has it."""

    def __init__(self, edge: Edge) -> None:
        self.edge = edge
        self.pid = os.getpid()

    def tell(self, to: str, message: Msg) -> None:
        self.edge.tell(to, message)

    def hear(self, wait_s: float | None) -> Msg:
        """As a line's. AskedToEnd. That the store has failed is heard in the answers."""
        while isinstance(heard := self.edge.hear(wait_s), Leaving):
            if not heard.failed:
                raise AskedToEnd(heard.why)
        return heard

    def wake(self) -> None:
        """An answer to nobody's ticket is heard."""
        self.edge.mail.put(Synced(0))

    def wait_for_end(self) -> None:
        """Returns when the owner is to end. StoreFailed where its store has failed."""
        heard = self.edge.hear(None)
        assert isinstance(heard, Leaving), "nothing was asked here"
        if heard.failed:
            raise StoreFailed(heard.why)

    def close(self) -> None:
        """The owner is closed where it was made."""


@contextmanager
def own(
    home: Path,
    settings: Settings,
    *,
    builds: int | None = None,
    limit_usd: float | None = None,
    leaves: bool = False,
    model: str = "",
    lock_wait_s: float = LOCK_WAIT_S,
) -> Iterator[Here]:
    """The chat of a home, owned while the block runs; made where there is none yet. Other processes are let in.

    `builds`: how many lines may be ordered of the model, `limit_usd`: what they may cost; None for no limit. `leaves`:
    it is to end also when nobody came for a while. `model`: which writes lines, as whoever began this found; empty to
    find it here. HomeError, ChatLockedError, LogDamagedError, SettingsError, StoreFailed.
    """
    chat = make_home(home)
    with ExitStack() as stack:
        stack.enter_context(ChatLock(chat, wait_s=lock_wait_s))
        texts = load_prompts(home, settings).texts  # as they are now, for as long as the chat is owned here: rule 27
        disk = stack.enter_context(closing(RealDisk(chat)))
        index = stack.enter_context(closing(SqliteIndex(chat / INDEX_FILE)))
        if index.said:
            say(index.said)
        with logs_progress() as read:
            try:
                opened = open_chat(disk, index, settings.chat_limits(), owner=True, progress=read)
            except StoreError as error:
                raise StoreFailed(str(error)) from error
        if opened.damage is not None:
            raise opened.damage
        tell_problems(opened)
        stores_index = stack.enter_context(closing(SqliteIndex(chat / INDEX_FILE)))
        keys = keys_of(os.environ, settings)
        model = model or _model(home, settings, keys)
        workers = stack.enter_context(closing(workers_for(model, keys)))
        sockets = stack.enter_context(closing(UnixSockets(chat)))
        clock = RealClock()
        makers = owner_makers(
            opened,
            disk,
            clock,
            index,
            stores_index,
            model,
            builds=builds,
            paid=costs_money(model),
            texts=texts,
            effort=_effort(settings),
            session=uuid4().hex,
            prices=(prices := Prices(settings.prices())),
            spending=Spending(
                first_call_usd(model, texts, settings.chat_limits(), prices) or 0.0,
                settings.dollars("memory.dailyUsd"),
                limit_usd,
            ),
            door=True,
            leaves_when_idle=leaves,
            pid=os.getpid(),
        )
        system = Threads(makers, disk, clock, workers, sockets)
        try:
            try:
                system.begin()
                yield Here(system.edge)
            finally:
                system.end()
        except Bug as bug:
            with suppress(OSError, HomeError):  # on a full disk, for one; whoever runs this is told in any case
                _note(home, bug)
            raise


def _model(home: Path, settings: Settings, keys: tuple[Key, ...]) -> str:
    """The model that writes lines. Where none is set and no key is there, the one that costs nothing is set.

    So that a key that turns up later does not begin to cost what was free.
    """
    model, said = memory_model(settings, keys)
    if said:
        if not costs_money(model):
            store(home, "memory.model", model)
        say(said)
    return model


def _effort(settings: Settings) -> Effort:
    """How much the model that writes lines is to think."""
    effort = settings.text("memory.thinking")
    assert effort in get_args(Effort), effort
    return cast(Effort, effort)


def _note(home: Path, bug: Bug) -> None:
    """Writes a crash to owner.log."""
    stamp = RealClock().local().isoformat(timespec="seconds")
    with open_log(home) as log:
        log.write(f"{stamp} {bug.told or bug}\n")


def open_log(home: Path) -> TextIO:
    """owner.log, to be written on by whoever owns the chat. HomeError.

    A long one is set aside first, in place of the one before: owners that end again and again fill no disk.
    """
    path = home / OWNER_LOG
    try:
        with suppress(FileNotFoundError):
            if path.lstat().st_size > OWNER_LOG_BYTES_MAX:
                path.replace(home / OWNER_LOG_BEFORE)
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    except OSError as error:
        raise HomeError(f"{path}: {error.strerror}; the owner has nowhere to say what goes wrong") from error
    return open(fd, "a", encoding="utf-8")  # noqa: PTH123, a descriptor with its mode
