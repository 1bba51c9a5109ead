"""`eukhe config set`."""

import os

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.output import say
from eukhe.world.config import FILE_NAME, setting_of, store


@click.command(cls=Command)
@click.argument("key")
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Take the setting out of the file.")
@click.pass_obj
def command(given: Given, key: str, value: str | None, unset: bool) -> None:
    """Change one setting in the home's settings.json.

    A value is checked before anything is written; all else in the file stays as it is.
    """
    if unset == (value is not None):
        raise click.UsageError("Give a value, or --unset to take the setting out of the file.")
    setting = setting_of(key)
    store(given.home, key, value)
    say(f"{key} {'taken out of' if unset else 'set in'} {given.home / FILE_NAME}")
    if setting.variable and os.environ.get(setting.variable):
        say(f"but the environment has {setting.variable}, which goes first")
