"""`eukhe serve`."""

import os
import sys
from contextlib import ExitStack, suppress

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import path_text, say
from eukhe.cli.owner import open_log, own
from eukhe.cli.service import READY
from eukhe.errors import ExpectedError
from eukhe.limits import EXIT_FAILED
from eukhe.world.home import make_home


@click.command(cls=Command)
@click.option("--background", is_flag=True, hidden=True, help="As a command starts it: leaves when nobody comes.")
@click.option("--line-model", default="", hidden=True, help="Which writes lines, as the command that starts it found.")
@click.pass_obj
def command(given: Given, background: bool, line_model: str) -> None:
    """Own the chat in the foreground, for every eukhe of yours, until Ctrl-C, `eukhe stop` or a SIGTERM.

    Nobody needs it: the first command that wants an owner starts one in the background, which leaves when nobody came
    for ten minutes. docs/eukhe.service runs it under systemd. However it is told to end, its exit code is 0.
    """
    make_home(given.home)  # another user's settings are not even read
    if background:
        _serve_in_background(given, line_model)
    else:
        _serve(given)


def _serve(given: Given) -> None:
    with own(given.home, settings_of(given)) as here:
        say(f"pid {here.pid} owns {path_text(given.home / 'chat')}; Ctrl-C or `eukhe stop` ends it")
        with suppress(KeyboardInterrupt, SystemExit):  # a signal is how it is ended, too
            here.wait_for_end()
        with suppress(OSError):  # its terminal may be what has ended it
            say("what was begun is finished first")


def _serve_in_background(given: Given, line_model: str) -> None:
    """The pipe at stdout tells the command that started this that it is ready, or why it is not.

    From then on this process has no terminal: what it says goes to owner.log.
    """
    with ExitStack() as stack:
        try:
            here = stack.enter_context(own(given.home, settings_of(given), leaves=True, model=line_model))
            log = stack.enter_context(open_log(given.home))
        except ExpectedError as error:
            os.write(sys.stdout.fileno(), f"{type(error).__name__} {error}".encode(errors="replace"))
            raise click.exceptions.Exit(EXIT_FAILED) from None
        os.write(sys.stdout.fileno(), READY)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(log.fileno(), stream.fileno())
        with suppress(SystemExit):
            here.wait_for_end()
