"""`eukhe config set`."""

import os
from contextlib import suppress
from pathlib import Path

import click

from eukhe.actors.messages import StopOwner
from eukhe.cli.command import Command, Given
from eukhe.cli.output import say
from eukhe.errors import ChatLockedError, HomeError, OwnerGone, OwnerRefused
from eukhe.limits import STATUS_WAIT_S
from eukhe.world.config import FILE_NAME, setting_of, store
from eukhe.world.home import chat_path
from eukhe.world.link import Link
from eukhe.world.lock import ChatLock, owner_pid

OF_OWNER = ("prices", "anthropic.", "openai.")
"""Settings besides the memory's that the owner reads when it starts."""


@click.command(cls=Command)
@click.argument("key")
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Take the setting out of the file.")
@click.pass_obj
def command(given: Given, key: str, value: str | None, unset: bool) -> None:
    """Change one setting in the home's settings.json.

    A value is checked before anything is written; all else in the file stays as it is. A process that owns the chat and
    read it when it started finishes and leaves, so that the next one has the new value.
    """
    if unset == (value is not None):
        raise click.UsageError("Give a value, or --unset to take the setting out of the file.")
    setting = setting_of(key)
    store(given.home, key, value)
    say(f"{key} {'taken out of' if unset else 'set in'} {given.home / FILE_NAME}")
    if setting.variable and os.environ.get(setting.variable):
        say(f"but the environment has {setting.variable}, which goes first")
    if key.startswith(("memory.", *OF_OWNER)):
        _let_owner_leave(given.home)


def _let_owner_leave(home: Path) -> None:
    """What the owner read when it started is not changed by a file: the next one has what is set now.

    One that has no address, or does not answer, goes on, which is said.
    """
    chat = chat_path(home)
    with suppress(OwnerGone, OwnerRefused, TimeoutError, HomeError), Link.connect(chat, STATUS_WAIT_S) as link:
        link.tell("door", StopOwner("", 1))
        link.hear(STATUS_WAIT_S)
        say(f"pid {link.pid}, which owns the chat, finishes and leaves; the next one has this")
        return
    if _is_owned(chat):
        pid = owner_pid(chat)
        owner = "the process" if pid is None else f"pid {pid},"
        say(f"{owner} which owns the chat goes on with what it began with; `eukhe stop` it, and the next one has this")


def _is_owned(chat: Path) -> bool:
    try:
        ChatLock(chat, to_own=False).release()
    except HomeError:  # it can't be locked, so nobody owns it
        return False
    except ChatLockedError:
        return True
    return False
