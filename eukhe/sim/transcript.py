"""Transcripts: commands to a whole owner, each with its outcome, in a file that a person reads when it changes.

A file opens with the rules that it shows. A command is a line; `----` and its outcome follow, up to an empty line:

    # rules: 38 D5
    # A call that failed waits for the next message.

    message 600 bytes
    ----
    logged 0
    call 1: 0+1 sees nothing

`play` performs the commands and gives the file as it should be, comments and empty lines as they were. So a file is
right where it is what `play` gives of it; and a new one is written by playing its commands alone.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from eukhe.sim.transcript_commands import Commands
from eukhe.sim.transcript_words import CommandError

HEAD: Final = "# rules:"
RULE: Final = "----"


class TranscriptError(Exception):
    """A file that is no transcript; str() says where and why."""


class _Piece(NamedTuple):
    """A comment, an empty line, or a command without its outcome. `number` is its line's, from 1."""

    number: int
    text: str

    @property
    def is_command(self) -> bool:
        return bool(self.text) and not self.text.startswith("#")


def play(name: str, text: str, seed: int) -> str:
    """The transcript with the outcomes that its commands have under a seed. TranscriptError names file and line."""
    commands = Commands(seed)
    lines: list[str] = []
    for piece in _pieces(name, text):
        lines.append(piece.text)
        if piece.is_command:
            try:
                outcome = commands.perform(piece.text.split())
            except CommandError as error:
                raise TranscriptError(f"{name}:{piece.number}: {piece.text}: {error}") from error
            lines += [RULE, *outcome]
    return "".join(f"{line}\n" for line in lines)


def rules_of(name: str, text: str) -> tuple[str, ...]:
    """The rules that a transcript says it shows."""
    first = text.partition("\n")[0]
    rules = tuple(first.removeprefix(HEAD).split())
    if not first.startswith(HEAD) or not rules:
        raise TranscriptError(f"{name}:1: the first line names the rules, as `{HEAD} 38 D5`")
    return rules


def _pieces(name: str, text: str) -> Iterator[_Piece]:
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        piece = _Piece(number, line.rstrip())
        if piece.text == RULE:
            raise TranscriptError(f"{name}:{number}: an outcome without its command")
        yield piece
        if piece.is_command and (after := _after_outcome(name, lines)) is not None:
            yield after


def _after_outcome(name: str, lines: Iterator[tuple[int, str]]) -> _Piece | None:
    """Passes a command's outcome; the empty line after it, None at the end of the file."""
    for at, (number, line) in enumerate(lines):
        if not line.strip():
            return _Piece(number, "")
        if at == 0 and line.rstrip() != RULE:
            raise TranscriptError(f"{name}:{number}: {line}: after a command comes `{RULE}`, or an empty line")
    return None
