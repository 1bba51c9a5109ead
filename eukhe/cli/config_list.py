"""`eukhe config list`."""

import json
import os

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.output import emit_json, emit_table, say
from eukhe.world.config import FILE_NAME, Settings, Value, load

JSON_KEYS = {
    "[].key": "the setting's name",
    "[].value": "its value; null where it is not set",
    "[].source": "`default`, `file`, `environment NAME` or `flag --NAME`",
}


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.pass_obj
def command(given: Given, as_json: bool) -> None:
    """Print every setting, its value, and where the value comes from."""
    settings = settings_of(given)
    if as_json:
        emit_json([{"key": key, "value": value, "source": source} for key, (value, source) in settings.found.items()])
    else:
        rows = [(key, value_text(value), source) for key, (value, source) in settings.found.items()]
        emit_table(rows, ("key", "value", "source"))


def settings_of(given: Given) -> Settings:
    """The settings that hold for a command line. Says which keys of the file nobody knows."""
    settings = load(given.home, os.environ, given.flags)
    for key in settings.unknown:
        say(f"{given.home / FILE_NAME}: unknown key {key}")
    return settings


def value_text(value: Value | None) -> str:
    """A value as `config set` takes it; a dash where there is none."""
    if value is None:
        return "-"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)
