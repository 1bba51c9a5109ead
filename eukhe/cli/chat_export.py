"""`eukhe chat export`."""

from base64 import b64encode
from collections.abc import Iterator

import click
import orjson

from eukhe.cli.chat_date import date_text
from eukhe.cli.command import Command, Given
from eukhe.cli.output import emit, emit_bytes, say
from eukhe.cli.reading import Memory, reading, tell_problems
from eukhe.errors import NotFoundError
from eukhe.model.image import image_mark
from eukhe.model.record import MessageRecord, encode
from eukhe.world.transcripts.eukhe import IMAGE_DATA


@click.command(cls=Command)
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "markdown"]), default="jsonl", show_default=True,
    help="JSON lines come in again unchanged by `chat import sessions`; markdown is for reading.",
)  # fmt: skip
@click.option("--without", "left_out", type=int, multiple=True, metavar="ID", help="Leave message ID out; repeatable.")
@click.pass_obj
def command(given: Given, form: str, left_out: tuple[int, ...]) -> None:
    """Print every message of the chat.

    Nothing is ever deleted in a chat. To be rid of a message, export the others and import them into a new home.
    """
    with reading(given) as memory:
        tell_problems(memory.opened)
        for i in left_out:
            if not 0 <= i < memory.chat.t:
                raise NotFoundError(f"No message {i}.")
        lost = 0
        for record in _messages(memory, frozenset(left_out)):
            if record is None:
                lost += 1
            elif form == "jsonl":
                emit_bytes(_line(memory, record))
            else:
                emit(_markdown(record))
        if lost:
            say(f"{lost} messages are lost and can't be exported")


def _messages(memory: Memory, left_out: frozenset[int]) -> Iterator[MessageRecord | None]:
    for i in range(memory.chat.t):
        if i not in left_out:
            yield memory.archive.message(i)


def _line(memory: Memory, record: MessageRecord) -> bytes:
    """The log's line, with the images' bytes."""
    line = encode(record)
    if not record.images:
        return line
    data = []
    for name in record.images:
        image = memory.image(name)
        if image is None:
            say(f"message {record.i}: its image {name} is gone; only its mark {image_mark(name)} is exported")
        else:
            data.append(b64encode(image).decode())
    return orjson.dumps({**orjson.loads(line), IMAGE_DATA: data}, option=orjson.OPT_APPEND_NEWLINE)


def _markdown(record: MessageRecord) -> str:
    return f"## {record.i} · {record.kind} · {date_text(record.date)}\n\n{record.text}\n"
