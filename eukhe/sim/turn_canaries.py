"""Known bugs of turns."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.messages import Append, Entry, LeavePrefix, Msg
from eukhe.actors.outbox import Outbox
from eukhe.actors.turn_call import Call
from eukhe.actors.turn_main import Main
from eukhe.actors.turn_speaker import Speaker
from eukhe.model.talk import Text
from eukhe.model.turn import Ask, Conversation, Run, Step
from eukhe.sim.canary import Canary, Right


def _view_after_message(right: Right, main: Main) -> Any:
    words = main._words[0]
    entry = Entry(words.kind, words.text, key=main._desk.name(), images=words.images)
    _, append = main._desk.order(lambda me, ticket: Append((entry,), me, ticket), lambda done: [])
    return [*right(main), append]


def _view_read_again(right: Right, main: Main, conversation: Conversation, previous_end: int | None) -> Any:
    viewed = main._viewed
    assert viewed is not None
    if previous_end is not None:
        newest = Text(f"{viewed.pinned.view[-1].text}\n")
        view = (*viewed.pinned.view[:-1], newest)
        main._viewed = msgspec.structs.replace(viewed, pinned=msgspec.structs.replace(viewed.pinned, view=view))
    return right(main, conversation, previous_end)


def _result_not_awaited(right: Right, speaker: Speaker, step: Step) -> Any:
    if not (step.logs and isinstance(step.then, Ask) and step.logs[0].kind == "echo"):
        return right(speaker, step)
    log = speaker._ground.log(speaker._as_entries(step.logs), list, speaker._not_logged)
    return [*log, *speaker._do(step.then)]


def _tool_before_its_call(right: Right, speaker: Speaker, step: Step) -> Any:
    if not isinstance(step.then, Run):
        return right(speaker, step)
    log = speaker._ground.log(speaker._as_entries(step.logs), list, speaker._not_logged)
    return [*log, *speaker._do(step.then)]


def _gate_not_left(right: Right, call: Call, *ended: Any) -> list[Effect]:
    effects: Sequence[Effect] = right(call, *ended)
    return [e for e in effects if not (isinstance(e, Tell) and isinstance(e.message, LeavePrefix))]


def _call_not_counted(right: Right, call: Call) -> Any:
    call._name = call._desk.name()
    return call._send()


def _key_made_anew(right: Right, outbox: Outbox) -> Sequence[Msg]:
    return [_with_other_keys(order) if isinstance(order, Append) else order for order in right(outbox)]


def _with_other_keys(order: Append) -> Append:
    return msgspec.structs.replace(
        order, entries=tuple(msgspec.structs.replace(entry, key=f"{entry.key}'") for entry in order.entries)
    )


def _use_without_result(right: Right, conversation: Conversation, said: str, over: Any) -> Step:
    step: Step = right(conversation, said, over)
    return step._replace(logs=tuple(words for words in step.logs if words.kind != "echo"))


TURNS: Final[Mapping[str, Canary]] = {
    "view-after-message": Canary(
        "a turn logs its message, then takes its view",
        ("turn-own-message",),
        Main,
        "begin",
        _view_after_message,
    ),
    "view-read-again": Canary(
        "a later request of a turn reads its view again",
        ("turn-view",),
        Main,
        "asked",
        _view_read_again,
    ),
    "result-not-awaited": Canary(
        "a request is sent before its tools' results are on the disk",
        ("request-logged",),
        Speaker,
        "_take",
        _result_not_awaited,
    ),
    "tool-before-its-call": Canary(
        "a tool runs before its call is on the disk",
        ("tool-logged",),
        Speaker,
        "_take",
        _tool_before_its_call,
    ),
    "gate-not-left": Canary(
        "a turn's call ends, and does not leave the gate",
        ("turn-rests",),
        Call,
        "_over",
        _gate_not_left,
    ),
    "call-not-counted": Canary(
        "a turn's call is sent before it is counted",
        ("counted",),
        Call,
        "_count",
        _call_not_counted,
    ),
    "key-made-anew": Canary(
        "what is sent again to the next owner has other keys than before",
        ("acknowledged",),
        Outbox,
        "again",
        _key_made_anew,
    ),
    "use-without-result": Canary(
        "a tool that is stopped leaves its call without a result",
        ("use-result",),
        Conversation,
        "_end",
        _use_without_result,
    ),
}
