"""Agents that play a part, as the fake API's model, and scripts of what it does.

    Agent([Rule("fix the bug", [[Think("hm"), "I look.", Call("bash", {"command": "ls"})], ["Done: {result}"]])])

An agent has no memory: it tells from a request's conversation alone how far its part is, so it plays on after any
crash, and plays the same in both forms. `{result}` is the last tool's result, `{said}` what the user said.

A script, as a file of `tools/fake_api.py`, is JSON:

    {"rules": [{"when": "fix", "replies": [["I look.", {"call": "bash", "input": {}}], ["Done."]]}],
     "acts": [{"fail": 429, "retry_after": 3}, {"reset": "drop"},
              {"say": [{"think": "hm"}, "hello"], "stop": "length", "twists": [["cut", "message_stop"]]}]}
"""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import fake_acts
import orjson
from fake_acts import Act, Answer, Call, Fail, Reset, Said, Think, Twist, answer

from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.talk import Result, Speech, text_of
from eukhe.model.text import cut, flatten

LINE_BYTES = 240  # of a line that an agent writes
TASKS = ("Compaction:", "Too long:")
_INPUT = re.compile(r"^<input>\n?(.*?)\n?</input>", re.DOTALL | re.MULTILINE)
_TWISTS: Mapping[str, Callable[..., Twist]] = {
    "cut": fake_acts.cut,
    "cut_byte": fake_acts.cut_byte,
    "without": fake_acts.without,
    "put": fake_acts.put,
    "pings": fake_acts.pings,
}


class Rule(NamedTuple):
    """Where the user's words hold `when`, a pattern, these replies are given, one a request of the turn."""

    when: str
    replies: Sequence[Sequence[Said]]


class Agent:
    """Plays its rules; else it says back what it hears. A compaction is answered with a line of its input."""

    def __init__(self, rules: Sequence[Rule] = (), line_bytes: int = LINE_BYTES) -> None:
        assert line_bytes <= NODE_BYTES_MAX
        self._rules = rules
        self._line_bytes = line_bytes

    def __call__(self, speeches: Sequence[Speech], thinks: bool) -> Answer:
        """What it says to a conversation, which ends with the user's words. `thinks`: thoughts are wanted."""
        if is_compaction(speeches[-1]):
            return answer(line_of(input_of(speeches), self._line_bytes))
        begin = max(at for at, speech in enumerate(speeches) if speech.role == "user" and not _results(speech))
        said, done = words_of(speeches[begin]), sum(speech.role == "assistant" for speech in speeches[begin:])
        replies = next((rule.replies for rule in self._rules if re.search(rule.when, said)), [["You said: {said}"]])
        reply = replies[done] if done < len(replies) else ["There is no more to say."]
        names = {"{said}": said, "{result}": _last_result(speeches[-1])}
        return Answer(tuple(_filled(part, names) for part in reply if thinks or not isinstance(part, Think)))


def is_compaction(speech: Speech) -> bool:
    """Whether it asks for a line of the memory. A user's message that looks so comes after the turn's sentence."""
    texts = _texts(speech)
    return bool(texts) and texts[-1].startswith(TASKS) and not any(text.startswith("Turn:") for text in texts)


def input_of(speeches: Sequence[Speech]) -> str:
    """What is to be compressed: the first input in the last speech that has one."""
    for speech in reversed(speeches):
        for text in reversed(_texts(speech) if speech.role == "user" else []):
            if found := _INPUT.search(text):
                return found[1]
    return ""


def line_of(source: str, bytes_max: int = LINE_BYTES) -> str:
    """The line: the input's check sum, by which it can be told, and its beginning."""
    return cut(f"{zlib.crc32(source.encode()):08x} {flatten(source)}", bytes_max).strip()


def words_of(speech: Speech) -> str:
    """The user's own words: the last text, without the sentence that says that it is a turn."""
    text = (_texts(speech) or [""])[-1]
    return text.partition("\n")[2].lstrip("\n") if text.startswith("Turn:") and "\n" in text else text


def _texts(speech: Speech) -> list[str]:
    return [text_of([block]) for block in speech.blocks if text_of([block])]


def _results(speech: Speech) -> list[Result]:
    return [block for block in speech.blocks if isinstance(block, Result)]


def _last_result(speech: Speech) -> str:
    return text_of([block for result in _results(speech)[-1:] for block in result.content])


def _filled(part: Said, names: Mapping[str, str]) -> Said:
    """A part of a reply in which what stands in braces is filled in."""
    if isinstance(part, Think):
        return Think(_replaced(part.text, names))
    if isinstance(part, str):
        return _replaced(part, names)
    if isinstance(part.input, str):
        return part
    given = {key: _replaced(value, names) if isinstance(value, str) else value for key, value in part.input.items()}
    return Call(part.name, given)


def _replaced(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\{(said|result)\}", lambda found: names[found[0]], text)


# --- scripts ---


class Script(NamedTuple):
    """What a file says: the agent, and what is done before it is asked."""

    agent: Agent
    acts: Sequence[Act]


def load(path: Path) -> Script:
    """A script of a file."""
    data = orjson.loads(path.read_bytes())
    rules = [Rule(rule["when"], [_said(reply) for reply in rule["replies"]]) for rule in data.get("rules", [])]
    return Script(Agent(rules, data.get("lineBytes", LINE_BYTES)), [act_of(act) for act in data.get("acts", [])])


def act_of(data: Mapping[str, Any]) -> Act:
    """An act as a file has it."""
    if "fail" in data:
        return Fail(data["fail"], data.get("message", ""), data.get("kind", ""), data.get("retry_after"))
    if "reset" in data:
        return Reset(data["reset"])
    twists = [_TWISTS[name](*places) for name, *places in data.get("twists", [])]
    return answer(*_said(data["say"]), *twists, stop=data.get("stop", "natural"))


def _said(reply: Sequence[Any]) -> list[Said]:
    return [part if isinstance(part, str) else _part(part) for part in reply]


def _part(data: Mapping[str, Any]) -> Said:
    return Think(data["think"]) if "think" in data else Call(data["call"], data.get("input", {}))
