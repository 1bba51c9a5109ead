"""The way to a chat's owner: whoever owns it, else a process in the background, else this one.

The lock says who owns the chat, the socket is only the address. Of several who find the owner gone one becomes the
next: they start one in the background, or with `--no-service` become it, and the lock decides.
"""

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO

from msgspec.structs import replace

from eukhe.actors.archive import Archive
from eukhe.actors.messages import AskStatus, Status
from eukhe.actors.ports import Key
from eukhe.cli.asking import Asker, Line, Owner, silent
from eukhe.cli.command import Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import say
from eukhe.cli.owner import own
from eukhe.cli.reading import INDEX_FILE
from eukhe.errors import ChatLockedError, ExpectedError, OwnerGone, OwnerSilent
from eukhe.limits import EDGE_WAIT_S, EXIT_SIGNALLED, LOCK_WAIT_S, OWNER_LOOK_S, OWNER_SILENT_S
from eukhe.world.config import Settings, load
from eukhe.world.disk import RealDisk
from eukhe.world.environment import without_keys
from eukhe.world.home import make_home
from eukhe.world.index_reader import ReaderIndex
from eukhe.world.keys import keys_of
from eukhe.world.link import Link
from eukhe.world.lock import owner_pid, starting
from eukhe.world.providers.choice import memory_model
from eukhe.world.providers.registry import costs_money

READY = b"ready"


@contextmanager
def owner_of(given: Given, *, builds: int | None = None, limit_usd: float | None = None) -> Iterator[Owner]:
    """The owner of the home's chat, which is made where there is none. Whatever keeps the chat from being owned.

    `builds`: how many lines may be ordered of the model; `limit_usd`: what they may cost. With either the chat is owned
    here, for this command alone: ChatLockedError where another owns it, since that one builds without such a limit.
    """
    chat = make_home(given.home)
    with ExitStack() as stack:
        way = Way(given, chat, stack, builds, limit_usd)
        asker = stack.enter_context(closing(Asker(way.find(), way.find)))
        before = asker.ask("planner", AskStatus)
        assert isinstance(before, Status)
        disk = stack.enter_context(closing(RealDisk(chat)))
        index = stack.enter_context(closing(ReaderIndex(chat / INDEX_FILE)))  # to write it is its owner's alone
        if index.said:
            say(index.said)
        if not way.was_there:  # what it has done since it started is this command's work
            before = replace(before, nodes=before.nodes_before, calls=0)
        owner = Owner(asker, index, Archive(disk, index), before)
        yield owner
        error = owner.status().last_error
        if error and not (way.was_there and error == before.last_error):  # what others were told is no news
            say(error)


class Way:
    """Finds the owner, again and again. `was_there`: it was before this command came."""

    def __init__(
        self,
        given: Given,
        chat: Path,
        stack: ExitStack,
        builds: int | None = None,
        limit_usd: float | None = None,
    ) -> None:
        self._given = given
        self._chat = chat
        self._stack = stack
        self._builds = builds
        self._limit_usd = limit_usd
        self._is_limited = builds is not None or limit_usd is not None
        self._keys: tuple[Key, ...] | None = None
        self.was_there = True

    def find(self) -> Line:
        """ChatLockedError where another holds the lock and has no address; OwnerSilent where it does not answer.

        OwnerGone where each that is begun is ended at once.
        """
        patience = Patience()
        while True:
            with suppress(OwnerGone):
                return self._connect()
            self.was_there = False
            try:
                return self._begin()
            except (ChatLockedError, OwnerGone) as missed:  # another is quicker, or somebody ended it at once
                patience.wait(missed)

    def _connect(self) -> Link:
        link = connect(self._chat, self.keys)
        if not self._is_limited:
            return link
        link.close()
        raise ChatLockedError(
            f"{self._chat}: the chat is owned by pid {link.pid}, which builds without this limit; `eukhe stop` it first"
        )

    def _begin(self) -> Line:
        if self._given.no_service or self._is_limited:
            owned = own(
                self._given.home,
                settings_of(self._given),
                builds=self._builds,
                limit_usd=self._limit_usd,
                lock_wait_s=0,
            )
            return self._stack.enter_context(owned)
        with starting(self._chat):
            try:
                return connect(self._chat, self.keys)  # which another has started meanwhile
            except OwnerGone:
                start_in_background(self._given.home, _line_model(settings_of(self._given)))
        return connect(self._chat, self.keys)

    @property
    def keys(self) -> tuple[Key, ...]:
        """What this process knows the providers by, for the owner to use while it lives."""
        if self._keys is None:
            settings = load(self._given.home, os.environ, self._given.flags)
            self._keys = keys_of(os.environ, settings)
        return self._keys


