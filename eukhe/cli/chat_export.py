"""`eukhe chat export`."""

from base64 import b64encode
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

import click
import msgspec
import orjson

from eukhe.actors.log_files import LogFiles
from eukhe.cli.command import Command, Given
from eukhe.cli.output import emit, emit_bytes, say
from eukhe.cli.reading import find
from eukhe.errors import NotFoundError
from eukhe.limits import EXIT_FAILED
from eukhe.model.image import image_mark
from eukhe.model.record import GapRecord, MessageRecord, encode
from eukhe.model.scan import GAP_MARK, Found, Jump, MainScan, Problem, accepted, gaps_in, missing
from eukhe.model.when import date_text
from eukhe.world.disk import RealDisk
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

    What can't be read is said and left out, and the exit code is 1 then, but for a gap that was accepted.

    Nothing is ever deleted in a chat. To be rid of a message, export the others and import them into a new home.
    """
    folder = find(given)
    with closing(RealDisk(folder)) as disk:
        main = LogFiles(disk, "main")
        if unknown := sorted(_unknown(main, left_out)):
            raise NotFoundError(f"No message {unknown[0]}.")
        whole = True
        for found in _found(main):
            match found:
                case Problem():
                    say(str(found))
                    whole = whole and found.harmless
                case MessageRecord(i) if i in left_out:
                    continue
                case MessageRecord() if form == "jsonl":
                    images = list(_images(folder, found))
                    whole = whole and len(images) == len(found.images)
                    emit_bytes(_line(found, images))
                case MessageRecord():
                    emit(_markdown(found))
    if not whole:
        raise click.exceptions.Exit(EXIT_FAILED)


def _found(main: LogFiles) -> Iterator[MessageRecord | Problem]:
    """The messages, and what is wrong between them: harmful where a message is missing that no one has given up.

    They are read in the log's order, so the index is not needed, and not believed.
    """
    scan = MainScan()
    gaps: list[GapRecord] | None = None
    for path, of in main.read(lambda _: None):
        for found in scan.file(path, of):
            match found:
                case Problem():
                    yield msgspec.structs.replace(found, harmless=True)
                case Jump(file, line, offset, before):
                    gaps = list(gaps_in(main.lines_with(GAP_MARK), before + 1)) if gaps is None else gaps
                    given_up = accepted(found, gaps)
                    what = f"{missing(found)}{', as was accepted' if given_up else ''}"
                    yield Problem(file, line, offset, what, harmless=given_up)
                case Found(record=MessageRecord() as record):
                    yield record


def _unknown(main: LogFiles, ids: Collection[int]) -> set[int]:
    """Those of some ids that no message has; the log is read for them alone."""
    unknown = set(ids)
    for found in _found(main) if unknown else ():
        if isinstance(found, MessageRecord):
            unknown.discard(found.i)
    return unknown


def _images(folder: Path, record: MessageRecord) -> Iterator[bytes]:
    """A message's images that can be read; of each other one it says so."""
    for name in record.images:
        try:
            yield (folder / "images" / name).read_bytes()
        except OSError as error:
            only = f"only its mark {image_mark(name)} is exported"
            say(f"message {record.i}: its image {name}: {error.strerror}; {only}")


def _line(record: MessageRecord, images: list[bytes]) -> bytes:
    """The log's line, with the images' bytes."""
    line = encode(record)
    if not record.images:
        return line
    data = [b64encode(image).decode() for image in images]
    return orjson.dumps({**orjson.loads(line), IMAGE_DATA: data}, option=orjson.OPT_APPEND_NEWLINE)


def _markdown(record: MessageRecord) -> str:
    return f"## {record.i} · {record.kind} · {date_text(record.date)}\n\n{record.text}\n"
