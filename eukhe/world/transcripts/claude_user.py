"""What stands in the user's lines of Claude Code: the user's words, and what the program wrote there itself.

Claude Code sends its own notes as user text, inside tags: what was open in the editor, reminders, the output of a
command typed with `!`, the report of a task in the background. They are told apart here, by the text alone.
"""

import re
from typing import NamedTuple

_TAGGED = r"<{0}>(.*?)</{0}>"
_NOTES = re.compile(
    "|".join(rf"{_TAGGED.format(tag)}\s*" for tag in ("system-reminder", "ide_opened_file", "ide_selection")), re.DOTALL
)
# In a result only what begins its own line: the same tags may be in the file that was read.
_REMINDER_LINE = re.compile(r"\s*^<system-reminder>.*?</system-reminder>\s*?$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"<command-(?:name|message)>")
_COMMAND_NAME = re.compile(_TAGGED.format("command-name"), re.DOTALL)
_COMMAND_ARGS = re.compile(r"<command-args>(.*)</command-args>", re.DOTALL)
_LOCAL_COMMAND = re.compile(r"<local-command-(?:stdout|stderr|caveat)>")
_BASH_INPUT = re.compile(r"<bash-input>(.*)</bash-input>", re.DOTALL)
_BASH_OUTPUT = re.compile(r"<bash-(?:stdout|stderr)>")
_BASH_STREAM = re.compile(r"<bash-(stdout|stderr)>(.*?)</bash-\1>", re.DOTALL)
_NOTIFICATION = re.compile(r"^[ \t]*<task-notification>(.*?)</task-notification>", re.DOTALL | re.MULTILINE)
_RESULT = re.compile(r"<result>(.*)</result>", re.DOTALL)
_SUMMARY = re.compile(_TAGGED.format("summary"), re.DOTALL)
_TASK_ID = re.compile(_TAGGED.format("task-id"), re.DOTALL)
_WHERE_IT_IS = re.compile(r"^(?:Full transcript available at|Read the output file to retrieve the result): .*$", re.M)
_INTERRUPTED = frozenset({"[Request interrupted by user]", "[Request interrupted by user for tool use]"})
_REFUSED = "The user doesn't want to proceed with this tool use"
_REFUSED_SAYING = "the user said:\n"


class Words(NamedTuple):
    """A text and who it is from: user, work, or echo."""

    kind: str
    text: str


def words_of(text: str) -> list[Words]:
    """The messages in a user text; the user's own words without what was written among them."""
    text, cut = _NOTES.subn("", text)
    if cut:
        text = text.strip()
    begin = text.lstrip()
    if not begin or begin.rstrip() in _INTERRUPTED or _LOCAL_COMMAND.match(begin):
        return []
    if _COMMAND.match(begin):
        return _command(begin)
    if typed := _BASH_INPUT.match(begin):
        return [Words("user", "!" + typed[1])] if typed[1].strip() else []
    if _BASH_OUTPUT.match(begin):
        return [Words("echo", "\n".join(stream for _, stream in _BASH_STREAM.findall(begin) if stream))]
    if "<task-notification>" in text:
        return _notified(text)
    return [Words("user", text)]


def queued_words(text: str) -> list[Words]:
    """The messages in a text that waited its turn: commands and notes of the program are none, reports are."""
    words = words_of(text)
    if text.lstrip().startswith(("/", "<")):
        return [word for word in words if word.kind == "work"]
    return words


def without_reminders(result: str) -> str:
    """A tool's result without the notes that the program hung on it."""
    return _REMINDER_LINE.sub("", result) if "<system-reminder>" in result else result


def is_refusal(result: str) -> bool:
    """Did the user refuse this call?"""
    return result.startswith(_REFUSED)


def refusing_words(result: str) -> str:
    """What the user said on refusing a call; empty where nothing was said."""
    return result.partition(_REFUSED_SAYING)[2].strip() if is_refusal(result) else ""


def reported_tasks(text: str) -> list[str]:
    """The ids of the background tasks whose reports stand in a text."""
    return [
        task[1].strip()
        for notification in _NOTIFICATION.finditer(text)
        if _RESULT.search(notification[1]) and (task := _TASK_ID.search(notification[1]))
    ]


def _command(text: str) -> list[Words]:
    """`/x a` as it was typed. Without arguments it says nothing: /exit, /clear."""
    name, args = _COMMAND_NAME.search(text), _COMMAND_ARGS.search(text)
    if not name or not args or not args[1].strip():
        return []
    return [Words("user", f"/{name[1].strip().removeprefix('/')} {args[1].strip()}")]


def _notified(text: str) -> list[Words]:
    """Reports in their order, and the words around them."""
    words = []
    at = 0
    for notification in _NOTIFICATION.finditer(text):
        words += _said(text[at : notification.start()])
        report = _RESULT.search(notification[1]) or _SUMMARY.search(notification[1])
        words += [Words("work", report[1].strip())] if report and report[1].strip() else []
        at = notification.end()
    return words + _said(text[at:])


def _said(text: str) -> list[Words]:
    text = _WHERE_IT_IS.sub("", text).strip()
    return [Words("user", text)] if text else []
