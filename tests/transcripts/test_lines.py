"""Lines of JSON, whatever was done to them."""

import io
import json
from pathlib import Path

import pytest

from eukhe.limits import READ_BLOCK_BYTES
from eukhe.world.transcripts.lines import Line, Parsed, lines, parse

A = {"type": "a", "text": "one"}
B = {"type": "b", "text": "two"}


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


def test_lines_end_at_lf_alone() -> None:
    data = "a\u2028b\u2029c\u0085d\x0be\x0cf\rg\nh\n".encode()
    first, second = data.split(b"\n")[:2]
    assert [Line(1, 0, first + b"\n"), Line(2, len(first) + 1, second + b"\n")] == list(lines(io.BytesIO(data)))


def test_the_last_line_may_lack_its_lf() -> None:
    assert [b"a\n", b"\n", b"b"] == [line.data for line in lines(io.BytesIO(b"a\n\nb"))]


def test_an_empty_file_has_no_lines() -> None:
    assert [] == list(lines(io.BytesIO(b"")))


@pytest.mark.parametrize("over", [-1, 0, 1, READ_BLOCK_BYTES, READ_BLOCK_BYTES + 7])
def test_a_line_longer_than_a_block_is_one_line(tmp_path: Path, over: int) -> None:
    long = b"x" * (READ_BLOCK_BYTES + over)
    path = tmp_path / "long"
    path.write_bytes(b"a\n" + long + b"\nb\n" + long)
    with path.open("rb") as file:
        found = list(lines(file))
    assert [b"a\n", long + b"\n", b"b\n", long] == [line.data for line in found]
    assert [1, 2, 3, 4] == [line.number for line in found]
    assert [0, 2, 2 + len(long) + 1, 2 + len(long) + 3] == [line.start for line in found]


def test_a_whole_record_is_read_as_it_is() -> None:
    assert Parsed([A], [], False) == parse(dumped(A) + b"\n")


@pytest.mark.parametrize("line", [b"", b"\n", b"\r\n", b"  \t\n", b"\0\0\0\n", b"\xef\xbb\xbf\r\n"])
def test_a_blank_line_holds_nothing_and_nothing_bad(line: bytes) -> None:
    assert Parsed([], [], False) == parse(line)


def test_a_bom_a_cr_and_nul_bytes_are_dropped() -> None:
    assert Parsed([A], [], False) == parse(b"\xef\xbb\xbf" + dumped(A) + b"\r\n")
    assert Parsed([A], [], False) == parse(b"\0" * 500 + dumped(A) + b"\0\n")


def test_bytes_that_are_no_utf8_become_replacement_characters() -> None:
    assert ([{"text": "a\ufffd\ufffdb"}], []) == parse(b'{"text":"a\xff\xe2\x82b"}')[:2]


def test_lone_surrogates_become_replacement_characters_and_pairs_stay() -> None:
    line = rb'{"lone":"\ud83d x \udc00","pair":"\ud83d\ude42","k\ud800":["\ud99c"]}'
    assert [{"lone": "\ufffd x \ufffd", "pair": "\U0001f642", "k\ufffd": ["\ufffd"]}] == parse(line).records
    assert not parse(line).mended


def test_raw_control_characters_inside_strings_are_taken() -> None:
    assert [{"text": "a\tb\x1bc"}] == parse(b'{"text":"a\tb\x1bc"}').records


def test_two_records_on_a_line_are_two() -> None:
    assert Parsed([A, B], [], True) == parse(dumped(A) + dumped(B))
    assert Parsed([A, B], [], True) == parse(dumped(A) + b" \t" + dumped(B) + b"\n")


def test_a_record_behind_a_torn_one_is_found_and_the_torn_one_counted_once() -> None:
    for cut in range(1, len(dumped(A))):
        parsed = parse(dumped(A)[:cut] + dumped(B))
        assert [B] == parsed.records, cut
        assert 1 == len(parsed.bad), cut


def test_whole_records_around_a_torn_one_are_all_found() -> None:
    parsed = parse(dumped(A) + b'{"type":"tor' + dumped(B) + b"garbage" + dumped(A))
    assert [A, B, A] == parsed.records
    assert 2 == len(parsed.bad)


def test_an_object_inside_a_torn_record_is_not_a_record() -> None:
    torn = b'{"type":"progress","data":[{"type":"user","text":"inner"},{"type":"user","text":"inner"},{"ty'
    assert ([], 1) == (parse(torn).records, len(parse(torn).bad))
    assert [B] == parse(torn + dumped(B)).records


def test_a_record_between_the_halves_of_another_one_is_found() -> None:
    parsed = parse(b'{"type":"tor' + dumped(B) + b',"text":"the rest of an older line"}')
    assert [B] == parsed.records


@pytest.mark.parametrize("line", [b"17", b'"text"', b"[1]", b"null", b"no json at all", b'{"a":', b"\x89PNG\r\n"])
def test_what_is_no_record_is_one_bad_part(line: bytes) -> None:
    parsed = parse(line)
    assert ([], 1) == (parsed.records, len(parsed.bad))
    assert parsed.bad[0]


@pytest.mark.parametrize("depth", [500, 2_000, 100_000])
def test_a_record_nested_too_deeply_is_read_or_named_and_never_raises(depth: int) -> None:
    parsed = parse(b'{"a":' * depth + b"1" + b"}" * depth)
    assert 1 == len(parsed.records) + len(parsed.bad)


def test_a_cut_file_read_as_a_whole_gives_the_records_inside_it() -> None:
    whole = b'{"list":[' + dumped(A) + b",\n" + dumped(B) + b"," + dumped(A)[:-3]
    assert ([A, B], 1) == (parse(whole, inside=True).records, len(parse(whole, inside=True).bad))
