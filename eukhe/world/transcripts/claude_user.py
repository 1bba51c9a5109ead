"""What stands in the user's lines of Claude Code: the user's words, and what the program wrote there itself.

Claude Code sends its own notes as user text, inside tags: what was open in the editor, reminders, the output of a
command typed with `!`, the report of a task in the background. They are told apart here, by the text alone, in time
that grows with its length and no faster, whatever tags it opens and never closes.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_NOTES = ("system-reminder", "ide_opened_file", "ide_selection")
_COMMAND = ("<command-name>", "<command-message>")
_LOCAL_COMMAND = ("<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>")
_BASH_STREAMS = ("bash-stdout", "bash-stderr")
_NOTIFICATION = "task-notification"
_WHERE_IT_IS = re.compile(r"^(?:Full transcript available at|Read the output file to retrieve the result): .*$", re.M)
_INTERRUPTED = frozenset({"[Request interrupted by user]", "[Request interrupted by user for tool use]"})
_REFUSED = "The user doesn't want to proceed with this tool use"
_REFUSED_SAYING = "the user said:\n"
_REFUSED_NOTE = "\n\nNote: The user's next message may contain a correction"


class Words(NamedTuple):
    """A text and who it is from: user, work, or echo."""

    kind: str
    text: str


class _Span(NamedTuple):
    """A tag from its opening to behind its closing, and what it holds."""

    start: int
    end: int
    inner: str


def words_of(text: str) -> list[Words]:
    """The messages in a user text; the user's own words without what was written among them."""
    text = _without(text, _NOTES)
    begin = text.strip()
    if not begin or begin in _INTERRUPTED or begin.startswith(_LOCAL_COMMAND):
        return []
    if begin.startswith(_COMMAND):
        return _command(begin)
    if begin.startswith("<bash-input>"):
        typed = _held(begin, "bash-input").strip()
        return [Words("user", f"!{typed}")] if typed else []
    if begin.startswith(tuple(f"<{stream}>" for stream in _BASH_STREAMS)):
        streams = (_held(begin, stream) for stream in _BASH_STREAMS)
        return [Words("echo", "\n".join(stream for stream in streams if stream))]
    if f"<{_NOTIFICATION}>" in text:
        return _notified(text)
    return [Words("user", text)]


def queued_words(text: str) -> list[Words]:
    """The messages in a text that waited its turn: commands and notes of the program are none, reports are."""
    words = words_of(text)
    if is_machines(text):
        return [word for word in words if word.kind == "work"]
    return words


def is_machines(text: str) -> bool:
    """Is a text that waited its turn a command, or a note of a program?"""
    return text.lstrip().startswith(("/", "<", "[monitor]"))


def without_reminders(result: str) -> str:
    """A tool's result without the notes that the program hung on it.

    These begin a line of their own. The same tags elsewhere are in what the tool read, and stay.
    """
    kept: list[str] = []
    at = 0
    for span in _spans(result, "system-reminder", own_line=True):
        kept.append(result[at : span.start].rstrip("\n"))
        at = span.end
    rest = result[at:]
    return "".join([*kept, rest if rest.strip() or not kept else ""])


def is_refusal(result: str) -> bool:
    """Did the user refuse this call?"""
    return result.startswith(_REFUSED)


def refusing_words(result: str) -> str:
    """What the user said on refusing a call; empty where nothing was said."""
    said = result.partition(_REFUSED_SAYING)[2] if is_refusal(result) else ""
    return said.partition(_REFUSED_NOTE)[0].strip()


def reported_tasks(text: str) -> Iterator[str]:
    """The ids of the background tasks whose reports stand in a text."""
    for notification in _spans(text, _NOTIFICATION, own_line=True):
        task = _held(notification.inner, "task-id").strip()
        if task and _held(notification.inner, "result"):
            yield task


def _command(text: str) -> list[Words]:
    """`/x a` as it was typed. Without arguments it says nothing: /exit, /clear."""
    name, args = _held(text, "command-name").strip(), _held(text, "command-args").strip()
    return [Words("user", f"/{name.removeprefix('/')} {args}")] if name and args else []


def _notified(text: str) -> list[Words]:
    """Reports in their order, and the words around them."""
    words: list[Words] = []
    at = 0
    for notification in _spans(text, _NOTIFICATION, own_line=True):
        words += _typed(text[at : notification.start])
        report = _held(notification.inner, "result") or _held(notification.inner, "summary")
        words += [Words("work", report.strip())] if report.strip() else []
        at = notification.end
    return words + _typed(text[at:])


def _typed(text: str) -> list[Words]:
    text = _WHERE_IT_IS.sub("", text).strip()
    return [Words("user", text)] if text else []


def _without(text: str, tags: Iterable[str]) -> str:
    """The text with these tags and all that they hold cut out, and then without blanks around it."""
    for tag in tags:
        kept: list[str] = []
        at = 0
        for span in _spans(text, tag):
            kept.append(text[at : span.start])
            at = span.end
        if at:
            text = "".join([*kept, text[at:]]).strip()
    return text


def _held(text: str, tag: str) -> str:
    """What stands between the first opening of a tag and its last closing; empty where one is missing."""
    start, end = text.find(f"<{tag}>"), text.rfind(f"</{tag}>")
    return text[start + len(f"<{tag}>") : end] if 0 <= start < end else ""


def _spans(text: str, tag: str, own_line: bool = False) -> Iterator[_Span]:
    """The spans of a tag, each to the first closing behind it; with `own_line` those that begin a line."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    at = 0
    while (start := text.find(opening, at)) >= 0:
        at = start + len(opening)
        if own_line and start and text[start - 1] != "\n":
            continue
        end = text.find(closing, at)
        if end < 0:
            return
        yield _Span(start, end + len(closing), text[at:end])
        at = end + len(closing)
