"""`eukhe doctor`."""

import os
from contextlib import closing
from pathlib import Path

import click

from eukhe.actors.opening import open_chat
from eukhe.cli.checkup import Check, checks
from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import emit, emit_json
from eukhe.cli.progress import logs_progress
from eukhe.cli.reading import INDEX_FILE, find, tell_problems
from eukhe.errors import ChatLockedError, HomeError
from eukhe.limits import EXIT_FAILED
from eukhe.model.chat import ChatLimits
from eukhe.world.disk import RealDisk
from eukhe.world.home import find_chat
from eukhe.world.index import SqliteIndex
from eukhe.world.keys import keys_of
from eukhe.world.lock import ChatLock, owner_pid

JSON_KEYS = {
    "[].check": "`logs`, `modes`, `owner`, `key`, `provider`, `cache` or `disk`",
    "[].state": "`ok`, `warn` or `bad`",
    "[].what": "how it is",
    "[].todo": "what to do about it; empty where nothing is",
}


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.option("--accept-gap", is_flag=True, help="Give up the messages that are missing, so that the chat goes on.")
@click.pass_obj
def command(given: Given, accept_gap: bool, as_json: bool) -> None:
    """Open the chat as its owner would, mend what may be mended, and say what is wrong.

    The logs are read from their beginning, and the index is made anew. A torn last line is ended; nodes of messages
    that were torn off are voided. Where messages are missing in the middle, the chat can only be read until you accept
    the gap; they then read `(lost)`. Nothing is ever deleted. While a process owns the chat its logs are left alone.

    Then it looks at who can get at the files, the owner, keys, providers (one request that costs nothing), what their
    caches keep, and the disk. It fails where something is bad.
    """
    settings = settings_of(given)
    if find_chat(given.home) is None and not accept_gap:
        logs, owner = Check("logs", "ok", "there is no chat here yet"), None
    else:
        logs, owner = _logs(find(given), settings.chat_limits(), accept_gap)
    found = [logs, *checks(given.home, settings, keys_of(os.environ, settings), owner)]
    if as_json:
        emit_json(
            [{"check": check.name, "state": check.state, "what": check.what, "todo": check.todo} for check in found]
        )
    else:
        emit(logs.what)
        if logs.todo:
            emit(logs.todo)
        for check in found[1:]:
            emit(f"{check.state:4}  {check.name}: {check.what}" + (f"; {check.todo}" if check.todo else ""))
    if any(check.state == "bad" for check in found):
        raise click.exceptions.Exit(EXIT_FAILED)


def _logs(chat: Path, limits: ChatLimits, accept_gap: bool) -> tuple[Check, int | None]:
    """The logs, mended, and the process that owns the chat, 0 where nobody knows which.

    ChatLockedError where an owner keeps a gap from being accepted.
    """
    try:
        lock = ChatLock(chat)
    except ChatLockedError:
        if accept_gap:
            raise
        pid = owner_pid(chat)
        owner = "a process" if pid is None else f"pid {pid}"
        return Check(
            "logs", "ok", f"{owner} owns the chat, so its logs were not read; `eukhe stop` it for that"
        ), pid or 0
    except HomeError as error:
        return Check("logs", "bad", str(error), "see that it may be written"), None
    with lock, closing(RealDisk(chat)) as disk, closing(SqliteIndex(chat / INDEX_FILE)) as index:
        # From the beginning: damage that leaves a file as long as it was is found only so.
        index.clear()
        with logs_progress() as read:
            opened = open_chat(disk, index, limits, owner=True, accept_gap=accept_gap, progress=read)
        tell_problems(opened)
    if opened.damage is not None:
        todo = "copy its folder first; then `eukhe doctor --accept-gap` gives these messages up"
        return Check("logs", "bad", f"the chat can be read and not written: {opened.damage.what}", todo), None
    return Check("logs", "ok", f"{opened.chat.t} messages: the chat can be read and written"), None
