"""Chats whose files are damaged, as a user meets them: what is said, what still works, what mends them."""

import os
import sqlite3
from pathlib import Path

import pytest

from eukhe.limits import VIEW_BYTES_MIN
from eukhe.world.lock import ChatLock
from tests.chat_kit import eukhe, logs, session, talk


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a talk of 60 messages in a small view, so that there are merged lines."""
    home = tmp_path / "home"
    for key, value in (("memory.viewBytes", VIEW_BYTES_MIN), ("memory.model", "builtin/extract")):
        assert eukhe(home, "config", "set", key, str(value)).code == 0
    ran = eukhe(home, "chat", "import", "sessions", session(tmp_path / "talk.jsonl", talk(60)))
    assert (0, "") == (ran.code, ran.err)
    return home


def change_index(home: Path, statement: str) -> None:
    """Makes rows of the index say what is not so."""
    index = sqlite3.connect(home / "chat" / "index.db")
    assert index.execute(statement).rowcount > 0
    index.commit()
    index.close()


# --- the index ---


@pytest.mark.parametrize(
    ("statement", "said"),
    [("UPDATE nodes SET offset = offset + 1", "leads to tree/"), ("DELETE FROM nodes", "does not have")],
)
def test_an_index_that_leads_an_import_astray_ends_it_and_no_line_is_made_up(
    home: Path, tmp_path: Path, statement: str, said: str
) -> None:
    change_index(home, statement)
    grown = session(tmp_path / "talk.jsonl", talk(40, 60), start=60)
    ran = eukhe(home, "chat", "import", "sessions", grown)
    assert (1, 1) == (ran.code, ran.err.count("\n"))
    assert ran.err.startswith(f"eukhe: index.db: {said}")
    assert "`eukhe doctor` makes it anew from the logs" in ran.err
    assert b"(lost)" not in logs(home, "tree")
    assert eukhe(home, "doctor").code == 0
    assert eukhe(home, "chat", "import", "sessions", grown).code == 0
    assert eukhe(home, "chat", "verify").code == 0
    assert b"(lost)" not in logs(home, "tree")


# --- view.json ---


def test_a_view_json_that_is_a_folder_stops_no_reading(home: Path) -> None:
    before = eukhe(home, "chat", "view")
    view = home / "chat" / "view.json"
    view.unlink()
    view.mkdir()
    said = "view.json:1 (byte 0): can't be read: Is a directory; the logs give the view\n"
    assert before._replace(err=said) == eukhe(home, "chat", "view")
    verified = eukhe(home, "chat", "verify")
    assert (0, said) == (verified.code, verified.err)


@pytest.mark.rule("7")
def test_no_one_speaks_of_view_json_while_its_owner_may_write_it(home: Path) -> None:
    (home / "chat" / "view.json").write_text("[[0,0]]")
    with ChatLock(home / "chat"):
        assert (0, "") == eukhe(home, "chat", "view")[::2]
        verified = eukhe(home, "chat", "verify")
    assert (0, 1) == (verified.code, verified.err.count("\n"))
    assert f"owned by pid {os.getpid()}" in verified.err
    assert verified.err.endswith("; view.json is left out meanwhile\n")


@pytest.mark.rule("25", "D1")
def test_a_view_json_that_is_wrong_is_said_until_an_owner_writes_it_anew(home: Path) -> None:
    (home / "chat" / "view.json").write_text("[[0,0]]")
    said = "view.json:1 (byte 0): is older than the last batch: it covers 1 of 60 messages; the logs give the view\n"
    for command in (("chat", "view"), ("chat", "verify"), ("doctor",)):
        assert (0, said) == eukhe(home, *command)[::2]
    for command in (("doctor",), ("chat", "verify")):
        assert (0, "") == eukhe(home, *command)[::2]


# --- the log ---


def broken(line: bytes, with_what: bytes) -> bytes:
    """A line whose text is overwritten, as long as it was."""
    head, mark, _ = line.partition(b'"text":"')
    return (head + mark + with_what * len(line))[: len(line) - 1] + b"\n"


@pytest.mark.parametrize("with_what", [b"\0", b"\xff"])
@pytest.mark.rule("2", "6")
def test_a_line_that_was_overwritten_is_found_by_doctor_and_closes_the_chat_until_it_is_given_up(
    home: Path, tmp_path: Path, with_what: bytes
) -> None:
    (log,) = (home / "chat" / "main").glob("*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    lines[30] = broken(lines[30], with_what)
    log.write_bytes(b"".join(lines))
    doctor = eukhe(home, "doctor")
    assert (1, "the chat can be read and not written: message 30 is missing") == (
        doctor.code,
        doctor.out.splitlines()[0],
    )
    assert f"main/{log.name}:31 (byte {sum(map(len, lines[:30]))}): " in doctor.err
    grown = session(tmp_path / "talk.jsonl", talk(1, 60), start=60)
    assert "message 30 is missing" in eukhe(home, "chat", "import", "sessions", grown).err
    assert eukhe(home, "chat", "view").code == 0
    assert eukhe(home, "doctor", "--accept-gap").code == 0
    assert eukhe(home, "chat", "zoom", "30").out == "(lost)\n"
    assert eukhe(home, "chat", "import", "sessions", grown).code == 0
    assert eukhe(home, "chat", "verify").code == 0
