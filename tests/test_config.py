"""The settings: where each comes from, what is refused, how the file is written."""

import json
import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.cli.main import run
from eukhe.errors import SettingsError
from eukhe.model.chat import ChatLimits
from eukhe.world.config import SETTINGS, Found, load, setting_of, store
from eukhe.world.providers.registry import LINE_MODELS, TURN_MODELS

ADDRESS = "an address as http://localhost:8080/v1, no user in it"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(0o700)
    return folder


def write(home: Path, text: str) -> Path:
    file = home / "settings.json"
    file.write_text(text)
    return file


def test_without_a_file_every_setting_is_its_default(home: Path) -> None:
    settings = load(home, {}, {})
    assert {key: Found(setting.default, "default") for key, setting in SETTINGS.items()} == settings.found
    assert settings.text("memory.model") is None
    assert ChatLimits() == settings.chat_limits()


def test_a_flag_beats_the_environment_beats_the_file_for_a_turns_settings(home: Path) -> None:
    write(home, '{"model": "openai/file", "thinking": "low"}')
    assert Found("openai/file", "file") == load(home, {}, {}).found["model"]
    environment = {"EUKHE_MODEL": "openai/environment", "EUKHE_THINKING": "high"}
    assert Found("openai/environment", "environment EUKHE_MODEL") == load(home, environment, {}).found["model"]
    settings = load(home, environment, {"model": "openai/flag"})
    assert Found("openai/flag", "flag --model") == settings.found["model"]
    assert Found("high", "environment EUKHE_THINKING") == settings.found["thinking"]


def test_an_empty_variable_is_no_setting(home: Path) -> None:
    assert Found(None, "default") == load(home, {"EUKHE_MODEL": ""}, {}).found["model"]


def test_the_memorys_settings_come_from_the_file_alone() -> None:
    assert {
        "model": "EUKHE_MODEL",
        "thinking": "EUKHE_THINKING",
        "anthropic.baseUrl": "EUKHE_ANTHROPIC_BASE_URL",
        "openai.baseUrl": "EUKHE_OPENAI_BASE_URL",
    } == {key: setting.variable for key, setting in SETTINGS.items() if setting.variable}


@pytest.mark.rule("23", "33")
def test_view_bytes_scale_both_views(home: Path) -> None:
    write(home, '{"memory": {"viewBytes": 40001}}')
    limits = load(home, {}, {}).chat_limits()
    assert ChatLimits(ceiling=40001, floor=20000, compaction_ceiling=10000, compaction_floor=5000) == limits


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("model", "gpt", TURN_MODELS),
        ("model", 5, TURN_MODELS),
        ("model", "builtin/extract", TURN_MODELS),
        ("model", "openai/", TURN_MODELS),
        ("model", "openai/a b", TURN_MODELS),
        ("memory.model", "builtin/recall", LINE_MODELS),
        ("memory.model", "nobody/none", LINE_MODELS),
        ("openai.baseUrl", "localhost:8080", ADDRESS),
        ("openai.baseUrl", "file:///etc/passwd", ADDRESS),
        ("openai.baseUrl", "http://", ADDRESS),
        ("openai.baseUrl", "http://" + "user:word@localhost/v1", ADDRESS),
        ("openai.baseUrl", "http://localhost:99999/v1", ADDRESS),
        ("anthropic.baseUrl", "http://localhost/v1?key=1", ADDRESS),
        ("thinking", "hard", "one of off, minimal, low, medium, high, xhigh, max"),
        ("memory.settleTimeoutMs", -1, "a whole number from 0 to 600000"),
        ("memory.settleTimeoutMs", True, "a whole number from 0 to 600000"),
        ("memory.viewBytes", 7999, "a whole number from 8000 to 256000"),
        ("memory.viewBytes", 256001, "a whole number from 8000 to 256000"),
        ("memory.viewBytes", 64000.5, "a whole number from 8000 to 256000"),
        ("memory.search", 1, "true or false"),
        ("memory.dailyUsd", -0.01, "dollars, 0 to 1000000"),
        ("memory.dailyUsd", False, "dollars, 0 to 1000000"),
        ("memory.dailyUsd", 1000000.5, "dollars, 0 to 1000000"),
        ("memory.prompts", "/a\nb", "the absolute path of a folder"),
        ("memory.prompts", "prompts", "the absolute path of a folder"),
    ],
)
def test_a_wrong_value_in_the_file_is_named_with_what_is_allowed(
    home: Path, key: str, value: object, allowed: str
) -> None:
    nested: object = value
    for name in reversed(key.split(".")):
        nested = {name: nested}
    file = write(home, json.dumps(nested))
    with pytest.raises(SettingsError) as error:
        load(home, {}, {})
    assert f"{key} is {json.dumps(value)} ({file}); allowed: {allowed}" == str(error.value)


