"""`eukhe chat date`."""

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.output import emit, emit_json
from eukhe.cli.reading import reading, tell_problems
from eukhe.errors import NotFoundError
from eukhe.model.when import date_text

JSON_KEYS = {"id": "the message", "date": "when it was said, `2026-10-05 09:32:11 +02:00`"}


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.argument("id", type=int)
@click.pass_obj
def command(given: Given, id: int, as_json: bool) -> None:
    """Print when message ID was said."""
    with reading(given) as memory:
        tell_problems(memory.opened)
        record = memory.archive.message(id) if 0 <= id < memory.chat.t else None
    if record is None:
        raise NotFoundError(f"No message {id}.")
    date = date_text(record.date)
    if as_json:
        emit_json({"id": id, "date": date})
    else:
        emit(date)
