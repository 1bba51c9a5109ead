"""`eukhe prompt show`: the texts in force, each with its source."""

import json
from pathlib import Path

import pytest
from chat_kit import eukhe, logs, session, talk

from eukhe.cli.main import run
from eukhe.model.prompt import texts
from eukhe.model.prompt_tasks import TURN
from eukhe.world.config import store

OURS = texts()
NAMES = ["system", "instructions", "turn", "message", "merge", "too_long", *(tool.name for tool in OURS.tools)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(0o700)
    return folder


def test_it_prints_every_text_with_its_source(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["--home", str(home), "prompt", "show"])
    printed = capsys.readouterr().out
    heads = [line for line in printed.split("\n") if line.startswith("--- ") and line.endswith(" ---")]
    sources = {"instructions": "none"}
    assert [f"--- {name} ({sources.get(name, 'ours')}) ---" for name in NAMES] == heads
    assert OURS.system in printed


def test_json_has_each_text_with_its_source_and_a_tools_schema(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "AGENTS.md").write_text("Be brief.\n")
    (tmp_path / "zoom.md").write_text("Look closer.")
    store(home, "memory.prompts", str(tmp_path))
    assert 0 == run(["--home", str(home), "prompt", "show", "--json"])
    shown = {text["name"]: text for text in json.loads(capsys.readouterr().out)}
    assert NAMES == list(shown)
    assert {"name": "system", "source": "ours", "text": OURS.system, "schema": None} == shown["system"]
    assert (str(home / "AGENTS.md"), "Be brief.") == (shown["instructions"]["source"], shown["instructions"]["text"])
    assert (str(tmp_path / "zoom.md"), "Look closer.") == (shown["zoom"]["source"], shown["zoom"]["text"])
    assert ["id"] == shown["zoom"]["schema"]["required"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("turn", TURN), ("merge.md", OURS.merge), ("date", OURS.tools[1].description), ("AGENTS.md", "")],
)
def test_a_name_shows_that_text_alone(home: Path, capsys: pytest.CaptureFixture[str], name: str, text: str) -> None:
    assert 0 == run(["--home", str(home), "prompt", "show", name])
    assert f"{text}\n" == capsys.readouterr().out


@pytest.mark.rule("D15")
def test_without_search_its_tools_are_not_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(home, "memory.search", "off")
    assert 1 == run(["--home", str(home), "prompt", "show", "search"])
    assert "no text search" in capsys.readouterr().err


def test_an_unknown_name_gets_a_hint(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == run(["--home", str(home), "prompt", "show", "zom"])
    assert "eukhe: no text zom; did you mean zoom?\n" == capsys.readouterr().err


@pytest.mark.parametrize("no_service", ["1", ""], ids=["here", "in the background"])
def test_an_owner_does_not_start_with_a_text_that_can_not_be_used_and_says_which(
    home: Path, tmp_path: Path, no_service: str
) -> None:
    (home / "AGENTS.md").write_bytes(b"\xff")
    file = session(tmp_path / "session.jsonl", talk(2))
    ran = eukhe(home, "chat", "import", "sessions", file, environment={"EUKHE_NO_SERVICE": no_service})
    assert (1, "") == (ran.code, ran.out)
    assert f"eukhe: {home / 'AGENTS.md'}: no UTF-8 at byte 0; save it as UTF-8" == ran.err.strip().split("\n")[-1]
    assert b"" == logs(home, "main")


def test_it_makes_no_home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(["--home", str(tmp_path / "none"), "prompt", "show", "turn"])
    assert not (tmp_path / "none").exists()
