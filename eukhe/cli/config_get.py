"""`eukhe config get`."""

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of, value_text
from eukhe.cli.output import emit, emit_json, say
from eukhe.world.config import setting_of

JSON_KEYS = {
    "key": "the setting's name",
    "value": "its value; null where it is not set",
    "source": "`default`, `file`, `environment NAME` or `flag --NAME`",
}


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.argument("key")
@click.pass_obj
def command(given: Given, key: str, as_json: bool) -> None:
    """Print the value of one setting; nothing where it is not set."""
    setting = setting_of(key)
    value, source = settings_of(given).found[key]
    if as_json:
        emit_json({"key": key, "value": value, "source": source})
    elif value is None:
        say(f"{key} is not set; allowed: {setting.kind.allowed}")
    else:
        emit(value_text(value))
