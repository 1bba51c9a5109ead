"""Secrets in what is imported."""

from pathlib import Path

import pytest

from tests.chat_kit import eukhe, logs, messages, session
from tests.secret_kit import KEYS, pem

PASSWORD = "tr0ub4dor&3"
OWN = {"DB_PASSWORD": PASSWORD}


@pytest.mark.rule("D16")
def test_secrets_in_sessions_are_marks_in_the_chat_and_the_same_ones_when_they_come_again(
    home: Path, tmp_path: Path
) -> None:
    key, private = KEYS["anthropic_key"], pem()
    texts = [
        ("user", f"My key is {key}."),
        ("assistant", f"{private}\nfits {PASSWORD}."),
        ("user", "x" * 28_950 + f" {key} y"),
    ]
    path = session(tmp_path / "talk.jsonl", texts)
    assert 3 == eukhe(home, "chat", "import", "sessions", path, "--json", environment=OWN).json["messages"]
    files = [file.read_bytes() for file in home.rglob("*") if file.is_file()]
    for secret in (key, private.split("\n")[3], PASSWORD, key[:60], key[-60:]):
        assert not any(secret.encode() in data for data in files)
    said = [message["text"] for message in messages(home)]
    assert said[0].startswith("My key is [secret anthropic_key ")
    assert said[1].startswith("[secret private_key ")
    assert "fits [secret DB_PASSWORD " in said[1]
    before = logs(home, "main")
    again = eukhe(home, "chat", "import", "sessions", path, "--json", environment=OWN).json
    assert (0, 3, 0) == (again["messages"], again["known"], again["differing"])
    assert before == logs(home, "main")


@pytest.mark.rule("D16")
def test_an_export_of_marks_comes_in_unchanged_elsewhere_and_at_home_not_at_all(home: Path, tmp_path: Path) -> None:
    path = session(tmp_path / "talk.jsonl", [("user", f"My key is {KEYS['npm_token']}.")])
    eukhe(home, "chat", "import", "sessions", path)
    export = tmp_path / "export.jsonl"
    export.write_text(eukhe(home, "chat", "export").out)
    assert 0 == eukhe(home, "chat", "import", "sessions", export, "--json").json["messages"]
    other = tmp_path / "other"
    assert 1 == eukhe(other, "chat", "import", "sessions", export, "--json").json["messages"]
    assert messages(home)[0]["text"] == messages(other)[0]["text"]
