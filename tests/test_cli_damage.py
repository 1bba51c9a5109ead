"""Chats whose files are damaged, as a user meets them: what is said, what still works, what mends them."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from eukhe.cli.command import Command
from eukhe.cli.output import emit
from eukhe.errors import IndexFailed
from eukhe.limits import PROBLEMS_SHOWN, VIEW_BYTES_MIN
from eukhe.world.lock import ChatLock
from tests.chat_kit import EUKHE, change_index, eukhe, logs, session, talk

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=="  # one pixel


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a talk of 60 messages in a small view, so that there are merged lines."""
    home = tmp_path / "home"
    for key, value in (("memory.viewBytes", VIEW_BYTES_MIN), ("memory.model", "builtin/extract")):
        assert eukhe(home, "config", "set", key, str(value)).code == 0
    ran = eukhe(home, "chat", "import", "sessions", session(tmp_path / "talk.jsonl", talk(60)))
    assert (0, "") == (ran.code, ran.err)
    return home


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


def overwrite_page(home: Path, table: str) -> None:
    """The root of a table is noise, as if its block of the disk had gone bad."""
    path = home / "chat" / "index.db"
    index = sqlite3.connect(path)
    (root,) = index.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    (page,) = index.execute("PRAGMA page_size").fetchone()
    index.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * page)
        file.write(b"\x5a" * page)


def overwrite_nodes(home: Path) -> None:
    overwrite_page(home, "nodes")


def overwrite_messages(home: Path) -> None:
    overwrite_page(home, "messages")


def overwrite_keys(home: Path) -> None:
    overwrite_page(home, "keys")


def overwrite_checkpoint(home: Path) -> None:
    change_index(home, "UPDATE checkpoint SET state = CAST(replace(state, '9', '8') AS BLOB)")


def name_another_file(home: Path) -> None:
    change_index(home, "UPDATE nodes SET file = 99")
    change_index(home, "UPDATE messages SET file = 99 WHERE i < 50")


def lose_nodes(home: Path) -> None:
    change_index(home, "DELETE FROM nodes WHERE key > 2")


def lose_messages(home: Path) -> None:
    change_index(home, "DELETE FROM messages WHERE i < 50")


def lead_past_the_end(home: Path) -> None:
    change_index(home, f"UPDATE nodes SET length = {1 << 60}")
    change_index(home, "UPDATE messages SET offset = -1 WHERE i < 50")


def hold_other_types(home: Path) -> None:
    change_index(home, "UPDATE nodes SET offset = 'here'")
    change_index(home, "UPDATE messages SET length = NULL WHERE i < 50")


SPOILS = [
    overwrite_nodes,
    overwrite_messages,
    overwrite_keys,
    overwrite_checkpoint,
    name_another_file,
    lose_nodes,
    lose_messages,
    lead_past_the_end,
    hold_other_types,
]
OPENED_BYTES = 48 << 10  # is room for an index to be opened, and not to grow
ASKED = (("chat", "view"), ("chat", "zoom", "30"), ("chat", "date", "31"), ("chat", "status"))


