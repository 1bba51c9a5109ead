"""`eukhe chat verify` and files that are not what they seem."""

import sqlite3
from pathlib import Path
from zlib import crc32

import pytest

from tests.chat_kit import change_index, eukhe, session, talk


@pytest.mark.rule("2", "6")
def test_a_proof_finds_a_state_that_is_not_what_the_logs_give(filled: Path) -> None:
    index = sqlite3.connect(filled / "chat" / "index.db")
    (state,) = index.execute("SELECT state FROM checkpoint").fetchone()
    wrong = state.replace(b"true", b"-").replace(b"false", b"true").replace(b"-", b"false")
    index.execute("UPDATE checkpoint SET state = ?, state_crc = ?", (wrong, crc32(wrong)))
    index.commit()
    index.close()
    proof = eukhe(filled, "chat", "verify", "--json")
    assert (1, ["the state that a start goes on from is not what the logs give"]) == (
        proof.code,
        [problem["what"] for problem in proof.json["problems"]],
    )
    assert eukhe(filled, "doctor").code == 0
    assert eukhe(filled, "chat", "verify").code == 0


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM keys WHERE i = 7", "index.db does not have the key of message 7"),
        (
            "UPDATE keys SET i = 3 WHERE i = 7",
            "index.db has the key of message 7 as message 3's, or it stands twice in the log",
        ),
    ],
)
def test_a_proof_looks_at_every_key(filled: Path, statement: str, said: str) -> None:
    change_index(filled, statement)
    proof = eukhe(filled, "chat", "verify", "--json")
    assert (1, [said]) == (proof.code, [problem["what"] for problem in proof.json["problems"]])


@pytest.mark.rule("2", "6")
@pytest.mark.parametrize("name", ["2026-12-01.old.jsonl", "zz.jsonl", "2026-13-45.jsonl", "9999-99-99.jsonl"])
def test_a_file_that_is_no_days_log_is_named_and_left_alone(filled: Path, tmp_path: Path, name: str) -> None:
    main = filled / "chat" / "main"
    (log,) = main.glob("*.jsonl")
    copy = main / name
    copy.write_bytes(log.read_bytes())
    more = session(tmp_path / "more.jsonl", talk(3, 60), name="more", start=60)
    ran = eukhe(filled, "chat", "import", "sessions", more, "--json")
    assert (0, 3) == (ran.code, ran.json["messages"])
    assert f"main/{name}:1 (byte 0): is no day's log; it is not read, and left alone" in ran.err
    assert 60 == len(copy.read_bytes().splitlines())
    copy.unlink()
    assert eukhe(filled, "chat", "verify").out.startswith("63 messages, ")
