"""What goes into a chat and comes out again, as a user does it: real processes, real files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eukhe.limits import NODE_BYTES_MAX, VIEW_BYTES_MIN
from tests.chat_kit import eukhe, logs, messages, session, talk

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=="  # one pixel


def test_an_import_logs_every_message_once_and_builds_the_memory(filled: Path) -> None:
    said = messages(filled)
    assert [text for _, text in talk(60)] == [message["text"] for message in said]
    assert ["user", "eukhe"] * 30 == [message["kind"] for message in said]
    assert list(range(60)) == [message["i"] for message in said]
    status = eukhe(filled, "chat", "status", "--json").json
    assert (60, 0, None, None) == (
        status["messages"],
        status["unsummarized"],
        status["owner"],
        status["lastError"],
    )
    assert status["viewBytes"] <= VIEW_BYTES_MIN + NODE_BYTES_MAX
    verified = eukhe(filled, "chat", "verify")
    assert (0, True) == (verified.code, verified.out.startswith("60 messages, 116 lines, "))
    batches = [line for line in logs(filled, "tree").splitlines() if line.startswith(b'{"merge":')]
    assert [] != batches


def test_where_no_model_is_set_the_free_one_is_set_and_that_is_said_once(home: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(2))
    said = "no model is set, so builtin/extract writes the memory's lines, offline and for nothing (memory.model)\n"
    assert said == eukhe(home, "chat", "import", "sessions", path).err
    assert eukhe(home, "chat", "import", "sessions", path).err == ""
    assert eukhe(home, "config", "get", "memory.model").out == "builtin/extract\n"


def test_the_same_file_again_adds_nothing_and_a_grown_one_its_tail(filled: Path, tmp_path: Path) -> None:
    before = logs(filled, "main")
    again = eukhe(filled, "chat", "import", "sessions", tmp_path / "talk.jsonl", "--json").json
    assert {"sessions": 1, "messages": 0, "known": 60, "repeated": 0, "differing": 0, "skipped": []} == again
    assert before == logs(filled, "main")
    session(tmp_path / "talk.jsonl", talk(3, 60), start=60)
    grown = eukhe(filled, "chat", "import", "sessions", tmp_path / "talk.jsonl", "--json").json
    assert (3, 60) == (grown["messages"], grown["known"])
    assert logs(filled, "main").startswith(before)
    assert eukhe(filled, "chat", "verify").code == 0


def test_a_long_text_comes_in_once_and_a_short_one_as_often_as_it_was_said(home: Path, tmp_path: Path) -> None:
    long, longest, short = "x" * 281, "y" * 30_000 + "z" * 40_000, "s" * 280
    texts = [("user", text) for text in (long, short, longest, long, short, longest)]
    path = session(tmp_path / "repeats.jsonl", texts)
    first = eukhe(home, "chat", "import", "sessions", path, "--json").json
    assert (6, 2) == (first["messages"], first["repeated"])  # the longest one is three messages
    other = session(tmp_path / "other.jsonl", texts[2:4], name="other")
    second = eukhe(home, "chat", "import", "sessions", other, "--json").json
    assert (0, 2) == (second["messages"], second["repeated"])


@pytest.mark.rule("D2")
def test_a_message_that_comes_again_with_other_words_keeps_its_first_ones_and_is_counted(
    home: Path, tmp_path: Path
) -> None:
    def export(*texts: str) -> Path:
        lines = [
            {"i": i, "kind": "user", "text": text, "size": 1, "date": "2026-10-01T00:00:00Z", "key": f"k{i}"}
            for i, text in enumerate(texts)
        ]
        path = tmp_path / f"{texts[0]}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    eukhe(home, "chat", "import", "sessions", export("one", "z" * 30_000))
    again = eukhe(home, "chat", "import", "sessions", export("another", "y" * 30_000), "--json").json
    assert (0, 2) == (again["messages"], again["differing"])
    assert ["one", "z" * 29_000, "z" * 1_000] == [message["text"] for message in messages(home)]


def test_an_export_whose_dates_or_keys_another_program_wrote_comes_in(home: Path, tmp_path: Path) -> None:
    lines = [
        {"i": 0, "kind": "talk", "text": "a", "size": 7, "date": "2026-10-01T00:00:00.5+0200", "key": "k" * 300},
        {"i": 1, "kind": "user", "text": "b", "size": 7, "date": "2026-10-01 00:00:01+02:00"},
        {"i": 2, "kind": "user", "text": "c", "size": 7, "date": "yesterday"},
    ]
    export = tmp_path / "export.jsonl"
    export.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ran = eukhe(home, "chat", "import", "sessions", export, "--json")
    assert (0, 2, [3]) == (ran.code, ran.json["messages"], [skipped["line"] for skipped in ran.json["skipped"]])
    assert ["2026-10-01T00:00:00+02:00", "2026-10-01T00:00:01+02:00"] == [said["date"] for said in messages(home)]
    assert eukhe(home, "chat", "import", "sessions", export, "--json").json["messages"] == 0


@pytest.mark.rule("10", "D2")
def test_a_split_text_whose_last_pieces_were_torn_off_is_made_whole_by_importing_again(
    home: Path, tmp_path: Path
) -> None:
    path = session(tmp_path / "long.jsonl", [("user", "first"), ("user", "y" * 30_000 + "z" * 40_000)])
    assert eukhe(home, "chat", "import", "sessions", path, "--json").json["messages"] == 4
    whole = messages(home)
    (log,) = (home / "chat" / "main").glob("*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2]) + lines[2][:1_000])
    again = eukhe(home, "chat", "import", "sessions", path, "--json").json
    assert (2, 2, 0) == (again["messages"], again["known"], again["repeated"])
    exported = [json.loads(line)["text"] for line in eukhe(home, "chat", "export").out.splitlines()]
    assert [message["text"] for message in whole] == exported
    assert eukhe(home, "chat", "verify").code == 0


def test_an_export_comes_in_again_unchanged_and_into_its_own_home_not_at_all(filled: Path, tmp_path: Path) -> None:
    export = tmp_path / "export.jsonl"
    export.write_text(eukhe(filled, "chat", "export").out, encoding="utf-8")
    other = tmp_path / "other"
    eukhe(other, "config", "set", "memory.viewBytes", str(VIEW_BYTES_MIN))
    assert eukhe(other, "chat", "import", "sessions", export).code == 0
    for folder in ("main", "tree"):
        assert logs(filled, folder) == logs(other, folder)
    assert (filled / "chat" / "view.json").read_bytes() == (other / "chat" / "view.json").read_bytes()
    assert eukhe(filled, "chat", "import", "sessions", export, "--json").json["messages"] == 0


def test_images_go_out_and_come_in_with_their_messages(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "image.jsonl"
    blocks = [
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}},
    ]
    record = {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "timestamp": "2026-10-01T00:00:00Z",
        "message": {"role": "user", "content": blocks},
    }
    path.write_text(json.dumps(record), encoding="utf-8")
    eukhe(home, "chat", "import", "sessions", path)
    (message,) = messages(home)
    (name,) = message["images"]
    assert f"look\n[image {name[:12]}]" == message["text"]
    shown = eukhe(home, "chat", "zoom", "0", "--json").json["message"]
    assert [str(home / "chat" / "images" / name)] == shown["images"]
    export = tmp_path / "export.jsonl"
    export.write_text(eukhe(home, "chat", "export").out, encoding="utf-8")
    other = tmp_path / "other"
    eukhe(other, "chat", "import", "sessions", export)
    assert logs(home, "main") == logs(other, "main")
    assert (home / "chat" / "images" / name).read_bytes() == (other / "chat" / "images" / name).read_bytes()


def test_an_export_leaves_out_what_it_is_told_to(filled: Path) -> None:
    lines = eukhe(filled, "chat", "export", "--without", "1", "--without", "3").out.splitlines()
    assert [0, 2, 4] == [json.loads(line)["i"] for line in lines][:3]
    markdown = eukhe(filled, "chat", "export", "--format", "markdown").out
    assert markdown.startswith("## 0 · user · 2026-10-01 00:00:00 +00:00\n\nword 0 of the talk")
    assert (1, "eukhe: No message 99.\n") == (eukhe(filled, "chat", "export", "--without", "99")[::2])


def test_an_empty_path_is_wrong_usage_and_a_folder_without_sessions_makes_no_home(home: Path, tmp_path: Path) -> None:
    assert eukhe(home, "chat", "import", "sessions", "").code == 2
    (tmp_path / "empty").mkdir()
    ran = eukhe(home, "chat", "import", "sessions", tmp_path / "empty", "--json")
    assert (0, 0, 1) == (ran.code, ran.json["messages"], len(ran.json["skipped"]))
    assert eukhe(home, "memory", "build").code == 1
    assert not home.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take another user's place")
def test_a_file_that_another_user_may_not_read_is_a_failure_and_no_wrong_usage(tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(2))
    path.chmod(0)
    code = (
        # Imported first: that user may not be able to read this Python.
        "import json, os, sys; from eukhe.cli import chat_import_sessions; from eukhe.cli.main import run;"
        "os.setuid(65534);"
        f"sys.exit(run(['--home', '/nonexistent/home', 'chat', 'import', 'sessions', {str(path)!r}]))"
    )
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert (1, f"eukhe: {path}: can't be read: Permission denied\n") == (done.returncode, done.stderr)


@pytest.mark.parametrize(
    ("path", "said"),
    [("missing", "No such file or directory"), ("notes.txt", "no session of a known format"), ("a.bin", "no session")],
)
def test_a_path_that_can_not_be_imported_is_named(home: Path, tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / "notes.txt").write_text("nothing of a session\n", encoding="utf-8")
    (tmp_path / "a.bin").write_bytes(bytes(range(256)) * 10)
    ran = eukhe(home, "chat", "import", "sessions", tmp_path / path)
    assert (1, "") == (ran.code, ran.out)
    assert str(tmp_path / path) in ran.err
    assert said in ran.err
    assert not home.exists()


def test_a_broken_line_costs_that_line_and_is_named(home: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", talk(2))
    with path.open("ab") as file:
        file.write(b'{"type":"user","uuid":\n')
    session(path, talk(2, 2), start=2)
    ran = eukhe(home, "chat", "import", "sessions", path, "--json")
    assert (0, 4) == (ran.code, ran.json["messages"])
    (skipped,) = ran.json["skipped"]
    assert (str(path), 3) == (skipped["path"], skipped["line"])
