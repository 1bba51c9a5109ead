"""`eukhe chat status`."""

from pathlib import Path

import click

from eukhe.actors.messages import AskStatus, Status
from eukhe.cli.asking import silent
from eukhe.cli.command import Command, Given
from eukhe.cli.output import emit_json, emit_table, path_text, say
from eukhe.cli.reading import Memory, reading, tell_problems
from eukhe.errors import OwnerGone, OwnerRefused
from eukhe.limits import STATUS_WAIT_S
from eukhe.world.link import Link
from eukhe.world.lock import owner_pid

JSON_KEYS = {
    "dir": "the chat's folder",
    "messages": "how many messages it has",
    "nodes": "how many lines of its tree are built",
    "viewLines": "lines of the view",
    "viewBytes": "bytes of their texts",
    "compactionViewBytes": "bytes of the view that compactions see",
    "shrinking": "whether the view is still above its floor after a batch",
    "unsummarized": "lines of the view that are not built",
    "running": "calls that run",
    "parked": "lines whose call failed and that wait to be tried again",
    "waiting": "turns that wait for their view",
    "paused": "the outage of the model's provider that keeps calls from starting; null where none does",
    "owner": "the process that owns the chat; null where none does",
    "lastError": "what went wrong last; null where nothing did",
}


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.pass_obj
def command(given: Given, as_json: bool) -> None:
    """Print how large the memory is, and what it is at."""
    with reading(given) as memory:
        tell_problems(memory.opened)
        rows = _rows(memory)
        if as_json:
            emit_json(rows)
        else:
            emit_table([(key, _shown(value)) for key, value in rows.items()])


def _shown(value: str | int | bool | None) -> str:
    if value is None:
        return "-"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _rows(memory: Memory) -> dict[str, str | int | bool | None]:
    chat = memory.chat
    damage = memory.opened.damage
    now = None if memory.owner is None else _asked(memory.folder)
    return {
        "dir": path_text(memory.folder),
        "messages": chat.t,
        "nodes": chat.built_nodes.count,
        "viewLines": len(chat.view.lines),
        "viewBytes": chat.view.size,
        "compactionViewBytes": chat.compaction_view.size,
        "shrinking": chat.shrinking,
        "unsummarized": len(chat.view.unbuilt),
        "running": now.running if now else 0,
        "parked": now.parked if now else 0,
        "waiting": now.waiting if now else 0,
        "paused": now.paused if now else None,
        "owner": memory.owner,
        "lastError": str(damage) if damage is not None else now.last_error if now else None,
    }


def _asked(chat: Path) -> Status | None:
    """What the owner says of what only it knows; None where it has no address, or does not answer at once."""
    try:
        with Link.connect(chat, STATUS_WAIT_S) as link:
            link.tell("planner", AskStatus("", 1))
            status = link.hear(STATUS_WAIT_S)
    except TimeoutError:
        say(silent(owner_pid(chat), "what it is at is not known"))
        return None
    except (OwnerGone, OwnerRefused):
        return None
    return status if isinstance(status, Status) else None
