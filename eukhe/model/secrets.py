"""Secrets and the marks that stand for them. Pure: no clock, disk or threads. D16.

`hide` puts `[secret <kind> <digest>]` in place of each secret; `reveal` gives back what a mark stands for, as far as
this process has seen or was given it. Nothing of that is ever stored. Hidden twice is hidden once: marks that stand in
a text part it, and what is between them is looked at by itself. First the environment's own values go, wherever they
stand; then what has the shape of a key.

The mark of a key has a digest of the key, so that the same key has the same mark in every process. That of a value of
the environment, which may be a short password, has a digest of its variable's name: nobody can try words against it.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec
import orjson

from eukhe.limits import (
    SECRET_DIGEST_DIGITS,
    SECRET_HELD_CHARS_MAX,
    SECRET_NAME_CHARS_MAX,
    SECRET_OPEN_CHARS_MAX,
    SECRETS_KEPT_MAX,
)
from eukhe.model.secret_shapes import HINTS, OPEN, SHAPES
from eukhe.model.talk import Block, Reply, Text, Use
from eukhe.model.text import clean

_MARK: Final = re.compile(rf"\[secret \w{{1,64}} [0-9a-f]{{{SECRET_DIGEST_DIGITS}}}\]", re.ASCII)

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


class _Span(NamedTuple):
    """A place in a text, and what stands there instead; the mark itself where it is one already.

    `begin`: of all by which it was told, as the header that it stands in.
    """

    begin: int
    start: int
    end: int
    mark: str


class Secrets:
    """`own`: the environment's values by the names of their variables, as `own_secrets` gives them."""

    def __init__(self, own: Mapping[str, str]) -> None:
        self._kept: dict[str, str] = {}  # what a mark stands for
        self._marks: dict[str, str] = {}  # of the environment's values, and of how JSON has them
        for name, value in ((name, clean(value)) for name, value in own.items()):
            for form, text in enumerate((value, orjson.dumps(value).decode()[1:-1], json.dumps(value)[1:-1])):
                if text and text not in self._marks:
                    self._marks[text] = self._mark_of_own(name, form, text)
        longest_first = sorted(self._marks, key=lambda text: (-len(text), text))
        self._own = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def hide(self, text: str) -> str:
        """The text with a mark for each secret."""
        return _replaced(text, self._spans(text))

    def reveal(self, text: str) -> str:
        """The text with what each mark stands for; a mark that is not known stays."""
        return _MARK.sub(lambda mark: self._kept.get(mark.group(), mark.group()), text)

    def hide_json(self, text: str) -> str:
        """As `hide`, in the strings of a JSON text, which stays as it is where there is nothing to hide."""
        return _in_strings(text, self.hide)

    def reveal_json(self, text: str) -> str:
        """As `reveal`, in the strings of a JSON text."""
        return _in_strings(text, self.reveal)

    def hide_reply(self, reply: Reply) -> Reply:
        """A model's reply with its texts and its tools' inputs hidden; its thoughts go back as they came."""
        return msgspec.structs.replace(reply, blocks=tuple(map(self._hidden, reply.blocks)))

    def stream(self) -> "HidingStream":
        """Hides in a text that comes in pieces."""
        return HidingStream(self)

    def streams(self) -> "HidingStreams":
        """Hides in several such texts that take turns."""
        return HidingStreams(self)

    def settled(self, text: str) -> tuple[str, str]:
        """Of a text that will go on: what comes of it whatever follows, hidden; and what must wait for more."""
        spans = self._spans(text)
        border = _word_start(text, min(self._own_start(text), _open_start(text)))
        for span in reversed(spans):
            if span.begin < border <= span.end:
                border = span.begin
        if len(text) - border > SECRET_HELD_CHARS_MAX:
            border = len(text)
        return _replaced(text[:border], [span for span in spans if span.end <= border]), text[border:]

    # --- finding them ---

    def _spans(self, text: str) -> list[_Span]:
        """The secrets and the marks of a text, in order. First the environment's own, wherever they stand."""
        taken = _found(_MARK, text, [], lambda mark: mark.group())
        if self._own is not None:
            taken = _found(self._own, text, taken, lambda match: self._marks[match.group()])
        return _found(SHAPES, text, taken, self._mark_of_shape) if HINTS.search(text) else taken

    def _own_start(self, text: str) -> int:
        """Where the longest end of a text begins that one of the environment's values begins with."""
        start = len(text)
        for value in self._marks:
            at = text.find(value[0], max(len(text) - len(value) + 1, 0))
            while 0 <= at < start and not value.startswith(text[at:]):
                at = text.find(value[0], at + 1)
            if at >= 0:
                start = min(start, at)
        return start

    # --- their marks ---

    def _mark_of_own(self, name: str, form: int, text: str) -> str:
        """Of a value that is a known key: the key's, which is the same where it is in no environment."""
        if (shape := SHAPES.fullmatch(text)) is not None:
            return self._mark_of_shape(shape)
        return self._keep(_mark(re.sub(r"\W", "_", name, flags=re.ASCII), f"{name} {form}"), text)

    def _mark_of_shape(self, match: re.Match[str]) -> str:
        assert match.lastgroup is not None
        text = match[match.lastgroup]
        return self._keep(_mark(match.lastgroup, text), text)

    def _keep(self, mark: str, text: str) -> str:
        if len(self._kept) < SECRETS_KEPT_MAX:
            self._kept.setdefault(mark, text)
        return mark

    def _hidden(self, block: Block) -> Block:
        match block:
            case Text(text):
                return msgspec.structs.replace(block, text=self.hide(text))
            case Use(input=input_):
                return msgspec.structs.replace(block, input=self.hide_json(input_))
        return block


