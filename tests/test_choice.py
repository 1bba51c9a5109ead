"""Which model is taken where the settings leave it open, and what is known of the providers."""

import json
from pathlib import Path

import pytest

from eukhe.actors.ports import Key
from eukhe.model.prices import Prices
from eukhe.model.talk import Usage
from eukhe.world.config import Settings, load
from eukhe.world.keys import keys_of
from eukhe.world.providers.choice import DEFAULTS, memory_model, turn_model
from eukhe.world.providers.registry import SCRIPT_VARIABLE, answers_turns, costs_money, writes_lines

CLAUDE, GPT = Key("anthropic", "a"), Key("openai", "b")
OWN = Key("openai", "", "http://localhost:8080/v1")


def settings(folder: Path, **values: object) -> Settings:
    """Those that a file sets; a key's dots are written as `_`."""
    tree: dict[str, object] = {}
    for name, value in values.items():
        first, _, second = name.partition("_")
        tree[first] = {second: value} if second else value
    folder.joinpath("settings.json").write_text(json.dumps(tree))
    return load(folder, {}, {})


@pytest.mark.rule("D6", "43")
@pytest.mark.parametrize(
    ("values", "keys", "turn", "line"),
    [
        ({}, [], "builtin/recall", "builtin/extract"),
        ({}, [CLAUDE], DEFAULTS["anthropic"].turn, DEFAULTS["anthropic"].line),
        ({}, [GPT, CLAUDE], DEFAULTS["anthropic"].turn, DEFAULTS["anthropic"].line),
        ({}, [GPT], DEFAULTS["openai"].turn, DEFAULTS["openai"].line),
        ({}, [OWN], "builtin/recall", "builtin/extract"),
        ({}, [Key("openai", "b", "http://localhost/v1")], "builtin/recall", "builtin/extract"),
        ({}, [Key("anthropic", "a", "http://localhost")], DEFAULTS["anthropic"].turn, DEFAULTS["anthropic"].line),
        ({"model": "openai/llama"}, [OWN], "openai/llama", "openai/llama"),
        ({"model": "openai/gpt-5"}, [GPT], "openai/gpt-5", DEFAULTS["openai"].line),
        ({"model": "anthropic/x"}, [], "anthropic/x", "builtin/extract"),
        ({"model": "anthropic/x"}, [GPT], "anthropic/x", "builtin/extract"),
        ({"model": "builtin/recall"}, [CLAUDE], "builtin/recall", "builtin/extract"),
        ({"model": "anthropic/x", "memory_model": "openai/y"}, [], "anthropic/x", "openai/y"),
        ({"memory_model": "builtin/extract"}, [CLAUDE], DEFAULTS["anthropic"].turn, "builtin/extract"),
    ],
)
def test_the_model_of_turns_and_the_cheap_one_of_lines(
    tmp_path: Path, values: dict[str, str], keys: list[Key], turn: str, line: str
) -> None:
    chosen = settings(tmp_path, **values)
    assert (turn, line) == (turn_model(chosen, keys)[0], memory_model(chosen, keys)[0])
    assert answers_turns(turn)
    assert writes_lines(line)


def test_what_nobody_chose_is_said_and_what_somebody_chose_is_not(tmp_path: Path) -> None:
    said = (
        "no model is set, so builtin/recall answers, offline and from the memory alone (model)",
        "no model is set, so builtin/extract writes the memory's lines, offline and for nothing (memory.model)",
    )
    nothing = settings(tmp_path)
    assert said == (turn_model(nothing, [])[1], memory_model(nothing, [])[1])
    assert turn_model(nothing, [OWN])[1].endswith("; a server of your own has models of its own")
    assert "no model is set, so anthropic/" in turn_model(nothing, [CLAUDE])[1]
    chosen = settings(tmp_path, model="openai/x", memory_model="openai/y")
    assert ("", "") == (turn_model(chosen, [])[1], memory_model(chosen, [])[1])


def test_which_models_there_are_and_what_each_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SCRIPT_VARIABLE, raising=False)
    both, none = ["anthropic/x", "openai/a/b:c"], ["", "x", "openai", "openai/", "nobody/x", "scripted/x", 5, None]
    assert all(writes_lines(model) and answers_turns(model) and costs_money(model) for model in both)
    assert not any(writes_lines(model) or answers_turns(model) for model in none)
    assert (True, False) == (writes_lines("builtin/extract"), answers_turns("builtin/extract"))
    assert (False, True) == (writes_lines("builtin/recall"), answers_turns("builtin/recall"))
    assert not costs_money("builtin/extract") and not costs_money("scripted/x")
    monkeypatch.setenv(SCRIPT_VARIABLE, "somewhere")
    assert writes_lines("scripted/x") and answers_turns("scripted/x")


def test_keys_come_from_the_environment_and_addresses_from_the_settings(tmp_path: Path) -> None:
    chosen = settings(tmp_path, openai_baseUrl="http://localhost:1/v1")
    environment = {"ANTHROPIC_API_KEY": " sk-1\n", "ANTHROPIC_BASE_URL": "http://example.com", "OTHER_API_KEY": "x"}
    assert (Key("anthropic", "sk-1"), Key("openai", "", "http://localhost:1/v1")) == keys_of(environment, chosen)
    assert () == keys_of({}, settings(tmp_path))


def test_an_address_may_come_from_the_environment_too(tmp_path: Path) -> None:
    chosen = load(
        tmp_path, {"EUKHE_ANTHROPIC_BASE_URL": "http://localhost:2"}, {"openai.baseUrl": "http://localhost:3"}
    )
    assert (Key("anthropic", "", "http://localhost:2"), Key("openai", "", "http://localhost:3")) == keys_of({}, chosen)


def test_what_is_taken_where_nobody_chose_has_a_known_price_and_lines_are_the_cheaper() -> None:
    for defaults in DEFAULTS.values():
        turn, line = (Prices().usd(model, Usage(input=10**6)) for model in defaults)
        assert turn is not None and line is not None
        assert line < turn


def test_a_key_is_not_shown() -> None:
    assert "sk-1" not in repr(Key("anthropic", "sk-1", "http://localhost"))
