"""`eukhe chat import sessions`."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from eukhe.cli.asking import Owner
from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.importing import Counts, Importer
from eukhe.cli.memory_build import tell_estimate
from eukhe.cli.output import counted, emit, emit_json, path_text, say
from eukhe.cli.progress import progress
from eukhe.cli.rehearsal import building, rehearse
from eukhe.cli.service import owner_of
from eukhe.limits import SKIPPED_SHOWN
from eukhe.model.prices import Prices
from eukhe.model.secret_shapes import own_secrets
from eukhe.model.secrets import Secrets
from eukhe.world.config import Settings
from eukhe.world.home import chat_path
from eukhe.world.keys import keys_of
from eukhe.world.prompts import load_prompts
from eukhe.world.providers.choice import memory_model
from eukhe.world.transcripts import Plan, Said, Unreadable, plan, read

JSON_KEYS = {
    "sessions": "how many sessions the files tell",
    "messages": "how many messages came into the chat",
    "known": "how many were there already",
    "repeated": "how many were left out: long texts that had been said before, word for word",
    "differing": "how many were there with other words, which stay",
    "calls": "with --dry-run: how many calls of the model building all lines would take, at the most",
    "model": "with --dry-run: which that is",
    "usd": "with --dry-run: what they would cost, about; null where nobody knows",
    "skipped[].path": "a file of which something could not be read",
    "skipped[].line": "its line, from 1; null where it is the file itself",
    "skipped[].why": "what is wrong with it",
}

_WHEN = "; the next turn begins it, `eukhe memory build --limit-usd` bounds it, memory.dailyUsd a day's"


class Imported(NamedTuple):
    """What an import did."""

    sessions: int
    counts: Counts
    skipped: list[Unreadable]


class PathNotEmpty(click.Path):
    """A path. An empty one, of a variable that is not set, would be the current folder, and nothing is ever deleted."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)  # what can't be read is no wrong usage

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("an empty path", param, ctx)
        return super().convert(value, param, ctx)


@click.command(cls=Command, json_keys=JSON_KEYS, needs_owner=True)
@click.argument("paths", nargs=-1, required=True, type=PathNotEmpty())
@click.option("--dry-run", is_flag=True, help="Only say what would come in, and what its lines would cost.")
@click.pass_obj
def command(given: Given, paths: tuple[Path, ...], dry_run: bool, as_json: bool) -> None:
    """Bring the sessions in PATHS into the chat: files or folders, told apart by what is in them.

    Each message comes in once, however often its file is imported; a file that has grown adds what is new. The files
    are only read. With an offline line writer the memory is built on the way; with a model that costs money it is built
    when somebody is there, or by `eukhe memory build`.
    """
    settings = settings_of(given)  # what is wrong in them is said before anything is read
    with _planned(paths) as planned:
        if dry_run:
            _rehearse(given.home, settings, planned, as_json=as_json)
            return
        if not planned.files:  # nothing is made for nothing
            imported = Imported(0, Counts(), _skipped(planned))
        else:
            with owner_of(given) as owner:
                imported = import_sessions(owner, planned)
                tell_estimate(given.home, chat_path(given.home), settings, owner.status(), _WHEN)
    if as_json:
        emit_json(_json(imported))
    else:
        tell_import(imported)


def _rehearse(home: Path, settings: Settings, planned: Plan, *, as_json: bool) -> None:
    """Says what would come in, and what it would take to build its lines."""
    with progress("reading", planned.bytes_to_read, in_bytes=True) as bar:
        found = rehearse(home, (item for item in read(planned, bar.advance) if isinstance(item, Said)))
    model, _ = memory_model(settings, keys_of(os.environ, settings))
    texts = load_prompts(home, settings).texts
    estimate = building(found, model, texts, settings.chat_limits(), Prices(settings.prices()))
    if as_json:
        counts = {"sessions": planned.sessions, "messages": found.messages, "known": found.known}
        emit_json(counts | {"calls": estimate.calls, "model": model, "usd": estimate.usd})
        return
    emit(
        f"{counted(planned.sessions, 'session')}: {counted(found.messages, 'message')} would come in, "
        f"{found.known} are there already"
    )
    emit(f"their lines, written by {model}: {estimate}")


def import_sessions(owner: Owner, planned: Plan) -> Imported:
    """Brings all that was planned into the chat, with a bar; the lines that are due are built."""
    importer = Importer(owner, Secrets(own_secrets(os.environ)))
    skipped = _skipped(planned)
    with progress("importing", planned.bytes_to_read, in_bytes=True) as bar:
        try:
            for item in read(planned, bar.advance):
                if isinstance(item, Said):
                    importer.take(item)
                else:
                    skipped.append(item)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("what came in stays, and the same command goes on") from None
    return Imported(planned.sessions, importer.counts, skipped)


def _skipped(planned: Plan) -> list[Unreadable]:
    """The files that were passed over."""
    return [Unreadable(path_text(path), 0, why) for path, why in planned.skipped]


@contextmanager
def _planned(paths: Sequence[Path]) -> Iterator[Plan]:
    with ExitStack() as stack:
        with progress("looking through the files", in_bytes=True) as bar:
            planned = stack.enter_context(plan(paths, bar.advance))
        yield planned


def _json(imported: Imported) -> dict[str, Any]:
    return {
        "sessions": imported.sessions,
        "messages": imported.counts.logged,
        "known": imported.counts.known,
        "repeated": imported.counts.repeated,
        "differing": imported.counts.differing,
        "skipped": [{"path": item.path, "line": item.line or None, "why": item.why} for item in imported.skipped],
    }


def tell_import(imported: Imported) -> None:
    """Prints what an import did."""
    for item in imported.skipped[:SKIPPED_SHOWN]:
        where = f"{item.path}:{item.line}" if item.line else item.path
        say(f"skipped {where}: {item.why}")
    if len(imported.skipped) > SKIPPED_SHOWN:
        say(f"and {len(imported.skipped) - SKIPPED_SHOWN} more skipped; --json lists all")
    came, known, repeated, differing = imported.counts
    if differing:
        say(f"{counted(differing, 'message')} there already with other words, which stay")
    emit(
        f"{counted(imported.sessions, 'session')}: {counted(came, 'message')} came in, {known} there already, "
        f"{counted(repeated, 'long repeat')} left out, {counted(len(imported.skipped), 'part')} skipped"
    )