@pytest.mark.rule("D6")
def test_a_memory_model_that_no_provider_has_is_refused_clearly(home: Path) -> None:
    with pytest.raises(SettingsError, match="allowed: anthropic/NAME, openai/NAME or builtin/extract"):
        store(home, "memory.model", "nobody/some-model")


def test_a_wrong_value_of_a_variable_or_a_flag_names_it(home: Path) -> None:
    with pytest.raises(SettingsError, match=r'^thinking is "hard" \(EUKHE_THINKING\); allowed: one of '):
        load(home, {"EUKHE_THINKING": "hard"}, {})
    with pytest.raises(SettingsError, match=r'^model is "gpt" \(--model\); allowed: anthropic/NAME, '):
        load(home, {}, {"model": "gpt"})


@pytest.mark.parametrize("text", ["{", "[]", "", '{"model": }', "\x00", '"model"', "1e999"])
def test_a_malformed_file_is_said_and_left_as_it_is(home: Path, text: str) -> None:
    file = write(home, text)
    with pytest.raises(SettingsError, match=r"settings\.json:"):
        load(home, {}, {})
    with pytest.raises(SettingsError, match="mend it or move it away"):
        store(home, "model", "openai/b")
    assert text == file.read_text()


def test_a_file_that_cannot_be_read_is_said(home: Path) -> None:
    (home / "settings.json").mkdir()
    with pytest.raises(SettingsError, match=r"settings\.json: can't be read: Is a directory"):
        load(home, {}, {})


def test_unknown_keys_are_told_with_what_was_meant(home: Path) -> None:
    write(home, '{"memory": {"modle": "x", "viewBytes": 9000}, "memory.model": "x", "theme": {"dark": true}}')
    settings = load(home, {}, {})
    expected = (
        "memory.modle (did you mean memory.model?)",
        '"memory.model" (a dot stands for an object in an object)',
        "theme.dark",
    )
    assert expected == settings.unknown
    assert Found(9000, "file") == settings.found["memory.viewBytes"]


def test_a_misspelt_key_gets_a_hint() -> None:
    with pytest.raises(SettingsError, match=r"no setting memory\.viewBites \(did you mean memory\.viewBytes\?\)"):
        setting_of("memory.viewBites")


def test_writing_keeps_everything_else_in_the_file(home: Path) -> None:
    file = write(home, '{"z": [1, {"y": null}], "memory": {"unheard": 1.5, "search": false}, "model": "openai/b"}')
    store(home, "memory.viewBytes", "64000")
    expected = {
        "z": [1, {"y": None}],
        "memory": {"unheard": 1.5, "search": False, "viewBytes": 64000},
        "model": "openai/b",
    }
    assert expected == json.loads(file.read_text())
    assert list(expected) == list(json.loads(file.read_text()))


def test_unsetting_leaves_the_file_as_it_was_before(home: Path) -> None:
    store(home, "model", "openai/b")
    before = (home / "settings.json").read_bytes()
    store(home, "memory.search", "off")
    store(home, "memory.search", None)
    assert before == (home / "settings.json").read_bytes()


def test_the_file_is_the_users_alone_whatever_the_umask(home: Path) -> None:
    before = os.umask(0)
    try:
        store(home / "new", "model", "openai/b")
    finally:
        os.umask(before)
    assert 0o700 == stat.S_IMODE((home / "new").stat().st_mode)
    assert 0o600 == stat.S_IMODE((home / "new" / "settings.json").stat().st_mode)


