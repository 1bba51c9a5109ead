"""What tools may do: the setting `allow`, and what the user allowed always."""

import json
import stat
from pathlib import Path

import pytest

from eukhe.cli.config_list import value_text
from eukhe.errors import SettingsError
from eukhe.world.allowed import FILE_NAME, allow_in, allowed_in
from eukhe.world.config import load, store
from eukhe.world.home import chat_path, make_home


@pytest.fixture
def own(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    make_home(home)
    return home


def test_the_setting_is_a_list_of_rules(own: Path) -> None:
    assert () == load(own, {}, {}).allow
    store(own, "allow", '["bash:make test", "write:src/**"]')
    assert ("bash:make test", "write:src/**") == load(own, {}, {}).allow
    assert '["bash:make test", "write:src/**"]' == value_text(load(own, {}, {}).found["allow"].value)
    store(own, "allow", "bash:git log *")
    assert ("bash:git log *",) == load(own, {}, {}).allow


@pytest.mark.parametrize("text", ["read", '["bash", 5]', "[bash]", '["bash: x"]', '{"bash": true}'])
def test_what_is_no_list_of_rules_is_refused_with_their_forms(own: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="allowed: a list of rules: bash, bash:COMMAND"):
        store(own, "allow", text)


def test_no_folder_but_the_home_allows_anything(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.json").write_text('{"allow": ["bash"]}')
    (tmp_path / FILE_NAME).write_text(json.dumps({str(tmp_path): ["bash"]}))
    monkeypatch.chdir(tmp_path)
    assert () == load(own, {}, {}).allow == allowed_in(own, tmp_path)


def test_what_is_allowed_always_holds_in_its_folder_alone(own: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    (tmp_path / "link").symlink_to(one)
    allow_in(own, one, "bash:make test")
    allow_in(own, one, "write:a")
    allow_in(own, one, "bash:make test")
    assert ("bash:make test", "write:a") == allowed_in(own, one) == allowed_in(own, tmp_path / "link")
    assert () == allowed_in(own, other)
    assert 0o600 == stat.S_IMODE((chat_path(own) / FILE_NAME).stat().st_mode)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"%s": "bash"}', '{"%s": [5, "read", null]}'])
def test_a_file_that_is_damaged_allows_nothing_and_is_written_anew(own: Path, tmp_path: Path, text: str) -> None:
    (chat_path(own) / FILE_NAME).write_text(text.replace("%s", str(tmp_path)))
    assert () == allowed_in(own, tmp_path)
    allow_in(own, tmp_path, "bash:ls")
    assert ("bash:ls",) == allowed_in(own, tmp_path)
