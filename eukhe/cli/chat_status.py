"""`eukhe chat status`."""

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.output import emit_json, emit_table, path_text
from eukhe.cli.reading import Memory, reading, tell_problems

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
    return {
        "dir": path_text(memory.folder),
        "messages": chat.t,
        "nodes": chat.built_nodes.count,
        "viewLines": len(chat.view.lines),
        "viewBytes": chat.view.size,
        "compactionViewBytes": chat.compaction_view.size,
        "shrinking": chat.shrinking,
        "unsummarized": len(chat.view.unbuilt),
        "running": len(chat.running),
        "parked": len(chat.parked),
        "owner": memory.owner,
        "lastError": None if damage is None else str(damage),
    }
