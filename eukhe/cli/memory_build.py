"""`eukhe memory build`."""

import os
from pathlib import Path
from typing import Any

import click

from eukhe.actors.messages import Status
from eukhe.cli.asking import Owner
from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.estimate import to_build
from eukhe.cli.output import counted, emit, emit_json, say
from eukhe.cli.progress import progress
from eukhe.cli.reading import find
from eukhe.cli.service import owner_of
from eukhe.errors import ExpectedError
from eukhe.world.config import Settings
from eukhe.world.keys import keys_of
from eukhe.world.providers.choice import memory_model
from eukhe.world.providers.registry import costs_money

JSON_KEYS = {
    "built": "how many lines were built",
    "calls": "how many calls of the model that took",
    "unsummarized": "lines of the view that are still not built",
    "viewBytes": "bytes of the view",
}


class BuildPaused(ExpectedError):
    """Calls can't be made now."""


@click.command(cls=Command, json_keys=JSON_KEYS, needs_owner=True)
@click.option("--limit-calls", type=click.IntRange(min=0), metavar="N", help="Order at most N lines of the model.")
@click.option("--limit-usd", type=click.FloatRange(min=0), metavar="USD", help="Spend at most USD on the model.")
@click.pass_obj
def command(given: Given, limit_calls: int | None, limit_usd: float | None, as_json: bool) -> None:
    """Build every line that can be built now, then merge the view where that is due.

    What that will cost, about, is said before it begins. A limit stops before the call that might go beyond it.
    """
    chat = find(given)  # else a mistyped home would get a chat
    settings = settings_of(given)
    with owner_of(given, builds=limit_calls, limit_usd=limit_usd) as owner:
        tell_estimate(given.home, chat, settings, owner.status())
        done = build(owner)
        paused = owner.status().paused
    if as_json:
        emit_json(done)
    else:
        tell_build(done, memory_model(settings, keys_of(os.environ, settings))[0])
    if paused and done["unsummarized"] and limit_usd is None:  # a limit that was asked for is no failure
        raise BuildPaused(f"{counted(done['unsummarized'], 'line')} of the view not built: {paused}")


def tell_estimate(home: Path, chat: Path, settings: Settings, status: Status, then: str = "") -> None:
    """Says what building all of it may cost, where it costs anything. `then`: what more there is to know."""
    model, _ = memory_model(settings, keys_of(os.environ, settings))
    if not costs_money(model):
        return
    main = sum(file.stat().st_size for file in (chat / "main").glob("*.jsonl"))
    estimate = to_build(home, settings, model, status.t, status.nodes, main)
    if estimate.calls > 0:
        say(f"building all lines with {model}: {estimate}{then}")


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
