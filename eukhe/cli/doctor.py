"""`eukhe doctor`."""

from contextlib import closing

import click

from eukhe.actors.opening import open_chat
from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import emit
from eukhe.cli.progress import logs_progress
from eukhe.cli.reading import INDEX_FILE, find, tell_problems
from eukhe.limits import EXIT_FAILED
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from eukhe.world.lock import ChatLock


@click.command(cls=Command)
@click.option("--accept-gap", is_flag=True, help="Give up the messages that are missing, so that the chat goes on.")
@click.pass_obj
def command(given: Given, accept_gap: bool) -> None:
    """Open the chat as its owner would, mend what may be mended, and say what is wrong.

    The logs are read from their beginning, and the index is made anew. A torn last line is ended; nodes of messages
    that were torn off are voided. Where messages are missing in the middle, the chat can only be read until you accept
    the gap; they then read `(lost)`. Nothing is ever deleted.
    """
    folder = find(given)
    limits = settings_of(given).chat_limits()
    with ChatLock(folder), closing(RealDisk(folder)) as disk, closing(SqliteIndex(folder / INDEX_FILE)) as index:
        # From the beginning: damage that leaves a file as long as it was is found only so.
        index.clear()
        with logs_progress() as read:
            opened = open_chat(disk, index, limits, owner=True, accept_gap=accept_gap, progress=read)
        tell_problems(opened)
    if opened.damage is not None:
        emit(f"the chat can be read and not written: {opened.damage.what}")
        emit("copy its folder first; then `eukhe doctor --accept-gap` gives these messages up")
        raise click.exceptions.Exit(EXIT_FAILED)
    emit(f"{opened.chat.t} messages: the chat can be read and written")