@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.rule("D1")
def test_a_bad_index_is_thrown_away_and_the_answers_stay_the_same(
    home: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    before = [eukhe(home, *command) for command in ASKED]
    spoil(home)
    after = [eukhe(home, *command) for command in ASKED]
    assert [(0, ran.out) for ran in before] == [ran[:2] for ran in after]
    said = [line for ran in after for line in ran.err.splitlines()]
    assert len(said) <= 1
    assert all("index.db" in line and line.endswith("; it is made anew from the logs") for line in said)
    spoil(home)
    again = eukhe(home, "chat", "import", "sessions", tmp_path / "talk.jsonl", "--json")
    assert (0, 0) == (again.code, again.json["messages"])
    assert eukhe(home, "doctor").code == 0
    assert (0, "") == eukhe(home, "chat", "verify")[::2]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a full disk")
@pytest.mark.parametrize("behind", [False, True])
def test_on_a_full_disk_a_chat_is_read_without_an_index_or_with_an_older_one_and_who_writes_is_told_to_make_room(
    home: Path, behind: bool
) -> None:
    index = home / "chat" / "index.db"
    older = index.read_bytes()
    more = session(home.parent / "more.jsonl", talk(60, 60), "more")
    assert eukhe(home, "chat", "import", "sessions", more).code == 0
    before = eukhe(home, "chat", "view").out
    index.write_bytes(older) if behind else index.unlink()
    (home.parent / "room").write_bytes(bytes(OPENED_BYTES if behind else 0))
    shell = """
        mount -t tmpfs -o size=256k none "$0/disk" && cp -r "$0/home" "$0/room" "$0/disk" || exit 77
        cat /dev/zero > "$0/disk/rest" 2> /dev/null
        rm -f "$0/disk/room"
        for command in "chat view" doctor; do "$@" --home "$0/disk/home" $command; echo "$?"; done
    """
    (home.parent / "disk").mkdir()
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, str(home.parent), *EUKHE],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if ran.returncode and not ran.stdout:
        pytest.skip("no file system can be mounted here")
    assert f"{before}0\n1\n" == ran.stdout
    (said,) = ran.stderr.splitlines()
    assert said.startswith("eukhe: ")
    assert said.endswith("index.db: database or disk is full; make room, and see that it may be written")


@pytest.mark.parametrize("printed", [False, True])
def test_a_command_is_run_once_more_only_where_it_has_not_printed_yet(home: Path, printed: bool) -> None:
    runs = []

    def astray() -> None:
        runs.append(1)
        if printed:
            emit("a result")
        raise IndexFailed("index.db", "leads astray")

    with pytest.raises(IndexFailed):
        Command("astray", callback=astray).main(["--home", str(home)], standalone_mode=False)
    assert (1 if printed else 2) == len(runs)
    assert printed == (home / "chat" / "index.db").exists()


@pytest.mark.rule("7", "D1")
def test_while_another_process_owns_the_chat_a_bad_index_is_left_and_the_logs_are_read(home: Path) -> None:
    before = eukhe(home, "chat", "view")
    name_another_file(home)
    bad = (home / "chat" / "index.db").read_bytes()
    with ChatLock(home / "chat"):
        after = eukhe(home, "chat", "view")
        assert bad == (home / "chat" / "index.db").read_bytes()
    assert (0, before.out, 1) == (*after[:2], after.err.count("\n"))
    assert f"owned by pid {os.getpid()}" in after.err


def test_a_proof_names_what_the_index_can_not_say_and_goes_on(home: Path) -> None:
    name_another_file(home)
    verified = eukhe(home, "chat", "verify", "--json")
    assert (1, 60, 116) == (verified.code, verified.json["messages"], verified.json["nodes"])
    said = [problem["what"] for problem in verified.json["problems"]]
    assert "index.db can't say where message 0 is: a row names a file 99 that is not there" in said
    assert "disagrees with the logs in 163 more places" == said[-1]


def test_a_missing_message_is_said_once(home: Path) -> None:
    place = overwritten(home, 30, b"\0")
    (home / "chat" / "index.db").unlink()
    for command in (("chat", "view"), ("chat", "status"), ("doctor",)):
        missing, cause = eukhe(home, *command).err.splitlines()
        assert cause.startswith(f"{place}: ")
        assert missing.endswith(
            ": message 30 is missing; the chat is open for reading only, `eukhe chat verify` lists all"
        )


@pytest.mark.parametrize("lost", ["emptied", "missing"])
def test_a_log_that_is_gone_is_said_in_a_few_lines(home: Path, lost: str) -> None:
    (log,) = (home / "chat" / "main").glob("*.jsonl")
    if lost == "emptied":
        log.write_bytes(b"")
    else:
        log.unlink()
    said = eukhe(home, "chat", "status").err.splitlines()
    assert said[0].startswith("view.json:1 (byte 0): covers 60 messages where the logs have 0")
    assert said[1].endswith(": node 0+1 stands past the last message")
    assert said[-1].endswith(" more; `eukhe chat verify` lists all")
    assert PROBLEMS_SHOWN + 1 == len(said)


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


