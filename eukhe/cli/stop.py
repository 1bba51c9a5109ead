"""`eukhe stop`."""

import time
from contextlib import suppress
from pathlib import Path

import click

from eukhe.actors.messages import StopOwner, Stopping
from eukhe.cli.asking import silent
from eukhe.cli.command import Command, Given
from eukhe.cli.output import emit, say
from eukhe.cli.reading import find
from eukhe.cli.service import Patience, connect
from eukhe.errors import ChatLockedError, OwnerGone, OwnerSilent
from eukhe.limits import EDGE_WAIT_S, OWNER_LOOK_S, OWNER_SILENT_S
from eukhe.world.link import Link
from eukhe.world.lock import ChatLock, owner_pid


@click.command(cls=Command)
@click.pass_obj
def command(given: Given) -> None:
    """Stop the process that owns the chat, once it has finished what it was told.

    Nothing is lost by it: what was acknowledged is on disk, and the next command starts another.
    """
    chat = find(given)
    link = _owner(chat)
    if link is None:
        emit("no process owns the chat")
        return
    with link:
        link.tell("door", StopOwner("", 1))
        _wait_for_end(link)
    _wait_for_lock(chat, link.pid)
    emit(f"pid {link.pid} has stopped")


def _owner(chat: Path) -> Link | None:
    """The way to it; None where there is none. ChatLockedError where it has the chat for itself, and no address."""
    patience = Patience()
    while True:
        with suppress(OwnerGone):
            return connect(chat)
        try:
            with ChatLock(chat, to_own=False):
                return None
        except ChatLockedError as locked:
            patience.wait(locked)


def _wait_for_lock(chat: Path, pid: int) -> None:
    """Until the chat is no longer this process's: it closes its address first, and then finishes."""
    until_s = time.monotonic() + EDGE_WAIT_S
    while owner_pid(chat) == pid:
        try:
            with ChatLock(chat, to_own=False):
                return
        except ChatLockedError:
            if time.monotonic() > until_s:
                raise
        time.sleep(OWNER_LOOK_S)


def _wait_for_end(link: Link) -> None:
    """Until the owner has closed the connection."""
    for wait_s, then in ((OWNER_SILENT_S, "waiting"), (EDGE_WAIT_S, "")):
        try:
            while True:
                answer = link.hear(wait_s)
                assert isinstance(answer, Stopping)
        except OwnerGone:
            return
        except TimeoutError:
            if then:
                say(silent(link.pid, then))
    raise OwnerSilent(silent(link.pid, "it was not stopped"))
