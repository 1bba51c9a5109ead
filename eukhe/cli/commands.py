"""Every command by its words: the module that holds it as `command`, and one line about it.

A new command is its file and its line here. Nothing is imported until a command is called.
"""

from typing import Final

GROUPS: Final[dict[str, str]] = {
    "chat": "The memory: its view, its lines, what goes in and out.",
    "chat import": "Bring texts from elsewhere into the chat.",
    "memory": "The lines that stand for older messages.",
    "config": "The settings and where each comes from.",
}

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "config list": ("eukhe.cli.config_list", "Every setting, its value and its source."),
    "config get": ("eukhe.cli.config_get", "One setting's value."),
    "config set": ("eukhe.cli.config_set", "Change one setting, or take it back with --unset."),
    "completion": ("eukhe.cli.completion", "The script that completes commands in your shell."),
}
