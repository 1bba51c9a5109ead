"""The user's own texts: AGENTS.md in the home, and the folder of `memory.prompts`."""

import os
from pathlib import Path

import pytest

from eukhe.errors import SettingsError
from eukhe.limits import INSTRUCTIONS_BYTES_MAX, PROMPT_BYTES_MAX
from eukhe.model.prompt import texts
from eukhe.world.config import load, store
from eukhe.world.prompts import Prompts, load_prompts


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(0o700)
    return folder


@pytest.fixture
def prompts(home: Path, tmp_path: Path) -> Path:
    """The folder that `memory.prompts` names."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    store(home, "memory.prompts", str(folder))
    return folder


def loaded(home: Path) -> Prompts:
    return load_prompts(home, load(home, {}, {}))


def test_without_any_they_are_ours(home: Path) -> None:
    assert Prompts(texts(), texts().system, "", {}) == loaded(home)
    assert texts() == loaded(home / "not there").texts


@pytest.mark.rule("44")
def test_the_homes_instructions_are_the_system_prompts_end(home: Path) -> None:
    (home / "AGENTS.md").write_bytes(b"\xef\xbb\xbfBe brief.\r\nAnd kind.\r\n\r\n")
    found = loaded(home)
    assert texts("Be brief.\nAnd kind.") == found.texts
    assert ("Be brief.\nAnd kind.", {"AGENTS.md": home / "AGENTS.md"}) == (found.instructions, found.files)


def test_a_folders_texts_take_the_place_of_ours_whole(home: Path, prompts: Path) -> None:
    (home / "AGENTS.md").write_text("Be brief.")
    (prompts / "system.md").write_text("You are mine.\n")
    (prompts / "merge.md").write_text("{left} and {right}:\n{text}\n")
    (prompts / "README.md").write_text("what these are {for}")
    own = {"system.md": "You are mine.", "merge.md": "{left} and {right}:\n{text}"}
    found = loaded(home)
    assert (texts("Be brief.", own), "You are mine.") == (found.texts, found.system)
    assert {"AGENTS.md", "system.md", "merge.md"} == set(found.files)


@pytest.mark.rule("D16")
def test_a_key_in_the_users_texts_is_not_sent(home: Path, prompts: Path) -> None:
    key = "sk-ant-" + "api03-" + "A1b2C3d4" * 11
    (home / "AGENTS.md").write_text(f"Use {key}.")
    (prompts / "system.md").write_text(f"Never show {key}.")
    found = loaded(home).texts.system
    assert key not in found
    assert 2 == found.count("[secret anthropic_key ")


@pytest.mark.rule("D15")
def test_the_setting_leaves_search_out(home: Path) -> None:
    store(home, "memory.search", "off")
    assert texts(search=False) == loaded(home).texts


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"x" * (INSTRUCTIONS_BYTES_MAX + 1), "larger than 65,536 bytes, which every call would carry; shorten it"),
        (b"good \xff bad", "no UTF-8 at byte 5; save it as UTF-8"),
        (b"a\0b", "holds a NUL, so it is no text; save it as UTF-8"),
    ],
    ids=["large", "not UTF-8", "NUL"],
)
def test_instructions_that_are_no_text_are_said_with_their_file(home: Path, data: bytes, wrong: str) -> None:
    (home / "AGENTS.md").write_bytes(data)
    with pytest.raises(SettingsError) as raised:
        loaded(home)
    assert f"{home / 'AGENTS.md'}: {wrong}" == str(raised.value)


def test_the_largest_instructions_are_taken(home: Path) -> None:
    (home / "AGENTS.md").write_text("x" * INSTRUCTIONS_BYTES_MAX)
    assert INSTRUCTIONS_BYTES_MAX == len(loaded(home).instructions)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link in a circle"])
def test_what_is_no_file_is_said_and_not_waited_for(home: Path, kind: str) -> None:
    path = home / "AGENTS.md"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case _:
            path.symlink_to(path)
    with pytest.raises(SettingsError, match=r"AGENTS.md: can't be read: "):
        loaded(home)


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("message.md", "{text} {number}", r"message.md: has \{number\}; allowed: \{id\}"),
        ("too_long.md", "shorter!", r"too_long.md: has no \{text\}"),
        ("date.md", "\n", "date.md: is empty"),
        ("system.md", "x" * (PROMPT_BYTES_MAX + 1), "system.md: larger than 131,072 bytes"),
    ],
)
def test_a_text_that_can_not_take_ours_place_is_said_with_its_file(
    home: Path, prompts: Path, name: str, text: str, wrong: str
) -> None:
    (prompts / name).write_text(text)
    with pytest.raises(SettingsError, match=wrong):
        loaded(home)


def test_a_folder_that_is_not_there_is_said(home: Path, prompts: Path) -> None:
    prompts.rmdir()
    with pytest.raises(SettingsError, match=r"no folder; make it, or take memory\.prompts back"):
        loaded(home)
