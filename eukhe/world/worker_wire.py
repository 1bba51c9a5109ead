"""What an owner and a worker process say to each other: an order, then reports of it, each a msgpack frame.

A worker's word is not believed: a report is of this call and this node and within its limits, or the call has broken.
"""

from math import isfinite

import msgspec

from eukhe.actors.ports import Broke, CallEvent, Delta, Key, Outage, Replied, Request, TurnRequest
from eukhe.errors import SettingsError
from eukhe.limits import KEY_CHARS_MIN, REPLY_CHARS_MAX, TURN_REPORT_BYTES_MAX, WHY_CHARS_MAX, WORKER_REPLY_BYTES_MAX
from eukhe.model.part import Part
from eukhe.model.talk import Talk
from eukhe.model.text import clean, clip


class Order(msgspec.Struct, frozen=True):
    """Make this call. `key`: its provider's, None where there is none."""

    call: int
    request: Request | TurnRequest
    key: Key | None = None

    @property
    def part(self) -> Part | None:
        """The node whose line it is for; None for a turn's."""
        return self.request.part if isinstance(self.request, Request) else None

    @property
    def line(self) -> Request:
        """The request, of a call that is for a line. SettingsError where it is a turn's."""
        if not isinstance(self.request, Request):
            raise SettingsError(f"{self.request.model} writes lines, and answers no turn")
        return self.request

    @property
    def talk(self) -> Talk:
        """What its provider is sent. SettingsError where a line's call has none."""
        if self.request.talk is None:
            raise SettingsError(f"{self.request.model} was asked for a line without what it is to be sent")
        return self.request.talk

    @property
    def report_bytes_max(self) -> int:
        """The most that one report of it may have."""
        return TURN_REPORT_BYTES_MAX if self.part is None else WORKER_REPLY_BYTES_MAX


class Report(msgspec.Struct, frozen=True):
    """What is heard of a call: its number, its node where it has one, the event."""

    call: int
    part: Part | None
    event: CallEvent


class WorkerFailed(Exception):
    """A worker process did not do what it is there for; its call has broken, and it is to be killed."""


_encoder = msgspec.msgpack.Encoder()
_orders = msgspec.msgpack.Decoder(Order)
_reports = msgspec.msgpack.Decoder(Report)


def encode(said: Order | Report) -> bytes:
    return _encoder.encode(said)


def order_of(data: bytes) -> Order:
    return _orders.decode(data)


def event_of(data: bytes, order: Order) -> CallEvent:
    """The event that a report brings of an order. WorkerFailed where the bytes are no such report."""
    try:
        report = _reports.decode(data)
    except (msgspec.DecodeError, RecursionError):
        raise WorkerFailed("a worker sent bytes that are no report") from None
    if (report.call, report.part) != (order.call, order.part):
        made_for = f"for {order.part.name}" if order.part else "of a turn"
        raise WorkerFailed(f"a worker that makes call {order.call} {made_for} told of another, {report.call}")
    return _within_limits(report.event, order)


def _within_limits(event: CallEvent, order: Order) -> CallEvent:
    is_turn = order.part is None
    match event:
        case Replied(str() as text) if not is_turn and len(text) > REPLY_CHARS_MAX:
            raise WorkerFailed(f"a reply of {len(text):,} characters; {REPLY_CHARS_MAX:,} is the most for a line")
        case Replied(_, reply) if is_turn != (reply is not None):
            raise WorkerFailed("a worker gave a turn no reply, or a line a turn's")
        case Delta() if not is_turn:
            raise WorkerFailed("a worker told of a line piece by piece")
        case Broke(why, usage, final):
            return Broke(clip(why, WHY_CHARS_MAX), usage, final)
        case Outage(why, retry_after_s, key):
            sound = retry_after_s is not None and isfinite(retry_after_s)
            return Outage(clip(why, WHY_CHARS_MAX), retry_after_s if sound else None, key)
    return event


def cleaned(event: CallEvent, key: Key | None = None) -> CallEvent:
    """The event with texts that can be sent. What a failed call says does not hold the key, whoever said it.

    A key that is a word is no secret, as that of a server that wants none.
    """
    secret = key.value if key is not None and len(key.value) >= KEY_CHARS_MIN else None

    def told(why: str) -> str:
        return clean(why if secret is None else why.replace(secret, "[key]"))

    match event:
        case Replied(str() as text, reply, usage):
            return Replied(clean(text), reply, usage)
        case Broke(why, usage, final):
            return Broke(told(why), usage, final)
        case Outage(why, retry_after_s, wants_key):
            return Outage(told(why), retry_after_s, wants_key)
    return event
