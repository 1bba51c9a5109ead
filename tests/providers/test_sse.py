"""Server-sent events, and what headers say of when to come again."""

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.world.providers.sse import Decoder, Event
from eukhe.world.providers.trouble import retry_after


def events(*chunks: bytes) -> list[Event]:
    decoder = Decoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [Event("", "a")]),
        (b"event: x\ndata: a\n\n", [Event("x", "a")]),
        (b"data: a\ndata: b\n\n", [Event("", "a\nb")]),
        (b"data:a\n\ndata:  a\n\n", [Event("", "a"), Event("", " a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Event("", "a")]),
        (b": comment\nid: 1\nretry: 9\ndata: a\n\n", [Event("", "a")]),
        (b"event: x\n\ndata: a\n\n", [Event("", "a")]),
        (b"data\n\n", [Event("", "")]),
        (b"data: a\n", []),
        (b"data: a", []),
        (b"data: \xff\n\n", [Event("", "\ufffd")]),
        ("data: a\u2028b\u0085c\n\n".encode(), [Event("", "a\u2028b\u0085c")]),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_events_are_read_by_the_rules(stream: bytes, expected: list[Event], end: bytes) -> None:
    assert expected == events(stream.replace(b"\n", end))


@given(
    st.lists(st.sampled_from([b"data: a", b"event: x", b":", b"\n", b"\r\n", b"\r", b"\xef\xbb\xbf", b"\xc3\xa9"])),
    st.data(),
)
def test_how_the_bytes_are_cut_makes_no_difference(parts: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(parts) + b"\n"
    at = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    chunks = [stream[start:end] for start, end in zip([0, *at], [*at, len(stream)], strict=True)]
    assert events(stream) == events(*chunks)


NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": formatdate(NOW + 90, usegmt=True)}, 90.0),
        ({"retry-after": formatdate(NOW - 90, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e9"}, 86_400.0),
    ],
)
def test_when_a_provider_wants_to_be_asked_again(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds == retry_after(headers, NOW)
