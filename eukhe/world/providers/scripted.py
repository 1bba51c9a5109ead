"""scripted/NAME: a model that does what a file says, well or badly, for tests of real processes.

The file, named by the environment, is a JSON object: a node's name, `turn` for calls of turns, or `*` for all others,
and the acts of its calls in their order, of which the last is for all that follow. Beside it, in FILE.calls, each call
leaves a line: the node's name, the worker's process id, the act.

    {"4+1": ["die", "reply"], "turn": ["use bash {\"command\":\"ls\"}", "say Done."], "*": ["slow 0.2"]}
"""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from eukhe.actors.ports import Broke, CallEvent, Delta, Outage, Replied, Responding
from eukhe.errors import SettingsError
from eukhe.limits import SCRIPTED_HUGE_BYTES, SCRIPTED_LONG_BYTES
from eukhe.model.extract import extract
from eukhe.model.part import Part
from eukhe.model.talk import NO_USAGE, Reply, Text, Use, last_text
from eukhe.world.providers.registry import SCRIPT_VARIABLE
from eukhe.world.worker_wire import Order, Report, encode

CALLS_SUFFIX: Final = ".calls"
ANY: Final = "*"
TURN: Final = "turn"

Said = Iterator[CallEvent | bytes]


def call(order: Order) -> Said:
    """Does the next act of the order's node. SettingsError where there is none."""
    act, argument = _next_act(Path(os.environ[SCRIPT_VARIABLE]), order.part.name if order.part else TURN)
    if act in TURN_ACTS and order.part is None:
        return TURN_ACTS[act](order, argument)
    if act not in ACTS:
        raise SettingsError(f"{SCRIPT_VARIABLE}: no act {act}; there are {', '.join([*ACTS, *TURN_ACTS])}")
    return ACTS[act](order, float(argument or 0))


def _next_act(script: Path, name: str) -> tuple[str, str]:
    """The act of a node's next call, and its argument; that call is noted."""
    acts = json.loads(script.read_bytes())
    calls = script.with_name(script.name + CALLS_SUFFIX)
    before = [line.split()[0] for line in calls.read_text().splitlines()] if calls.exists() else []
    for_node = acts.get(name, acts.get(ANY, ["reply"]))
    act = for_node[min(before.count(name), len(for_node) - 1)]
    with calls.open("a") as noted:
        noted.write(f"{name} {os.getpid()} {act}\n")
    word, _, argument = act.partition(" ")
    return word, argument


def _reply(order: Order, after_s: float) -> Said:
    if order.part is None:
        time.sleep(after_s)
        yield from _say(order, f"You said: {last_text(order.talk)}")
        return
    yield Responding()
    time.sleep(after_s)
    yield Replied(extract(order.line.part, order.line.sources))


def _say(order: Order, text: str) -> Said:
    """A turn's reply, word by word."""
    yield Responding(NO_USAGE)
    yield from (Delta("text", piece) for piece in re.findall(r"\S*\s*", text) if piece)
    yield Replied(text, Reply((Text(text),), "end"), NO_USAGE)


def _use(order: Order, argument: str) -> Said:
    """A turn's reply that wants a tool: its name, a space, its input."""
    name, _, input_ = argument.partition(" ")
    before = sum(isinstance(block, Use) for speech in order.talk.speeches for block in speech.blocks)
    yield Responding(NO_USAGE)
    yield Replied(None, Reply((Use(f"use_{before}", name, input_ or "{}"),), "tools"), NO_USAGE)


def _silent(order: Order, after_s: float) -> Said:
    """Nothing comes, ever."""
    yield from ()
    while True:
        signal.pause()


def _pings(order: Order, every_s: float) -> Said:
    """It keeps saying that it is there."""
    while True:
        yield Responding()
        time.sleep(every_s)


def _spin(order: Order, after_s: float) -> Said:
    """A loop in Python without an end."""
    yield Responding()
    while True:
        pass


