"""Every command by its words: the module that holds it as `command`, and one line about it.

A new command is its file and its line here. Nothing is imported until a command is called.
"""

from typing import Final

GROUPS: Final[dict[str, str]] = {
    "chat": "The memory: its view, its lines, what goes in and out.",
    "chat import": "Bring texts from elsewhere into the chat.",
    "memory": "The lines that stand for older messages.",
    "config": "The settings and where each comes from.",
    "prompt": "The texts that a model is sent.",
}

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "demo": ("eukhe.cli.demo", "Build a memory offline out of bundled sessions, and look into it."),
    "chat view": ("eukhe.cli.chat_view", "Every line of the view."),
    "chat status": ("eukhe.cli.chat_status", "How large the memory is, and what it is at."),
    "chat zoom": ("eukhe.cli.chat_zoom", "Open a line of the memory, down to the message."),
    "chat date": ("eukhe.cli.chat_date", "When a message was said."),
    "chat import sessions": ("eukhe.cli.chat_import_sessions", "Sessions of other agents, files or folders."),
    "chat verify": ("eukhe.cli.chat_verify", "Prove from the files that the memory is whole."),
    "chat export": ("eukhe.cli.chat_export", "Every message, for another home or for reading."),
    "memory build": ("eukhe.cli.memory_build", "Build every line that can be built now."),
    "serve": ("eukhe.cli.serve", "Own the chat in the foreground, for every eukhe of yours."),
    "stop": ("eukhe.cli.stop", "Stop the process that owns the chat."),
    "config list": ("eukhe.cli.config_list", "Every setting, its value and its source."),
    "config get": ("eukhe.cli.config_get", "One setting's value."),
    "config set": ("eukhe.cli.config_set", "Change one setting, or take it back with --unset."),
    "prompt show": ("eukhe.cli.prompt_show", "The texts in force, each with its source."),
    "cost": ("eukhe.cli.cost", "What calls have cost, and why what might have been cheap was not."),
    "models": ("eukhe.cli.models", "The models that are known, their prices, and which are in use."),
    "doctor": ("eukhe.cli.doctor", "Mend what a crash left, and say what is wrong."),
    "chaos": ("eukhe.cli.chaos", "Look for bugs on a simulated machine that fails."),
    "completion": ("eukhe.cli.completion", "The script that completes commands in your shell."),
}
