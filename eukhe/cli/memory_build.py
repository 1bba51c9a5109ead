"""`eukhe memory build`."""

import os
from typing import Any

import click

from eukhe.actors.messages import Status
from eukhe.cli.asking import Owner
from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import counted, emit, emit_json
from eukhe.cli.progress import progress
from eukhe.cli.reading import find
from eukhe.cli.service import owner_of
from eukhe.world.keys import keys_of
from eukhe.world.providers.choice import memory_model

JSON_KEYS = {
    "built": "how many lines were built",
    "calls": "how many calls of the model that took",
    "unsummarized": "lines of the view that are still not built",
    "viewBytes": "bytes of the view",
}


@click.command(cls=Command, json_keys=JSON_KEYS, needs_owner=True)
@click.option("--limit-calls", type=click.IntRange(min=0), metavar="N", help="Order at most N lines of the model.")
@click.pass_obj
def command(given: Given, limit_calls: int | None, as_json: bool) -> None:
    """Build every line that can be built now, then merge the view where that is due."""
    find(given)  # else a mistyped home would get a chat
    settings = settings_of(given)
    with owner_of(given, builds=limit_calls) as owner:
        done = build(owner)
    if as_json:
        emit_json(done)
    else:
        tell_build(done, memory_model(settings, keys_of(os.environ, settings))[0])


def tell_build(done: dict[str, Any], model: str) -> None:
    """Prints what a building did."""
    emit(
        f"{counted(done['built'], 'line')} built with {counted(done['calls'], 'call')} of {model}; "
        f"the view has {counted(done['viewBytes'], 'byte')}, {done['unsummarized']} of its lines not built"
    )


def build(owner: Owner) -> dict[str, Any]:
    """Builds, with a bar over the chat's messages."""
    before = owner.status()
    with progress("building lines of the view", before.unsummarized) as bar:
        left = before.unsummarized

        def moved(status: Status) -> None:
            nonlocal left
            bar.advance(left - status.unsummarized)
            left = status.unsummarized

        settled = owner.settle(moved=moved, take=True)
        after = owner.status()
        moved(after)
    built, calls = owner.done()
    return {
        "built": built,
        "calls": calls,
        "unsummarized": settled.left,
        "viewBytes": after.view_bytes,
    }
