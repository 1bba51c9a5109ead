"""What a tool may do without being asked for. Pure: no clock, disk or threads.

The memory's tools, `read` and `agent` always may. `bash`, `write` and `edit` may where a rule lets them:

    bash              every command
    bash:make test    this command, to the letter
    bash:git *        commands of these first words, with no sign in them by which a shell would run or write more
    write             every file
    write:src/*       files right in a folder; `**` goes into its folders too
    edit:docs/**      `edit` likewise, which changes files that `write` would replace

A path is that of the working folder, and is meant as it is once `..` and links are followed: a file that lies
elsewhere is named by no rule but one with its whole path, from `/` on. A rule of a command's first words trusts its
program, which may run others when told to.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, Protocol

from eukhe.model.tool_input import Bash, Edit, Read, Write, WrongInput, parse

ASKS: Final = ("bash", "write", "edit")
"""The tools that ask."""

FORMS: Final = (
    "bash, bash:COMMAND, bash:WORDS *, write, write:PATH, edit, edit:PATH; in a PATH * and ** stand for names"
)
_RULE: Final = re.compile(rf"({'|'.join(ASKS)})(?::(\S.*))?", re.DOTALL)
_MANY: Final = " *"
_BLANKS: Final = " \t\n"  # that a shell takes for such; others are parts of words
_SHELL: Final = re.compile(r"[;&|<>()$`\\!{}\x00-\x08\x0a-\x1f\x7f]")
"""What can make more of a command than a program and its words."""
_GLOB_PARTS: Final = re.compile(r"(\*\*/|\*\*|\*)")
_GLOB: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}


class Place(Protocol):
    """Where the tools work, as far as a decision must know it."""

    def resolve(self, path: str) -> str:
        """The whole path of a file, from `/` on, once `..` and links are followed. Also of one that is not there."""
        ...

    def change(self, given: Write | Edit) -> str:
        """What it would change, as a person wants to see it."""
        ...


class Allowed(NamedTuple):
    """It may run."""


class Ask(NamedTuple):
    """The user is to be asked. `rule`: what would allow it from now on; empty where no rule says just that."""

    shown: str
    rule: str


class Refused(NamedTuple):
    """It may not run; `why` is for the model."""

    why: str


Decision = Allowed | Ask | Refused


class Policy:
    """`attended`: there is somebody who can be asked."""

    def __init__(self, rules: Iterable[str], place: Place, *, attended: bool) -> None:
        self._rules = list(rules)
        self._place = place
        self._attended = attended

    def allow(self, rule: str) -> None:
        """From now on."""
        self._rules.append(rule)

    def decide(self, name: str, given: Mapping[str, Any]) -> Decision:
        """Whether a tool may run on its input. One whose input is wrong may: it will say so, and do nothing."""
        if name not in ASKS:
            return Allowed()
        try:
            call = parse(name, given)
        except WrongInput:
            return Allowed()
        assert not isinstance(call, Read), "read needs no leave"
        targets = self._targets(call)
        if any(_allows(rule, name, target) for rule in self._rules for target in targets):
            return Allowed()
        rule = _rule_for(name, targets[0])
        if not self._attended:
            return Refused(_refusal(name, rule))
        return Ask(call.command if isinstance(call, Bash) else self._place.change(call), rule)

    def _targets(self, call: Bash | Write | Edit) -> tuple[str, ...]:
        """What rules can name it by: a command; a file's path in the folder, if it lies there, and its whole path."""
        if isinstance(call, Bash):
            return (call.command.strip(_BLANKS),)
        folder, path = self._place.resolve("."), self._place.resolve(call.path)
        inside = path.removeprefix(folder.rstrip("/") + "/")
        return (path,) if inside == path else (inside, path)


def is_rule(text: object) -> bool:
    """Whether it is a rule of a form above."""
    return isinstance(text, str) and _RULE.fullmatch(text) is not None


def _allows(rule: str, name: str, target: str) -> bool:
    tool, _, pattern = rule.partition(":")
    if tool != name:
        return False
    if not pattern:
        return True
    if name == "bash":
        return _begins(target, pattern)
    # A pattern of the folder is for what lies there alone, one from the root on for whole paths alone.
    return pattern.startswith("/") == target.startswith("/") and _path_pattern(pattern).fullmatch(target) is not None


def _begins(command: str, pattern: str) -> bool:
    """Whether a command is the pattern's, to the letter or by its first words."""
    if command == pattern.strip(_BLANKS):
        return not pattern.endswith(_MANY)
    if not pattern.endswith(_MANY) or _SHELL.search(command):
        return False
    words = _words(pattern.removesuffix(_MANY))
    return _words(command)[: len(words)] == words


def _words(command: str) -> list[str]:
    """As a shell parts them: at blanks and tabs, and at nothing else that looks like one."""
    return re.split("[ \t]+", command.strip(" \t"))


@cache
def _path_pattern(pattern: str) -> re.Pattern[str]:
    made = "".join(_GLOB.get(part, re.escape(part)) for part in _GLOB_PARTS.split(pattern.removeprefix("./")))
    return re.compile(made, re.DOTALL)


def _rule_for(name: str, target: str) -> str:
    """The rule that lets just this; empty where none does."""
    rule = f"{name}:{target}"
    return rule if is_rule(rule) and not target.endswith(_MANY) and (name == "bash" or "*" not in target) else ""


def _refusal(name: str, rule: str) -> str:
    more = f"the rule `{rule}` or " if rule else ""
    return (
        f"{name} was not run: it must be allowed, and nobody is there to be asked. The user can let it by "
        f"{more}`{name}`, given with --allow or in the setting `allow`. Do without it, or say in your reply what you "
        "would have done."
    )