def overwritten(home: Path, i: int, with_what: bytes) -> str:
    """Overwrites a message's line; where it lies."""
    (log,) = (home / "chat" / "main").glob("*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    lines[i] = broken(lines[i], with_what)
    log.write_bytes(b"".join(lines))
    return f"main/{log.name}:{i + 1} (byte {sum(map(len, lines[:i]))})"


@pytest.mark.parametrize("with_what", [b"\0", b"\xff"])
def test_an_export_goes_on_past_a_line_that_can_not_be_read(home: Path, with_what: bytes) -> None:
    whole = eukhe(home, "chat", "export").out.splitlines()
    place = overwritten(home, 30, with_what)
    export = eukhe(home, "chat", "export")
    assert (1, whole[:30] + whole[31:]) == (export.code, export.out.splitlines())
    broken_line, gap = export.err.splitlines()
    assert broken_line.startswith(f"{place}: ")
    assert gap.endswith(": message 30 is missing")
    assert (1, "", "eukhe: No message 30.\n") == eukhe(home, "chat", "export", "--without", "30")
    assert eukhe(home, "doctor", "--accept-gap").code == 0
    accepted = eukhe(home, "chat", "export")
    assert (0, export.out) == accepted[:2]
    assert accepted.err.endswith(": message 30 is missing, as was accepted\n")


@pytest.mark.rule("D1")
def test_a_line_of_the_tree_that_was_overwritten_is_made_anew_and_then_all_agree(home: Path, tmp_path: Path) -> None:
    (log,) = (home / "chat" / "tree").glob("*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if line.startswith(b'{"l":1,"i":3,'))
    lines[at] = broken(lines[at], b"\0")
    log.write_bytes(b"".join(lines))
    red = eukhe(home, "chat", "verify")
    assert 1 == red.code
    assert f"tree/{log.name}" in red.out
    assert red.out.splitlines()[-1].startswith("`eukhe doctor` mends what can be mended")
    assert eukhe(home, "doctor").code == 0
    assert eukhe(home, "memory", "build").code == 0
    green = eukhe(home, "chat", "verify")
    assert (0, True) == (green.code, green.out.endswith(": all agree\n"))
    assert "node 4+4 has no line for its half 6+2 before it" in green.err


def test_an_export_needs_no_index_and_says_which_images_are_gone(home: Path, tmp_path: Path) -> None:
    before = eukhe(home, "chat", "export")
    name_another_file(home)
    assert before == eukhe(home, "chat", "export")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}}
    record = {"type": "user", "uuid": "u", "sessionId": "i", "timestamp": "2026-10-03T00:00:00Z"}
    path = tmp_path / "image.jsonl"
    path.write_text(json.dumps({**record, "message": {"role": "user", "content": [image]}}))
    assert eukhe(home, "chat", "import", "sessions", path).code == 0
    (file,) = (home / "chat" / "images").iterdir()
    file.unlink()
    export = eukhe(home, "chat", "export")
    assert (1, 61, 1) == (export.code, len(export.out.splitlines()), len(export.err.splitlines()))
    assert f"message 60: its image {file.name}: No such file or directory; only its mark [image " in export.err


@pytest.mark.parametrize("with_what", [b"\0", b"\xff"])
@pytest.mark.rule("2", "6")
def test_a_line_that_was_overwritten_is_found_by_doctor_and_closes_the_chat_until_it_is_given_up(
    home: Path, tmp_path: Path, with_what: bytes
) -> None:
    place = overwritten(home, 30, with_what)
    doctor = eukhe(home, "doctor")
    assert (1, "the chat can be read and not written: message 30 is missing") == (
        doctor.code,
        doctor.out.splitlines()[0],
    )
    assert f"{place}: " in doctor.err
    grown = session(tmp_path / "talk.jsonl", talk(1, 60), start=60)
    assert "message 30 is missing" in eukhe(home, "chat", "import", "sessions", grown).err
    assert eukhe(home, "chat", "view").code == 0
    assert eukhe(home, "doctor", "--accept-gap").code == 0
    assert eukhe(home, "chat", "zoom", "30").out == "(lost)\n"
    assert eukhe(home, "chat", "import", "sessions", grown).code == 0
    assert eukhe(home, "chat", "verify").code == 0
