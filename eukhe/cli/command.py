"""What every command shares: `-h`, `--home` at any place, `--json` with keys that are documented.

A command's file holds

    @click.command(cls=Command, json_keys={"messages": "how many the chat has"})
    @click.pass_obj
    def command(given: Given, as_json: bool) -> None:

and `json_keys` brings the option `--json` with it, as the parameter `as_json`. Help comes from the docstring.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from eukhe.cli.commands import COMMANDS, GROUPS
from eukhe.cli.output import results
from eukhe.errors import IndexFailed

HOME_VARIABLE = "EUKHE_HOME"
SERVICE_VARIABLE = "EUKHE_NO_SERVICE"


@dataclass
class Given:
    """What the command line says besides the command: the home as given, and the turn's settings by key."""

    home_given: str | None = None
    flags: dict[str, str] = field(default_factory=dict)
    no_service: bool = False  # no process is left behind
    index_is_bad: bool = False  # and can't be made anew: whoever reads does without it

    @property
    def home(self) -> Path:
        """The home's absolute path: `--home`, else EUKHE_HOME, else ~/.eukhe. Need not exist. HomeError."""
        from eukhe.world.home import home_path

        return home_path({**os.environ, HOME_VARIABLE: self.home_given} if self.home_given else os.environ)


def home_option() -> click.Option:
    """`--home`; stands at every command, so that its place on the line does not matter."""

    def take(context: click.Context, option: click.Parameter, value: str | None) -> None:
        if value == "":  # of a variable that is not set: it would be ~/.eukhe, where nothing is ever deleted
            raise click.BadParameter("an empty path", context, option)
        if value is not None:
            context.ensure_object(Given).home_given = value

    return click.Option(
        ["--home"],
        metavar="DIR",
        expose_value=False,
        callback=take,
        help=f"Where the chat and the settings are.  [env var: {HOME_VARIABLE}; default: ~/.eukhe]",
    )


def service_option() -> click.Option:
    """`--no-service`, of every command that needs the chat's owner."""

    def take(context: click.Context, _option: click.Parameter, value: bool) -> None:
        context.ensure_object(Given).no_service = value

    return click.Option(
        ["--no-service"],
        is_flag=True,
        envvar=SERVICE_VARIABLE,
        expose_value=False,
        callback=take,
        help="Where no process owns the chat, own it here for this command, and leave none in the background.  "
        f"[env var: {SERVICE_VARIABLE}]",
    )


class Command(click.Command):
    """A command. `json_keys`: what `--json` prints, key by key; without any there is no `--json`.

    `needs_owner`: it changes the chat, so a process must own it.
    """

    def __init__(
        self, *args: Any, json_keys: Mapping[str, str] | None = None, needs_owner: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if needs_owner:
            self.params.append(service_option())
        self.json_keys = dict(json_keys or {})
        if self.json_keys:
            self.params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print JSON; see docs/cli.md."))
        self.params.append(home_option())

    def invoke(self, ctx: click.Context) -> Any:
        """Runs it; where the index turns out to be bad before anything was printed, once more without that index."""
        before = results()
        try:
            return super().invoke(ctx)
        except IndexFailed as error:
            if not error.bad or results() > before:
                raise
            from eukhe.cli.reading import set_index_aside

            set_index_aside(ctx.ensure_object(Given), error)
        return super().invoke(ctx)


class Group(click.Group):
    """The commands below some words, imported when called. A name that is none gets a hint."""

    def __init__(self, words: str = "", **kwargs: Any) -> None:
        kwargs.setdefault("name", words.rpartition(" ")[2] or None)
        kwargs.setdefault("help", GROUPS.get(words))
        super().__init__(**kwargs)
        self.words = words
        self.params.append(home_option())

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._below())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        path = f"{self.words} {cmd_name}".lstrip()
        if path in COMMANDS:
            found = import_module(COMMANDS[path][0]).command
            assert isinstance(found, Command), f"{COMMANDS[path][0]}.command is no Command"
            found.name = cmd_name
            return found
        return Group(path) if cmd_name in self._below() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._below() and not name.startswith("-"):
            raise click.UsageError(f"No such command '{name}'.{self._hint(name)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._below().items()))

    def _below(self) -> dict[str, str]:
        """The next words after this group's, each with its line; a group stands where its first command does."""
        below = {}
        for path, (_module, about) in COMMANDS.items():
            if path.startswith(f"{self.words} ".lstrip()):
                rest = path[len(self.words) :].split()
                word = f"{self.words} {rest[0]}".lstrip()
                below[rest[0]] = about if word == path else GROUPS[word]
        return below

    def _hint(self, name: str) -> str:
        if near := get_close_matches(name, self._below(), n=1):
            return f" Did you mean '{near[0]}'?"
        by_last_word = {path.rpartition(" ")[2]: path for path in COMMANDS}
        if near := get_close_matches(name, by_last_word, n=1):
            return f" Did you mean 'eukhe {by_last_word[near[0]]}'?"
        return ""