def _wild(order: Order, after_s: float) -> Said:
    """It says what nobody understands, and does not come back."""
    yield b"\xc1 no message"
    while True:
        pass


def _deep(order: Order, after_s: float) -> Said:
    """In a library's code, which lets no other thread run, for longer than anybody waits."""
    yield Responding()
    re.match(r"(a+)+$", "a" * 64 + "b")  # number: 2^64 tries


def _end(order: Order, after_s: float) -> Said:
    """It goes as if it were done."""
    yield from ()
    os._exit(0)


def _kill(order: Order, after_s: float) -> Said:
    """It is killed in the middle of its response."""
    yield Responding()
    time.sleep(after_s)
    os.kill(os.getpid(), signal.SIGKILL)


def _stop(order: Order, after_s: float) -> Said:
    """It is stopped in the middle of its response, and replies if it ever goes on."""
    yield Responding()
    os.kill(os.getpid(), signal.SIGSTOP)
    yield from _reply(order, after_s)


def _raise(order: Order, after_s: float) -> Said:
    yield Responding()
    raise ValueError("the script says so")


def _half(order: Order, after_s: float) -> Said:
    """It ends without an end."""
    yield Responding()


def _huge(order: Order, after_s: float) -> Said:
    yield encode(Report(order.call, order.line.part, Replied("x" * SCRIPTED_HUGE_BYTES)))


def _other_call(order: Order, after_s: float) -> Said:
    yield encode(Report(order.call + 1, order.line.part, Replied("of another call")))


def _other_node(order: Order, after_s: float) -> Said:
    part = order.line.part
    yield encode(Report(order.call, Part(part.level, part.i + 1), Replied("of another node")))


def _twice(order: Order, after_s: float) -> Said:
    """It replies, and replies again, though nobody asks any more."""
    report = encode(Report(order.call, order.line.part, Replied("the first")))
    yield report
    yield encode(Report(order.call, order.line.part, Replied("the second")))


def _long(order: Order, after_s: float) -> Said:
    """A line that is too long, each time a little less."""
    yield Responding()
    yield Replied("long " * (SCRIPTED_LONG_BYTES // len("long ") - len(order.line.replies)))


def _chars(order: Order, count: float) -> Said:
    """A reply of so many characters."""
    yield Responding()
    yield Replied("x" * int(count))


def _out(order: Order, retry_after_s: float) -> Said:
    yield Outage("529 overloaded", retry_after_s or None)


def _key(order: Order, after_s: float) -> Said:
    yield Outage("401 this key is not known", key=True)


def _always(*events: CallEvent | bytes) -> Callable[[Order, float], Said]:
    return lambda order, argument: iter(events)


ACTS: Final[Mapping[str, Callable[[Order, float], Said]]] = {
    "reply": _reply,  # argument: after so many seconds
    "silent": _silent,
    "pings": _pings,
    "spin": _spin,
    "wild": _wild,
    "deep": _deep,
    "end": _end,
    "kill": _kill,
    "stop": _stop,
    "raise": _raise,
    "half": _half,
    "garbage": _always(b"\xc1 no message"),
    "nothing": _always(b""),
    "huge": _huge,
    "other-call": _other_call,
    "other-node": _other_node,
    "twice": _twice,
    "long": _long,
    "chars": _chars,  # argument: how many
    "break": _always(Responding(), Broke("the stream broke")),
    "thoughts": _always(Responding(), Replied(None)),
    "empty": _always(Responding(), Replied(" ")),
    "surrogate": _always(Responding(), Replied("half of one: \ud83d")),
    "out": _out,  # argument: to be tried again after so many seconds
    "key": _key,
}
"""What a call can do, each with its argument where it takes one."""

TURN_ACTS: Final[Mapping[str, Callable[[Order, str], Said]]] = {"say": _say, "use": _use}
"""What a turn's can do besides, with a text."""