def test_a_file_kept_elsewhere_stays_a_link(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "mine.json"
    elsewhere.write_text("{}")
    (home / "settings.json").symlink_to(elsewhere)
    store(home, "model", "openai/b")
    assert elsewhere == (home / "settings.json").readlink()
    assert {"model": "openai/b"} == json.loads(elsewhere.read_text())


def test_an_object_that_is_none_is_not_overwritten(home: Path) -> None:
    file = write(home, '{"memory": 5}')
    with pytest.raises(SettingsError, match="memory is no object; mend it first"):
        store(home, "memory.search", "on")
    assert '{"memory": 5}' == file.read_text()


def test_two_writers_lose_nothing_of_each_other(home: Path) -> None:
    store(home, "memory.search", "on")
    start = threading.Barrier(2)

    def write_often(key: str, values: list[str]) -> None:
        start.wait()
        for value in values:
            store(home, key, value)

    writers = [
        threading.Thread(target=write_often, args=("memory.viewBytes", [str(9000 + k) for k in range(30)])),
        threading.Thread(target=write_often, args=("memory.settleTimeoutMs", [str(100 + k) for k in range(30)])),
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    expected = {"memory": {"search": True, "viewBytes": 9029, "settleTimeoutMs": 129}}
    assert expected == json.loads((home / "settings.json").read_text())


@given(st.sampled_from(sorted(SETTINGS)), st.text(st.characters(exclude_categories=[])) | st.integers().map(str))
def test_no_text_gets_past_the_check_that_a_later_reading_refuses(
    tmp_path_factory: pytest.TempPathFactory, key: str, text: str
) -> None:
    home = tmp_path_factory.mktemp("any")
    try:
        value = store(home, key, text)
    except SettingsError:
        assert not (home / "settings.json").exists()
    else:
        assert Found(value, "file") == load(home, {}, {}).found[key]


def config(home: Path, *words: str) -> int:
    return run(["config", *words, "--home", str(home)])


def test_what_is_set_is_got_and_unset(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == config(home, "set", "memory.search", "off")
    assert 0 == config(home, "get", "memory.search")
    assert 0 == config(home, "get", "memory.search", "--json")
    assert 0 == config(home, "set", "memory.search", "--unset")
    assert 0 == config(home, "get", "memory.search")
    expected = 'false\n{"key":"memory.search","value":false,"source":"file"}\ntrue\n'
    assert expected == capsys.readouterr().out


def test_a_setting_without_a_value_prints_nothing_to_stdout(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == config(home, "get", "model")
    printed = capsys.readouterr()
    assert ("", f"model is not set; allowed: {TURN_MODELS}\n") == (printed.out, printed.err)


def test_the_list_shows_value_and_source(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, '{"memory": {"dailyUsd": 2.5}, "colour": 1}')
    monkeypatch.setenv("EUKHE_MODEL", "openai/b")
    assert 0 == run(["--thinking", "high", "config", "list", "--home", str(home)])
    printed = capsys.readouterr()
    head, *rows = [line.split(maxsplit=2) for line in printed.out.splitlines()]
    assert ["key", "value", "source"] == head
    assert [*SETTINGS] == [key for key, _, _ in rows]
    shown = {key: (value, source) for key, value, source in rows}
    assert ("openai/b", "environment EUKHE_MODEL") == shown["model"]
    assert ("high", "flag --thinking") == shown["thinking"]
    assert ("-", "default") == shown["openai.baseUrl"] == shown["memory.model"]
    assert ("2.5", "file") == shown["memory.dailyUsd"]
    assert f"{home / 'settings.json'}: unknown key colour\n" == printed.err


def test_the_list_as_json_has_every_key(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == config(home, "list", "--json")
    rows = json.loads(capsys.readouterr().out)
    assert list(SETTINGS) == [row["key"] for row in rows]
    assert {"key": "model", "value": None, "source": "default"} == rows[0]


def test_setting_what_a_variable_overrides_says_so(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EUKHE_MODEL", "openai/b")
    assert 0 == config(home, "set", "model", "openai/d")
    assert "but the environment has EUKHE_MODEL, which goes first\n" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("model",), ("model", "openai/b", "--unset"), ()])
def test_set_wants_a_value_or_unset_and_not_both(home: Path, words: tuple[str, ...]) -> None:
    assert 2 == config(home, "set", *words)


def test_a_malformed_file_is_one_line_and_exit_1(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(home, '{"model": "openai/b"')
    assert 1 == config(home, "list")
    printed = capsys.readouterr()
    assert "" == printed.out
    assert printed.err.startswith(f"eukhe: {file}:1:21: no JSON: ")
    assert 1 == printed.err.count("\n")
