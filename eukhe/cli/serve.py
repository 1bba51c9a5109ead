"""`eukhe serve`."""

import os
import sys
from contextlib import suppress

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import path_text, say
from eukhe.cli.owner import OWNER_LOG, AskedToEnd, own
from eukhe.cli.service import READY
from eukhe.errors import ExpectedError
from eukhe.limits import EXIT_FAILED, FILE_MODE


@click.command(cls=Command)
@click.option("--background", is_flag=True, hidden=True, help="As a command starts it: leaves when nobody comes.")
@click.pass_obj
def command(given: Given, background: bool) -> None:
    """Own the chat in the foreground, for every eukhe of yours, until Ctrl-C, `eukhe stop` or a SIGTERM.

    Nobody needs it: the first command that wants an owner starts one in the background, which leaves when nobody came
    for ten minutes. docs/eukhe.service runs it under systemd.
    """
    if background:
        _serve_in_background(given)
    else:
        _serve(given)


def _serve(given: Given) -> None:
    with own(given.home, settings_of(given)) as here:
        say(f"pid {here.pid} owns {path_text(given.home / 'chat')}; Ctrl-C or `eukhe stop` ends it")
        with suppress(AskedToEnd, KeyboardInterrupt, SystemExit):  # a signal is how it is ended, too
            here.hear(None)
        say("what was begun is finished first")


def _serve_in_background(given: Given) -> None:
    """The pipe at stdout tells the command that started this that it is ready, or why it is not."""
    try:
        with own(given.home, settings_of(given), leaves=True) as here:
            os.write(sys.stdout.fileno(), READY)
            _talk_to_log(given)
            with suppress(AskedToEnd):
                here.hear(None)
    except ExpectedError as error:
        os.write(sys.stdout.fileno(), f"{type(error).__name__} {error}".encode(errors="replace"))
        raise click.exceptions.Exit(EXIT_FAILED) from None


def _talk_to_log(given: Given) -> None:
    """From now on this process has no terminal: what it says goes to owner.log."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    log = os.open(given.home / OWNER_LOG, flags, FILE_MODE)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(log, stream.fileno())
    os.close(log)