class Patience:
    """With an owner that can't be had: whoever holds a lock is about to open its address, or only mends the index."""

    def __init__(self) -> None:
        self._begun_s = time.monotonic()
        self._said = False

    def wait(self, missed: ChatLockedError | OwnerGone) -> None:
        """A moment, until it is tried again. Raises what it is given when it has been waited long enough."""
        waited_s = time.monotonic() - self._begun_s
        if waited_s > EDGE_WAIT_S:
            raise missed
        if waited_s > LOCK_WAIT_S and not self._said:
            say(f"{missed}: waiting")
            self._said = True
        time.sleep(OWNER_LOOK_S)


def connect(chat: Path, keys: tuple[Key, ...] = ()) -> Link:
    """The way to the owner that there is, who has the `keys` from then on.

    OwnerGone; OwnerSilent where one does not answer, however long that is.
    """
    said = False
    until_s = time.monotonic() + EDGE_WAIT_S
    while True:
        try:
            return Link.connect(chat, OWNER_SILENT_S, keys=keys)
        except TimeoutError:
            pid = owner_pid(chat)
            if time.monotonic() > until_s:
                raise OwnerSilent(silent(pid, "nothing was done")) from None
            if not said:
                say(silent(pid, "waiting"))
                said = True


def _line_model(settings: Settings) -> str:
    """The model that costs money and that nobody set, but by a key that is here, which is said; empty else.

    The owner has no key when it begins.
    """
    model, said = memory_model(settings, keys_of(os.environ, settings))
    if not said or not costs_money(model):
        return ""
    say(said)
    return model


def start_in_background(home: Path, model: str = "") -> None:
    """Starts an owner that outlives this command, and returns when it can be connected to.

    `model`: which writes its lines, empty for it to find out by itself.

    Until then it talks on this command's stderr. ChatLockedError where another owns the chat, OwnerGone where somebody
    ended it, and whatever else keeps it from starting, as an ExpectedError that says so.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", "eukhe", "--home", str(home), "serve", "--background", f"--line-model={model}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=without_keys(os.environ),
        cwd="/",
        start_new_session=True,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    relay = Thread(target=_relay, args=(child.stderr,), name="relay", daemon=True)
    relay.start()
    with child.stdout as ready:
        if not select.select([ready], [], [], OWNER_SILENT_S)[0]:
            say(f"pid {child.pid}, which is to own the chat, is not ready: it reads a long log, or is stopped: waiting")
        told = ready.read()
    relay.join()
    if told.startswith(READY):
        Thread(target=child.wait, name="owner", daemon=True).start()  # should it end before this command does
        return
    code = child.wait()
    if code < 0 or code > EXIT_SIGNALLED:
        raise OwnerGone("the process that was to own the chat was ended by a signal")
    kind, _, why = told.decode(errors="replace").partition(" ")
    raise ChatLockedError(why) if kind == ChatLockedError.__name__ else ExpectedError(why or "the owner did not start")


def _relay(talk: IO[bytes]) -> None:
    """Says what the owner says while it starts, line by line: a bar of this command's may be drawn meanwhile."""
    with talk:
        for line in talk:
            say(line.decode(errors="replace").rstrip("\n"))
