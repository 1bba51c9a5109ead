"""`eukhe config set`."""

import os
from contextlib import suppress
from pathlib import Path

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.output import say
from eukhe.errors import ChatLockedError, HomeError
from eukhe.world.config import FILE_NAME, setting_of, store
from eukhe.world.home import chat_path
from eukhe.world.lock import ChatLock, owner_pid


@click.command(cls=Command)
@click.argument("key")
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Take the setting out of the file.")
@click.pass_obj
def command(given: Given, key: str, value: str | None, unset: bool) -> None:
    """Change one setting in the home's settings.json.

    A value is checked before anything is written; all else in the file stays as it is.
    """
    if unset == (value is not None):
        raise click.UsageError("Give a value, or --unset to take the setting out of the file.")
    setting = setting_of(key)
    store(given.home, key, value)
    say(f"{key} {'taken out of' if unset else 'set in'} {given.home / FILE_NAME}")
    if setting.variable and os.environ.get(setting.variable):
        say(f"but the environment has {setting.variable}, which goes first")
    if key.startswith("memory."):
        _tell_owner_goes_on(given.home)


def _tell_owner_goes_on(home: Path) -> None:
    """The memory's settings are the owner's, who read them when it started."""
    chat = chat_path(home)
    try:
        with suppress(HomeError):  # it can't be locked, so nobody owns it
            ChatLock(chat, to_own=False).release()
    except ChatLockedError:
        pid = owner_pid(chat)
        owner = "the process" if pid is None else f"pid {pid},"
        say(f"{owner} which owns the chat goes on with what it began with; `eukhe stop` it, and the next one has this")
