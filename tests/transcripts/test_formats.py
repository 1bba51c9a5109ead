"""Which files are sessions: told by what is in them."""

import json
from pathlib import Path

import pytest
from transcript_kit import Session, all_of, texts

from eukhe.errors import ImportFailedError
from eukhe.limits import DETECT_LINE_BYTES_MAX, DETECT_LINES_MAX, READ_BLOCK_BYTES
from eukhe.world.transcripts.formats import READERS, reader_of


def name_of(path: Path, data: bytes) -> str | None:
    path.write_bytes(data)
    reader = reader_of(path)
    return reader.name if reader else None


FIRST_LINES = (
    b'{"type":"summary","summary":"s","leafUuid":"x"}',
    b'{"type":"file-history-snapshot","messageId":"m","snapshot":{},"isSnapshotUpdate":false}',
    b'{"type":"queue-operation","operation":"dequeue","timestamp":"2026-03-01T09:00:00Z","sessionId":"s"}',
    b'{"parentUuid":null,"type":"system","subtype":"x","uuid":"u","sessionId":"s"}',
    b'{"parentUuid":null,"type":"progress","data":{},"uuid":"u","sessionId":"s"}',
    b'{"type":"permission-mode","permissionMode":"plan","sessionId":"s"}',
    b'{"type":"user","message":{"role":"user","content":"x"},"uuid":"u","sessionId":"s"}',
)


@pytest.mark.parametrize("line", FIRST_LINES)
def test_a_session_is_known_by_any_kind_of_line(tmp_path: Path, line: bytes) -> None:
    assert "claude-code" == name_of(tmp_path / "full.data", line)


@pytest.mark.parametrize(
    "before",
    [b"", b"\n\n", b"\xef\xbb\xbf", b"\0" * 4_096 + b"\n", b'{"parentUuid":"torn\n', b"half a record\xff\n"],
)
def test_a_spoiled_first_line_does_not_hide_a_session(tmp_path: Path, before: bytes) -> None:
    assert "claude-code" == name_of(tmp_path / "a", before + FIRST_LINES[-1] + b"\r\n")


def test_many_lines_of_no_known_kind_do_not_hide_a_session(tmp_path: Path) -> None:
    new = b'{"type":"new-in-2030"}\n'
    assert "claude-code" == name_of(tmp_path / "a", new * (DETECT_LINES_MAX - 1) + FIRST_LINES[-1])
    assert None is name_of(tmp_path / "a", new * DETECT_LINES_MAX + FIRST_LINES[-1])


def test_long_first_lines_do_not_hide_a_session(tmp_path: Path) -> None:
    long = b'{"type":"user","sessionId":"s","message":{"content":"' + b"x" * (2 * READ_BLOCK_BYTES) + b'"}}\n'
    assert "claude-code" == name_of(tmp_path / "a", long)
    text = b"x" * (2 * READ_BLOCK_BYTES) + b"\n"
    assert "claude-code" == name_of(tmp_path / "a", text + FIRST_LINES[-1])


def test_a_line_too_long_to_be_looked_at_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.write(FIRST_LINES[-1])
        file.seek(DETECT_LINE_BYTES_MAX, 1)
        file.write(b"\n")
    assert None is reader_of(path)
    with path.open("ab") as file:
        file.write(FIRST_LINES[-1])
    assert reader_of(path) is READERS[0]


def test_a_long_line_that_does_not_begin_as_a_record_is_not_looked_at(tmp_path: Path) -> None:
    text = b"x" * (2 * READ_BLOCK_BYTES)
    assert None is name_of(tmp_path / "a", text + FIRST_LINES[-1])
    assert "claude-code" == name_of(tmp_path / "a", text + b"\n" + FIRST_LINES[-1])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"# A readme\n\ntext",
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 64,
        bytes(100_000),
        b"[1, 2]",
        b'{"name": "package", "version": "1"}',
        json.dumps({"name": "package", "list": list(range(5_000))}, indent=1).encode(),
        b'{"type":"user","message":"no object","sessionId":"s"}',
        b'{"timestamp":"2026-03-01T09:00:00Z","type":"event_msg","payload":{"type":"user_message"}}',
        b'{"loglines":7}',
    ],
)
def test_what_is_no_session_is_not_known(tmp_path: Path, data: bytes) -> None:
    assert None is name_of(tmp_path / "a.jsonl", data)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b'{"loglines":[]}', "claude-export"),
        (b'\xef\xbb\xbf {\n "v" : 1.5e3, "t": "a \\" b", "n": null,\n "loglines" : [ {}', "claude-export"),
        (b'{"a":{"loglines":[]}}', None),
        (b'{"a":["loglines"],"loglines":[', None),
    ],
)
def test_an_export_is_known_by_its_head(tmp_path: Path, data: bytes, name: str | None) -> None:
    assert name == name_of(tmp_path / "a", data)


def test_a_head_of_an_export_that_never_comes_takes_no_more_than_linear_time(tmp_path: Path) -> None:
    assert None is name_of(tmp_path / "a", b'{"' + b"\\\\" * READ_BLOCK_BYTES)
    assert None is name_of(tmp_path / "a", b"{" + b'"a":"b",' * (READ_BLOCK_BYTES // 8))


def test_every_reader_has_a_name_of_its_own() -> None:
    assert len(READERS) == len({reader.name for reader in READERS})


def test_a_file_of_no_known_format_that_was_named_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "readme.md"
    path.write_text("# A readme")
    with pytest.raises(ImportFailedError, match=r"readme\.md: no session of a known format"):
        all_of(path)


def test_the_name_of_a_file_says_nothing(tmp_path: Path) -> None:
    assert ["a"] == texts(Session().user("a").write(tmp_path / "photo.png"))
