"""`eukhe completion SHELL`."""

import click
from click.shell_completion import get_completion_class

from eukhe.cli.command import Command
from eukhe.cli.main import COMPLETE_VARIABLE
from eukhe.cli.output import emit


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that completes commands in your shell.

    \b
    bash   eval "$(eukhe completion bash)"    in ~/.bashrc
    zsh    eval "$(eukhe completion zsh)"     in ~/.zshrc
    fish   eukhe completion fish | source     in ~/.config/fish/config.fish
    """
    script = get_completion_class(shell)
    assert script is not None, f"click knows no {shell}"
    emit(script(context.find_root().command, {}, "eukhe", COMPLETE_VARIABLE).source())
