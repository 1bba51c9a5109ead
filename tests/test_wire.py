"""Messages as bytes: what comes out is what went in."""

import msgspec
import pytest

from eukhe.actors.messages import Append, BuildFailed, Entry, Feed, FreeNode, Logged, Msg, Ping, Settled, WriteTree
from eukhe.actors.ports import Place, Placed
from eukhe.actors.wire import decode, encode
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, GapRecord, VoidRecord, message, node

PLACE = Place("main/2026-10-05.jsonl", 2**40, 17)
RECORDS = (
    message(2**62, "user", "zwei\u2028é\0", "2026-10-05T09:32:11+02:00", "k#1/2", ["a.png"]),
    node(Part(61, 2), "line\n"),
    BatchRecord((Part(1, 0), Part(2, 0)), True, None),
    VoidRecord((Part(0, 7),)),
    GapRecord(3, 5),
)


@pytest.mark.parametrize(
    "sent",
    [
        Append((Entry("user", "hi", key="k", images=(b"\x89PNG\0\xff",)), Entry("note", "")), "edge", 7),
        Feed(tuple(Placed(record, PLACE) for record in RECORDS)),
        WriteTree((FreeNode(Part(0, 1)), *RECORDS[1:3]), 1),  # type: ignore[arg-type]
        Logged(0, (1, 2, 3)),
        BuildFailed(1, Part(3, 1), "why", "fallback", 2),
    ],
    ids=lambda sent: type(sent).__name__,
)
def test_a_message_survives_its_way(sent: Msg) -> None:
    arrived = decode(encode(sent))
    assert sent == arrived
    assert type(sent) is type(arrived)
    assert repr(sent) == repr(arrived)  # tuples are tuples, parts are parts


def test_messages_of_the_same_fields_are_told_apart() -> None:
    kinds = {type(decode(encode(kind()))) for kind in Msg.__subclasses__() if not kind.__struct_fields__}
    assert {kind for kind in Msg.__subclasses__() if not kind.__struct_fields__} == kinds
    assert Settled(1, 2, 3) == decode(encode(Settled(1, 2, 3)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x91" * 100_000,
        b"\x84" + encode(Ping("", 1))[1:] + b"\xa1z" + b"\x91" * 100_000,  # below a field that no message has
        encode(Ping("", 1)) + b" ",
        encode(Ping("name", 1)).replace(b"name", b"\xed\xa0\x80!"),  # a lone surrogate
        encode(Append((), "", 1)).replace(b"\x90", b"\xdd\xff\xff\xff\xff"),  # entries, as many as 2^32
    ],
    ids=["nothing", "deep", "deep below", "more", "surrogate", "many"],
)
def test_bytes_that_are_no_message_are_said_to_be_none(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(data)
