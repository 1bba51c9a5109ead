"""The program: runs a command and turns what became of it into an exit code.

0 done; 1 an expected failure, one line says what, where, what to do; 2 wrong usage; 130 interrupted, and 128 more than
its number for another signal; 141 when the reader of the output went away, as of any program in a pipe. This module is
what `eukhe --version` loads: it imports click and little else.
"""

import io
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from eukhe import __version__
from eukhe.cli.command import Given, Group, service_option
from eukhe.cli.output import say
from eukhe.errors import ExpectedError, OutputError
from eukhe.limits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PIPE_CLOSED, EXIT_SIGNALLED

DEBUG_VARIABLE = "EUKHE_DEBUG"
COMPLETE_VARIABLE = "_EUKHE_COMPLETE"


def _no_option(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """What -p says. UsageError where that is an option, which was meant as one."""
    options = {*context.help_option_names, *(name for one in context.command.params for name in one.opts)}
    if text is not None and text.partition("=")[0] in options:
        raise click.UsageError(f"-p takes the text right behind it, and {text} is an option.")
    return text


@click.command(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A coding agent whose memory is one chat that never ends.",
    invoke_without_command=True,
)
@click.option(
    "-p",
    "--print",
    "text",
    metavar="TEXT",
    callback=_no_option,
    help="One turn: print the reply. `-` takes stdin for the text.",
)
@click.option(
    "--output-format",
    type=click.Choice(("text", "json", "stream-json")),
    default="text",
    show_default=True,
    help="What -p prints: the reply; an object; or a line for each event.",
)
@click.option("--allow", "rules", metavar="RULE", multiple=True, help="What -p's tools may do, as `bash:make test`.")
@click.option("--image", "images", metavar="PATH", multiple=True, help="An image that goes with -p's text.")
@click.option("--model", metavar="NAME", help="The model of this turn, provider/name.  [env var: EUKHE_MODEL]")
@click.option("--thinking", metavar="LEVEL", help="Its thinking effort.  [env var: EUKHE_THINKING]")
@click.version_option(__version__, prog_name="eukhe", message="%(prog)s %(version)s")
@click.pass_context
def root(
    context: click.Context,
    text: str | None,
    output_format: str,
    rules: tuple[str, ...],
    images: tuple[str, ...],
    model: str | None,
    thinking: str | None,
) -> None:
    given = context.ensure_object(Given)
    given.flags = {key: value for key, value in (("model", model), ("thinking", thinking)) if value is not None}
    if text is not None:
        if context.invoked_subcommand is not None:
            raise click.UsageError(f"-p is a turn, and takes no command; {context.invoked_subcommand} is one.")
        from eukhe.cli.ask import ask

        ask(given, text, output_format, rules, images)
    elif rules or images:
        raise click.UsageError("--allow and --image go with -p.")
    elif context.invoked_subcommand is None:
        click.echo(context.get_help())


root.params.append(service_option())


def main() -> NoReturn:
    """The `eukhe` program."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that can't show a character gets its code; it is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # else whoever started us wants it ignored
            signal.signal(number, _end)
    sys.exit(run(sys.argv[1:]))


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    """A signal to end: what is open is closed on the way out, the terminal as it was."""
    sys.exit(EXIT_SIGNALLED + number)


def run(args: Sequence[str]) -> int:
    """Runs one command line. The exit code."""
    try:
        return _said(args)
    except BrokenPipeError:
        _drop_output()
        return EXIT_PIPE_CLOSED


def _said(args: Sequence[str]) -> int:
    """Runs it, and says what went wrong."""
    try:
        return _invoke(args)
    except (KeyboardInterrupt, click.Abort) as end:
        say(f"eukhe: interrupted; {end}" if str(end) else "eukhe: interrupted")
        return EXIT_INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        say(_line_about(error))
        if isinstance(error, OutputError):
            _drop_output()
        return EXIT_FAILED


def _invoke(args: Sequence[str]) -> int:
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, "eukhe", COMPLETE_VARIABLE, instruction)
    try:
        with root.make_context("eukhe", list(args)) as context:
            root.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _line_about(error: Exception) -> str:
    if isinstance(error, ExpectedError):
        return f"eukhe: {error}"
    whose = "" if isinstance(error, OSError) else "a fault of eukhe: "
    return f"eukhe: {whose}{type(error).__name__}: {error} ({DEBUG_VARIABLE}=1 shows where)"


def _drop_output() -> None:
    """What is left in the buffers goes nowhere: nobody reads it, and Python's exit would fail on it again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
