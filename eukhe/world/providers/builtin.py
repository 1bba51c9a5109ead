"""builtin/…: the line writer and the answerer that need no model."""

from collections.abc import Iterator

from eukhe.actors.ports import CallEvent, Delta, Replied, Responding
from eukhe.model.extract import extract
from eukhe.model.recall import recall
from eukhe.model.talk import NO_USAGE
from eukhe.world.worker_wire import Order


def extract_line(order: Order) -> Iterator[CallEvent]:
    yield Responding()
    yield Replied(extract(order.line.part, order.line.sources))


def recall_turn(order: Order) -> Iterator[CallEvent]:
    yield Responding(NO_USAGE)
    reply = recall(order.talk)
    if reply.text:
        yield Delta("text", reply.text)
    yield Replied(reply.text or None, reply, NO_USAGE)
