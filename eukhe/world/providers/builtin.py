"""builtin/extract: the line writer that needs no model."""

from collections.abc import Iterator

from eukhe.actors.ports import CallEvent, Replied, Responding
from eukhe.model.extract import extract
from eukhe.world.worker_wire import Order


def call(order: Order) -> Iterator[CallEvent]:
    yield Responding()
    yield Replied(extract(order.line.part, order.line.sources))
