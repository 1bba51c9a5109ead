"""Letters in Claude Code's user lines: texts of other senders, each inside a tag that names who sends.

Other sessions, teammates and agents write to a session this way, and so do chats and hooks over a channel. Where the
program says first that a letter comes, the rest of that text is its own note. A channel that names a chat or a person
carries the user's words from there; all other letters are work.
"""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import NamedTuple

import orjson

_ANNOUNCED = re.compile(r"(?:Another Claude|A peer) session sent a message(?: while you were working)?:\s*\n")
_ATTRIBUTES = r"""((?:\s+[\w-]+=(?:"[^"]*"|'[^']*'))*)\s*>"""
_LETTER = re.compile(r"\s*<(teammate-message|cross-session-message|agent-message|channel)\b" + _ATTRIBUTES)
_ENVELOPE = re.compile(r"<([a-z]\w*(?:-\w+)+)\b" + _ATTRIBUTES)
_FROM_A_PERSON = re.compile(r"\s(?:chat_id|user)=")
_HANDED_BACK = "[Subagent hand-back]"
_REPORTER = re.compile(r'^<agent-message from="([^"]+)">\n' + re.escape(_HANDED_BACK), re.M)
_REPORT_FOLLOWS = "The report follows:\n"
_WARNING = re.compile(r"\A\[harness: [^\n]*\]\n")  # of the program, at the head of a report


class Words(NamedTuple):
    """A text and who it is from: user, work, or echo."""

    kind: str
    text: str


def letters(text: str) -> list[Words] | None:
    """The messages of a text that is a letter or several, and what the user wrote behind them; None for other texts."""
    text = text.strip()
    announced = _ANNOUNCED.match(text)
    begin = at = announced.end() if announced else 0
    words: list[Words] = []
    while letter := _LETTER.match(text, at):
        end = text.find(closing := f"</{letter[1]}>", letter.end())
        if end < 0:
            break
        if body := _body(text[letter.end() : end]):
            person = letter[1] == "channel" and _FROM_A_PERSON.search(letter[2])
            words.append(Words("user" if person else "work", body))
        at = end + len(closing)
    rest = text[at:].strip()
    if at == begin:
        return [Words("work", rest)] if announced and rest else None
    return words + ([Words("user", rest)] if rest and not announced else [])


def enveloped(text: str) -> Words | None:
    """What some program wrote that is not known here: a text inside one tag with a hyphen, and nothing beside it."""
    text = text.strip()
    envelope = _ENVELOPE.match(text)
    if envelope is None or not text.endswith(closing := f"</{envelope[1]}>"):
        return None
    return Words("work", text[envelope.end() : -len(closing)].strip())


def reporters(text: str) -> Iterator[str]:
    """The ids of the agents whose reports stand in a text as letters."""
    return (reporter[1] for reporter in _REPORTER.finditer(text))


def _body(text: str) -> str:
    """What a letter says. A report stands indented behind a note; teammates' signals are JSON, some with a result."""
    if text.lstrip().startswith(_HANDED_BACK):
        text = _WARNING.sub("", dedent(text.partition(_REPORT_FOLLOWS)[2]).lstrip(), count=1)
    text = dedent(text.strip("\n")).strip()
    if text.startswith("{"):
        try:
            signal = orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
        match signal:
            case {"type": str(), "result": str(result)}:
                return result.strip()
            case {"type": str()}:
                return ""
    return text