class HidingStream:
    """Holds back what may be a secret's beginning: the last word of what came, mostly."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = ""

    def take(self, text: str) -> str:
        """What can be shown, now that this has come."""
        shown, self._held = self._secrets.settled(self._held + text)
        return shown

    def rest(self) -> str:
        """What was held back, at the end."""
        held, self._held = self._held, ""
        return self._secrets.hide(held)


class HidingStreams:
    """Streams of several kinds that take turns, as a reply's thoughts, its text, its tools' inputs.

    What one held back is shown before the next goes on: no secret stands in two of them.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._kind = ""
        self._stream = HidingStream(secrets)

    def take(self, kind: str, text: str) -> list[tuple[str, str]]:
        """What can be shown, by kind, now that this has come."""
        ended = [] if kind == self._kind else self.rest()
        self._kind = kind
        shown = self._stream.take(text)
        return [*ended, (kind, shown)] if shown else ended

    def rest(self) -> list[tuple[str, str]]:
        """What is still held back, at the end."""
        rest = self._stream.rest()
        return [(self._kind, rest)] if rest else []


def _mark(kind: str, digested: str) -> str:
    digest = hashlib.sha256(digested.encode(errors="replace")).hexdigest()
    return f"[secret {kind[:SECRET_NAME_CHARS_MAX]} {digest[:SECRET_DIGEST_DIGITS]}]"


def _found(
    pattern: re.Pattern[str], text: str, taken: list[_Span], mark_of: Callable[[re.Match[str]], str]
) -> list[_Span]:
    """What is taken already, and what the pattern finds in between, each gap looked at by itself."""
    found = list(taken)
    for start, end in _gaps(text, taken):
        for match in pattern.finditer(text[start:end] if taken else text):
            first, last = match.span(match.lastgroup or 0)
            found.append(_Span(start + match.start(), start + first, start + last, mark_of(match)))
    return sorted(found)


def _gaps(text: str, spans: Iterable[_Span]) -> Iterator[tuple[int, int]]:
    at = 0
    for span in spans:
        yield at, span.start
        at = span.end
    yield at, len(text)


def _replaced(text: str, spans: list[_Span]) -> str:
    if not spans:
        return text
    gaps = [text[start:end] for start, end in _gaps(text, spans)]
    return gaps[0] + "".join(span.mark + gap for span, gap in zip(spans, gaps[1:], strict=True))


def _open_start(text: str) -> int:
    """Where that begins which may go on to be a secret; the text's end where nothing does."""
    found = OPEN.search(text, max(len(text) - SECRET_OPEN_CHARS_MAX, 0))
    return found.start() if found else len(text)


def _word_start(text: str, at: int) -> int:
    """Where the word begins that a place is in, or stands after."""
    return max(text.rfind(blank, 0, at) for blank in " \n\t\r") + 1


def _in_strings(text: str, change: Callable[[str], str]) -> str:
    """A JSON text with its strings changed, and nothing else; one that is no JSON is changed as it is."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return change(text)
    return _STRING.sub(lambda string: _changed(string.group(), change), text)


def _changed(string: str, change: Callable[[str], str]) -> str:
    before: str = orjson.loads(string)
    after = change(before)
    return string if after == before else orjson.dumps(after).decode()
