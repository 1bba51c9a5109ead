"""The codec of the logs' lines: there and back, other programs' lines, wrong ones."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import IMAGE_NAME_DIGITS
from eukhe.model.image import image_mark, image_type, with_images
from eukhe.model.key import piece_key, piece_of
from eukhe.model.part import Part
from eukhe.model.record import (
    KINDS,
    BatchRecord,
    GapRecord,
    MessageRecord,
    NodeRecord,
    RecordError,
    VoidRecord,
    decode_main,
    decode_tree,
    encode,
    message,
    node,
)

COUNTS = st.integers(0, 2**53)
PARTS = st.builds(Part, st.integers(0, 60), COUNTS)
MESSAGES = st.builds(
    message,
    COUNTS,
    st.sampled_from(KINDS),
    st.text(),
    st.just("2026-10-05T09:32:11+02:00"),
    st.none() | st.text(),
    st.lists(st.text(min_size=1), max_size=2),
)
GAPS = st.builds(lambda first, count: GapRecord(first, first + count), COUNTS, st.integers(1, 9))
NODES = st.builds(node, PARTS, st.text())
BATCHES = st.builds(BatchRecord, st.lists(PARTS, max_size=3).map(tuple), st.booleans(), COUNTS)
VOIDS = st.builds(VoidRecord, st.lists(PARTS, max_size=3).map(tuple))


@pytest.mark.rule("1", "D2")
@given(MESSAGES | GAPS)
def test_a_line_of_main_reads_as_what_was_written(record: MessageRecord | GapRecord) -> None:
    line = encode(record)
    assert record == decode_main(line) == decode_main(line.removesuffix(b"\n"))
    assert 1 == line.count(b"\n") == len(line) - line.rindex(b"\n")
    json.loads(line)  # any program can read it


@pytest.mark.rule("1", "D1")
@given(NODES | BATCHES | VOIDS)
def test_a_line_of_tree_reads_as_what_was_written(record: NodeRecord | BatchRecord | VoidRecord) -> None:
    line = encode(record)
    assert record == decode_tree(line) == decode_tree(line.removesuffix(b"\n"))
    assert 1 == line.count(b"\n") == len(line) - line.rindex(b"\n")
    json.loads(line)


@pytest.mark.rule("1", "D2")
def test_the_keys_stand_in_the_order_of_the_format() -> None:
    full = message(7, "user", "é", "2026-10-05T09:32:11+02:00", "k", ["a.png"])
    assert (
        '{"i":7,"kind":"user","text":"é","size":8,"date":"2026-10-05T09:32:11+02:00","key":"k","images":["a.png"]}\n'
    ).encode() == encode(full)
    assert ["i", "kind", "text", "size", "date"] == list(json.loads(encode(message(0, "user", "", ""))))
    assert b'{"l":2,"i":3,"text":"x","size":1}\n' == encode(node(Part(2, 3), "x"))
    assert b'{"merge":[[1,0],[2,0]],"open":true,"t":4}\n' == encode(BatchRecord((Part(1, 0), Part(2, 0)), True, 4))
    assert b'{"void":[[0,9]]}\n' == encode(VoidRecord((Part(0, 9),)))
    assert b'{"gap":[3,5]}\n' == encode(GapRecord(3, 5))


@pytest.mark.rule("4", "D3")
def test_talk_reads_as_eukhe() -> None:
    record = decode_main(b'{"i":0,"kind":"talk","text":"hi","size":8,"date":"2025-01-01T00:00:00Z"}')
    assert isinstance(record, MessageRecord)
    assert ("eukhe", "eukhe: hi") == (record.kind, record.label)


@pytest.mark.rule("F1")
def test_an_older_chats_batch_line_has_no_open_and_no_t() -> None:
    assert BatchRecord((Part(1, 0),), False, None) == decode_tree(b'{"merge":[[1,0]]}')


def test_fields_that_another_program_added_and_white_space_are_passed_over() -> None:
    line = b'{ "date":"d", "i":1, "more":{"a":[1e4]}, "kind":"user", "text":"a", "size":7 }\r\n'
    assert MessageRecord(1, "user", "a", 7, "d") == decode_main(line)


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"\ud83d", "\ufffd"),
        (r"a\udc00b", "a\ufffdb"),
        (r"\ud83d\ude00\ud83d", "\U0001f600\ufffd"),
        (r"\\ud83d\uDBFF", "\\ud83d\ufffd"),
    ],
)
def test_half_a_surrogate_pair_of_another_program_reads_as_a_replacement_character(escaped: str, text: str) -> None:
    record = decode_main(b'{"i":0,"kind":"user","text":"%s","size":9,"date":"d"}' % escaped.encode())
    assert isinstance(record, MessageRecord)
    assert text == record.text


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\0\0\0",
        b"[]",
        b"7",
        b'{"i":0,"kind":"user","text":"half',
        b'\xef\xbb\xbf{"i":0,"kind":"user","text":"","size":6,"date":"d"}',
        b'{"i":0,"kind":"user","text":"\xff","size":7,"date":"d"}',
        b'{"i":0,"kind":"user","text":"","size":NaN,"date":"d"}',
        b'{"i":0,"kind":"user","text":"\\ud83d","size":NaN,"date":"d"}',
        b'{"i":0,"kind":"user","text":"\\ud83d","size":9,"date":"d"',
        b'{"i":1e400,"kind":"user","text":"","size":6,"date":"d"}',
        b'{"i":-1,"kind":"user","text":"","size":6,"date":"d"}',
        b'{"i":true,"kind":"user","text":"","size":6,"date":"d"}',
        b'{"i":0.0,"kind":"user","text":"","size":6,"date":"d"}',
        b'{"i":0,"kind":"user","text":"","size":-6,"date":"d"}',
        b'{"i":0,"kind":"user","text":null,"size":6,"date":"d"}',
        b'{"i":0,"kind":"user","text":"","size":6}',
        b'{"i":0,"kind":"user","text":"","size":6,"date":"d","key":1}',
        b'{"i":0,"kind":"user","text":"","size":6,"date":"d","images":"a"}',
        b'{"i":0,"kind":"user","text":"","size":6,"date":"d","images":[1]}',
        b'{"i":0,"kind":"user","text":"","size":6,"date":"d"}{"i":1}',
        b'{"gap":[2,2]}',
        b'{"gap":[-1,2]}',
        b'{"gap":[false,true]}',
        b'{"gap":[1]}',
        b'{"l":0,"i":0,"text":"","size":0}',
    ],
)
def test_what_is_no_line_of_main_is_refused(line: bytes) -> None:
    with pytest.raises(RecordError):
        decode_main(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b'{"l":-1,"i":0,"text":"","size":0}',
        b'{"l":0,"i":true,"text":"","size":0}',
        b'{"l":0,"i":0,"text":"","size":false}',
        b'{"l":0,"i":0,"text":1,"size":0}',
        b'{"merge":[[0]],"open":true,"t":1}',
        b'{"merge":[[0,-1]],"open":true,"t":1}',
        b'{"merge":[],"open":1,"t":1}',
        b'{"merge":[],"open":true,"t":-1}',
        b'{"merge":[],"open":true,"t":true}',
        b'{"merge":{},"open":true,"t":1}',
        b'{"void":[7]}',
        b'{"gap":[0,1]}',
    ],
)
def test_what_is_no_line_of_tree_is_refused(line: bytes) -> None:
    with pytest.raises(RecordError):
        decode_tree(line)


@given(st.binary())
def test_any_bytes_are_a_record_or_refused(line: bytes) -> None:
    for decode in (decode_main, decode_tree):
        try:
            decode(line)
        except RecordError as error:
            assert str(error)


@pytest.mark.rule("D2")
@given(st.text(), st.integers(2, 10**6), st.data())
def test_a_pieces_key_names_its_text_and_its_place(key: str, n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, n))
    assert (key, k, n) == piece_of(piece_key(key, k, n))


@pytest.mark.parametrize(
    "key", ["", "k", "k#", "k#1", "k#0/2", "k#3/2", "k#1/1", "k#01/2", "k#-1/2", "k#1/2 ", "k#9999999999/9999999999"]
)
def test_a_key_that_is_no_pieces_is_the_first_of_one(key: str) -> None:
    assert (key, 1, 1) == piece_of(key)


@pytest.mark.rule("53")
@pytest.mark.parametrize(
    ("data", "type_"),
    [
        (b"\x89PNG\r\n\x1a\nIHDR", "png"),
        (b"\xff\xd8\xff\xe0JFIF", "jpeg"),
        (b"GIF87a", "gif"),
        (b"GIF89a", "gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "webp"),
        (b"RIFF\x10\0\0\0WAVEfmt ", None),
        (b"\x89PNG", None),
        (b"<svg>GIF89a", None),
        (b"", None),
    ],
)
def test_an_images_type_is_read_from_its_bytes(data: bytes, type_: str | None) -> None:
    assert type_ == image_type(data)


@pytest.mark.rule("53")
@given(st.binary())
def test_an_images_name_is_its_hash_and_leads_nowhere_else(data: bytes) -> None:
    text, files = with_images("", [b"GIF89a" + data])
    [name] = files
    assert name.removesuffix(".gif").isalnum()
    assert 64 == len(name.removesuffix(".gif"))
    assert image_mark(name) == text == f"[image {name[:IMAGE_NAME_DIGITS]}]"
