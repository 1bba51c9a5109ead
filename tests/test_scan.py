"""Lines and records of a log: what is read, what is said, and that nothing is lost in between."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import JUMP_IDS_MAX, NODE_BYTES_MAX
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, GapRecord, MessageRecord, NodeRecord, VoidRecord, encode, message, node
from eukhe.model.scan import (
    Found,
    Jump,
    MainScan,
    Problem,
    Read,
    accepted,
    count_lines,
    last_line,
    lines,
    missing,
    scan_tree,
)

FILE = "main/2026-10-05.jsonl"
DATE = "2026-10-05T09:32:11+02:00"
BOM = b"\xef\xbb\xbf"


def reader(data: bytes, most: int = 1 << 20) -> Read:
    """Reads `data`, at most so many bytes at a time."""
    return lambda offset, length: data[offset : offset + min(length, most)]


def record(i: int, text: str = "hello", kind: str = "user") -> bytes:
    return encode(message(i, kind, text, DATE))


def main(data: bytes, next_id: int = 0) -> list[Found | Jump | Problem]:
    return list(MainScan(next_id).file(FILE, lines(reader(data))))


def tree(data: bytes) -> list[Found | Problem]:
    return list(scan_tree("tree/2026-10-05.jsonl", lines(reader(data))))


def ids(found: list[Found | Jump | Problem]) -> list[int]:
    return [each.record.i for each in found if isinstance(each, Found) and isinstance(each.record, MessageRecord)]


def problems(found: list[Found | Jump | Problem]) -> list[Problem]:
    return [each for each in found if isinstance(each, Problem)]


# --- lines ---


@given(st.lists(st.binary(max_size=9)), st.integers(1, 5), st.booleans())
def test_lines_are_the_bytes_between_line_feeds_however_they_are_read(
    texts: list[bytes], most: int, ended: bool
) -> None:
    data = b"\n".join(texts) + (b"\n" if ended else b"")
    found = list(lines(reader(data, most)))
    kept = b"".join(line.data for line in found)
    assert data.removeprefix(BOM) == kept
    assert [line.data.find(b"\n") for line in found[:-1]] == [len(line.data) - 1 for line in found[:-1]]
    for line in found:
        assert data[line.offset : line.offset + len(line.data)] == line.data
    assert list(range(1, len(found) + 1)) == [line.number for line in found]


@given(st.lists(st.binary(max_size=9).map(lambda text: text.replace(b"\n", b"") + b"\n")), st.data())
def test_the_last_line_before_a_byte_is_found_backwards(written: list[bytes], data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(written)))
    whole, end = b"".join(written), sum(map(len, written[:count]))
    expected = written[count - 1].removeprefix(BOM) if count else b""
    assert expected == last_line(reader(whole), end)
    assert count == count_lines(reader(whole), end)


def test_a_line_longer_than_many_chunks_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eukhe.model.scan.READ_CHUNK_BYTES", 7)
    data = record(0, "x" * 1_000) + record(1)
    assert [0, 1] == ids(main(data))
    assert record(1) == last_line(reader(data), len(data))
    assert record(0, "x" * 1_000) == last_line(reader(data), len(data) - len(record(1)))


def test_a_position_past_the_end_of_a_file_has_no_last_line() -> None:
    assert b"" == last_line(reader(record(0)), len(record(0)) + 1)


# --- what is read as it stands (faults 6 and 7) ---


@given(st.lists(st.text(), min_size=1))
@pytest.mark.rule("1")
def test_no_text_ends_its_line(texts: list[str]) -> None:
    """U+2028, U+0085, CR and their like are no line feeds."""
    data = b"".join(record(i, text) for i, text in enumerate(texts))
    assert texts == [each.record.text for each in main(data) if isinstance(each, Found)]


@pytest.mark.parametrize(
    "data",
    [
        BOM + record(0) + record(1),
        record(0).replace(b"\n", b"\r\n") + record(1).replace(b"\n", b"\r\n"),
        b"\n" + record(0) + b"  \r\n\n" + record(1) + b"\n",
        record(0).replace(b":", b" : ", 1) + record(1),
        record(0, kind="system") + record(1),
    ],
    ids=["byte order mark", "CRLF", "blank lines", "spaces in the JSON", "a kind of another program"],
)
def test_harmless_differences_are_read_without_a_word(data: bytes) -> None:
    found = main(data)
    assert [0, 1] == ids(found)
    assert [] == problems(found)


def test_places_lead_to_the_very_record_after_a_byte_order_mark() -> None:
    data = BOM + record(0)
    (found,) = main(data)
    assert isinstance(found, Found)
    assert record(0) == data[found.offset : found.offset + found.length]


@pytest.mark.parametrize("size", [len("talk: hello"), len("eukhe: hello")])
@pytest.mark.rule("4")
def test_the_size_of_an_old_talk_line_counts_either_name(size: int) -> None:
    line = record(0, kind="talk").replace(b'"size":11', b'"size":%d' % size)
    (found,) = main(line)
    assert isinstance(found, Found)
    assert ("eukhe", len("eukhe: hello")) == (found.record.kind, found.record.size)


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe{}\n",
        record(0).replace(b"hello", b"h\xff"),
        record(0).replace(b'"size":11', b'"size":NaN'),
        record(0).replace(b'"size":11', b'"size":1e400'),
        record(0).replace(b'"size":11', b'"size":-1'),
        record(0).replace(b'"i":0', b'"i":true'),
        b"[1,2]\n",
        b"{}\n",
        b"\0" * 40 + b"\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_a_line_that_is_no_record_is_named_and_skipped(line: bytes) -> None:
    found = main(line + record(0))
    assert [0] == ids(found)
    (said,) = problems(found)
    assert (FILE, 1, 0, True) == (said.file, said.line, said.offset, said.harmless)
    assert said.what.endswith("the line is skipped")


# --- ids and sizes (faults 4, 5, 8) ---


@pytest.mark.rule("2")
def test_an_id_that_is_there_already_is_said_and_the_first_counts() -> None:
    found = main(record(0) + record(1, "first") + record(1, "second") + record(2))
    assert [0, 1, 2] == ids(found)
    (said,) = problems(found)
    assert f"{FILE}:3 (byte {2 * len(record(0))}): message 1 is there already; the first one counts" == str(said)
    assert not said.harmless


@pytest.mark.rule("2")
def test_missing_ids_are_a_jump_before_the_message_that_follows() -> None:
    found = main(record(0) + record(4))
    (jump,) = [each for each in found if isinstance(each, Jump)]
    assert Jump(FILE, 2, len(record(0)), 0, 4) == jump
    assert found.index(jump) == 1
    assert [0, 4] == ids(found)
    assert "messages 1 to 3 are missing" == missing(jump)
    assert "message 1 is missing" == missing(Jump(FILE, 2, 0, 0, 2))


@pytest.mark.parametrize(
    ("gaps", "enough"),
    [
        ([], False),
        ([GapRecord(1, 4)], True),
        ([GapRecord(0, 9)], True),
        ([GapRecord(2, 4), GapRecord(1, 2)], True),
        ([GapRecord(1, 3)], False),
        ([GapRecord(2, 4)], False),
    ],
)
def test_a_jump_is_accepted_when_gap_lines_cover_every_id(gaps: list[GapRecord], enough: bool) -> None:
    assert enough == accepted(Jump(FILE, 2, 0, 0, 4), gaps)


def test_a_gap_line_at_its_own_place_moves_the_next_id() -> None:
    found = main(record(0) + encode(GapRecord(1, 3)) + record(3))
    assert [] == [each for each in found if isinstance(each, Jump | Problem)]
    assert [0, 3] == ids(found)


def test_a_record_with_an_id_out_of_all_bounds_costs_only_itself() -> None:
    far = JUMP_IDS_MAX + 2
    found = main(record(0) + record(far) + encode(GapRecord(1, far)) + record(1))
    assert [0, 1] == ids(found)
    assert [2, 3] == [said.line for said in problems(found)]
    assert [False, False] == [said.harmless for said in problems(found)]


@pytest.mark.rule("1")
def test_a_wrong_size_is_said_and_counted_anew() -> None:
    found = main(record(0).replace(b'"size":11', b'"size":12'))
    assert ["message 0 says 12 bytes and has 11"] == [said.what for said in problems(found)]
    assert [11] == [each.record.size for each in found if isinstance(each, Found)]


def test_a_whole_record_behind_a_torn_one_is_read() -> None:
    torn = record(0)[:25]
    data = torn + record(0, "whole") + record(1)
    found = main(data)
    assert [0, 1] == ids(found)
    (said,) = problems(found)
    assert said.harmless
    assert said.what.endswith("its 1 whole records are read")
    first = next(each for each in found if isinstance(each, Found))
    assert "whole" == first.record.text
    assert record(0, "whole") == data[first.offset : first.offset + first.length]


def test_two_records_on_a_line_are_both_read() -> None:
    found = main(record(0).rstrip() + record(1).rstrip() + b"\n" + record(2))
    assert [0, 1, 2] == ids(found)
    assert [1] == [said.line for said in problems(found)]


def test_a_text_that_looks_like_a_record_is_none() -> None:
    tricky = record(0, '{"i":0,"kind":"user"}' + record(1).decode())
    found = main(tricky.replace(b'"date"', b'"dat'))
    assert [] == ids(found)
    assert [1] == [said.line for said in problems(found)]


def test_a_broken_record_that_took_an_id_is_named_and_the_jump_too() -> None:
    data = record(0) + record(1).replace(b"hello", b"\0" * 5 + b'"') + record(2)
    found = main(data)
    assert [0, 2] == ids(found)
    assert ["Found", "Problem", "Jump", "Found"] == [type(each).__name__ for each in found]


# --- the tail (faults 2 and 3) ---


@pytest.mark.rule("6")
def test_a_whole_last_line_without_its_end_is_read_and_counted_as_ended() -> None:
    found = main(record(0)[:-1])
    assert [0] == ids(found)
    assert [len(record(0))] == [each.length for each in found if isinstance(each, Found)]


@pytest.mark.rule("6")
def test_a_torn_last_line_is_skipped_and_said() -> None:
    for end in range(1, len(record(1)) - 1):
        found = main(record(0) + record(1)[:end])
        assert [0] == ids(found)
        (said,) = problems(found)
        assert (2, len(record(0)), True) == (said.line, said.offset, said.harmless)
        assert said.what.startswith("torn: ")


@pytest.mark.parametrize("nulls", [b"\0" * 5, b"\0" * 5 + b"\n", record(1)[:20] + b"\0" * 30])
@pytest.mark.rule("6")
def test_a_tail_of_nulls_is_a_torn_line(nulls: bytes) -> None:
    found = main(record(0) + nulls)
    assert [0] == ids(found)
    assert [True] == [said.harmless for said in problems(found)]


# --- the tree ---


def test_a_broken_tree_line_costs_that_line_alone() -> None:
    first, batch, void = node(Part(0, 0), "a"), BatchRecord((Part(1, 0),), True, 2), VoidRecord((Part(0, 9),))
    found = tree(encode(first) + b'{"l":0,"i":1,"te\n' + encode(batch) + encode(void))
    assert [first, batch, void] == [each.record for each in found if isinstance(each, Found)]
    assert [(2, True)] == [(said.line, said.harmless) for said in problems(list(found))]


def test_a_nodes_size_is_counted_anew_and_its_limit_is_held() -> None:
    long = node(Part(0, 0), "x" * (NODE_BYTES_MAX + 1))
    empty = node(Part(0, 1), "")
    wrong = encode(node(Part(0, 2), "abc")).replace(b'"size":3', b'"size":4')
    found = tree(encode(long) + encode(empty) + wrong)
    assert [
        "a line of 513 bytes, where 1 to 512 are allowed",
        "a line of 0 bytes, where 1 to 512 are allowed",
        "node 2+1 says 4 bytes and has 3",
    ] == [said.what for said in problems(list(found))]
    assert [513, 0, 3] == [each.record.size for each in found if isinstance(each, Found)]


@pytest.mark.parametrize(
    "line",
    [
        b'{"l":62,"i":0,"text":"x","size":1}\n',
        b'{"l":9223372036854775807,"i":1,"text":"x","size":1}\n',
        b'{"merge":[[0,4611686018427387904]],"open":false,"t":1}\n',
        b'{"void":[[61,1]]}\n',
    ],
)
def test_a_node_that_no_chat_can_have_is_never_counted_out(line: bytes) -> None:
    found = tree(line)
    assert [Problem] == [type(each) for each in found]


# --- no byte without a word ---


def pieces() -> st.SearchStrategy[bytes]:
    """What may come to lie in a log: records, halves of them, and noise."""
    whole = st.builds(record, st.integers(0, 5), st.text(max_size=4))
    half = st.builds(lambda line, cut: line[: cut % len(line)], whole, st.integers(1, 200))
    return st.one_of(whole, half, st.binary(max_size=6), st.just(b"\n"), st.just(b"\0" * 8))


def spoken_for(data: bytes, found: list[Found | Jump | Problem]) -> Iterator[int]:
    """The bytes that a record or a problem accounts for."""
    at = {line.offset: line.offset + len(line.data) for line in lines(reader(data))}
    for each in found:
        if isinstance(each, Found):
            yield from range(each.offset, each.offset + each.length)
        elif isinstance(each, Problem):
            yield from range(each.offset, at.get(each.offset, each.offset))


@given(st.lists(pieces(), max_size=8))
@pytest.mark.rule("6")
def test_every_byte_is_in_a_record_or_in_a_line_that_is_named(written: list[bytes]) -> None:
    data = b"".join(written)
    found = main(data)
    told = set(spoken_for(data, found))
    silent = bytes(data[at] for at in range(len(data)) if at not in told)
    assert b"" == silent.replace(BOM, b"").strip()


@given(st.lists(pieces(), max_size=8))
def test_each_id_is_given_once_and_in_order(written: list[bytes]) -> None:
    given_out = ids(main(b"".join(written)))
    assert sorted(set(given_out)) == given_out


def test_a_nodes_record_is_what_stands_at_its_place() -> None:
    data = encode(node(Part(0, 0), "a")) + encode(node(Part(1, 0), "b"))
    for each in tree(data):
        assert isinstance(each, Found)
        assert isinstance(each.record, NodeRecord)
        assert encode(each.record) == data[each.offset : each.offset + each.length]
