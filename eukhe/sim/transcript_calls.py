"""A transcript's commands about model calls: their responses, their ends, and what comes of them too late."""

from collections.abc import Callable
from typing import Final

from eukhe.actors.messages import Resume
from eukhe.actors.ports import Broke, CallEvent, Outage, Replied
from eukhe.model.part import Part
from eukhe.model.text import size
from eukhe.sim.transcript_stage import Stage
from eukhe.sim.transcript_words import CommandError, Words, after, bytes_in, node, none, padded, seconds, whole


def _responds(stage: Stage, words: Words) -> None:
    call, rest = _call(stage, words)
    none(rest)
    stage.calls.responds(call)
    stage.quiet()


def _reply(stage: Stage, words: Words) -> None:
    match words:
        case ["all", *rest]:
            for call in stage.calls.in_order():
                _replies(stage, call, rest)
        case ["on", *rest]:
            while stage.calls.running:
                _replies(stage, stage.calls.in_order()[0], rest)
        case _:
            _replies(stage, *_call(stage, words))


def _replies(stage: Stage, call: int, words: Words) -> None:
    """A call's reply; one that was stopped by what the calls before it brought has none."""
    if call in stage.calls.running:
        text = _text(stage, stage.calls.running[call].request.part, words)
        stage.calls.responds(call)
        _ends(stage, call, Replied(text))


def _text(stage: Stage, part: Part, words: Words) -> str:
    if words == ["nothing"]:
        return ""
    bytes_ = bytes_in(words)
    if words and bytes_ is None:
        return " ".join(words)
    line = f"line of {part.name}"
    return padded(line, bytes_ or stage.line_bytes or size(line))


def _fail(stage: Stage, words: Words) -> None:
    call, rest = _call(stage, words)
    stage.calls.responds(call)
    _ends(stage, call, Broke(" ".join(rest) or "the stream broke"))


def _kill(stage: Stage, words: Words) -> None:
    number = whole(" ".join(after("worker", words)))
    call = next((call for call, held in stage.calls.running.items() if held.order == number), None)
    if call is None:
        raise CommandError(f"no worker runs call {number}")
    _ends(stage, call, Broke("the worker died"))


def _outage(stage: Stage, words: Words) -> None:
    call, rest = _call(stage, words)
    match rest:
        case [*why, "retry-after", time]:
            outage = Outage(" ".join(why) or "529 overloaded", seconds(time))
        case [*why, "key"]:
            outage = Outage(" ".join(why) or "401 the key is refused", key=True)
        case why:
            outage = Outage(" ".join(why) or "529 overloaded")
    _ends(stage, call, outage)


def _late(stage: Stage, words: Words) -> None:
    match words:
        case ["reply" | "fail" as how, number, *rest]:
            past = [call for call in stage.calls.past if call.order == whole(number)]
            if not past:
                raise CommandError(f"no call {number} was stopped or has ended")
            text = " ".join(rest)
            past[-1].heard(Replied(text or "a late line") if how == "reply" else Broke(text or "it broke late"))
            stage.quiet()
        case _:
            raise CommandError("say of which call, as in `late reply 3`")


def _resume(stage: Stage, words: Words) -> None:
    none(words)
    stage.tell("planner", Resume(changed=True))
    stage.quiet()


def _call(stage: Stage, words: Words) -> tuple[int, Words]:
    """The running call of the node that comes first, and the words after it."""
    part = node(words[0] if words else "")
    call = stage.calls.of(part)
    if call is None:
        raise CommandError(f"no call runs for {part.name}")
    return call, words[1:]


def _ends(stage: Stage, call: int, event: CallEvent) -> None:
    stage.calls.ends(call, event)
    stage.quiet()


CALLS: Final[dict[str, Callable[[Stage, Words], None]]] = {
    "responds": _responds,
    "reply": _reply,
    "fail": _fail,
    "kill": _kill,
    "outage": _outage,
    "late": _late,
    "resume": _resume,
}
