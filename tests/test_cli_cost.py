"""What calls cost, as a user sees it: estimates, limits, `eukhe cost`, `eukhe models`. The provider is a fake."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from fake_api import FakeApi

from tests.chat_kit import Ran, eukhe, session, talk
from tests.live.live_kit import terminal

MODEL = "anthropic/claude-haiku-5-5"
KEY = "a-key-of-a-test"


class Paying:
    """A home whose lines are written by a model that costs money."""

    def __init__(self, home: Path, folder: Path, api: FakeApi) -> None:
        self.home = home
        self.api = api
        self._folder = folder
        home.mkdir()
        self.set({})

    def set(self, memory: dict[str, object], **more: object) -> None:
        settings = {"memory": {"model": MODEL, **memory}, "anthropic": {"baseUrl": self.api.base_url}, **more}
        (self.home / "settings.json").write_text(json.dumps(settings))

    def run(self, *words: str | Path) -> Ran:
        return eukhe(self.home, *words, environment={"ANTHROPIC_API_KEY": KEY})

    def talks(self, count: int) -> Ran:
        return self.run("chat", "import", "sessions", session(self._folder / "talk.jsonl", talk(count)))


@pytest.fixture
def paying(tmp_path: Path) -> Iterator[Paying]:
    with FakeApi(keys=[KEY]) as api:
        yield Paying(tmp_path / "home", tmp_path, api)


def test_an_import_alone_calls_nobody(paying: Paying) -> None:
    assert 0 == paying.talks(8).code
    assert [] == list(paying.api.requests)
    assert "no calls were made that cost anything\n" == paying.run("cost").out


def test_building_says_first_what_it_may_cost_and_cost_says_what_it_did(paying: Paying) -> None:
    paying.talks(8)
    built = paying.run("memory", "build", "--json")
    assert (0, 0) == (built.code, built.json["unsummarized"])
    assert f"building all lines with {MODEL}: up to " in built.err
    rows = paying.run("cost", "--json").json
    (row,) = rows
    calls = list(paying.api.requests)
    assert ("compaction", MODEL, len(calls), 0) == (row["role"], row["model"], row["calls"], row["unknown"])
    assert built.json["calls"] == len(calls) > 0
    assert row["usd"] > 0
    assert {"first call"} >= set(row["misses"]) - {"batch", "unknown"}
    shown = paying.run("cost").out
    assert f"in all {len(calls)} calls, ${row['usd']:.4f}\n" in shown
    assert "no calls were made that cost anything\n" == paying.run("cost", "--since", "2999-01-01").out


@pytest.mark.parametrize("limit", [("--limit-usd", "0"), ()])
def test_nothing_is_spent_beyond_a_limit_and_that_is_said(paying: Paying, limit: tuple[str, ...]) -> None:
    paying.talks(8)
    if not limit:
        paying.set({"dailyUsd": 0})
    built = paying.run("memory", "build", "--json", *limit)
    assert (int(not limit), 0) == (built.code, built.json["calls"])  # a limit that was asked for is no failure
    assert [] == list(paying.api.requests)
    assert f"{limit[0] if limit else 'memory.dailyUsd'} ($0.0000 of $0) is spent" in built.err


def test_a_limit_that_allows_some_stops_in_between(paying: Paying) -> None:
    paying.talks(8)
    all_ = paying.run("memory", "build", "--json", "--limit-usd", "0.004")
    some = all_.json["calls"]
    assert 0 < some
    (row,) = paying.run("cost", "--json").json
    assert row["usd"] <= 0.004


def test_an_import_says_what_the_lines_will_cost_that_the_next_turn_begins_to_build(
    paying: Paying, tmp_path: Path
) -> None:
    path = session(tmp_path / "said.jsonl", talk(8))
    ran = paying.run("chat", "import", "sessions", path)
    assert 0 == ran.code
    assert re.search(
        rf"building all lines with {MODEL}: up to [1-9] calls, about \$0\.\d\d; the next turn begins it", ran.err
    )


def test_a_dry_run_says_what_would_come_in_and_cost_and_changes_nothing(paying: Paying, tmp_path: Path) -> None:
    path = session(tmp_path / "dry.jsonl", talk(8))
    dry = paying.run("chat", "import", "sessions", "--dry-run", "--json", path)
    assert (0, 1, 8, 0) == (dry.code, *(dry.json[key] for key in ("sessions", "messages", "known")))
    assert (MODEL, 10) == (dry.json["model"], dry.json["calls"])  # three long ones, 7 merges
    assert 0 < dry.json["usd"] < 0.1
    assert not (paying.home / "chat").exists()
    paying.run("chat", "import", "sessions", path)
    again = paying.run("chat", "import", "sessions", "--dry-run", path)
    assert "1 session: 0 messages would come in, 8 are there already" == again.out.splitlines()[0]
    assert [] == list(paying.api.requests)


def test_models_say_prices_keys_and_uses(paying: Paying) -> None:
    paying.set({}, prices={"openai/mine": {"input": 1, "output": 2.5}})
    rows = {row["model"]: row for row in paying.run("models", "--json").json}
    assert (0.1, 0.5, True, True) == tuple(rows[MODEL][key] for key in ("input", "output", "key", "lines"))
    assert (1, 2.5, False, False) == tuple(rows["openai/mine"][key] for key in ("input", "output", "key", "lines"))
    assert ["anthropic/claude-opus-5-5"] == [name for name, row in rows.items() if row["turns"]]
    shown = paying.run("models").out.splitlines()
    assert ["model", "input", "output"] == shown[0].split()[:3]


def test_a_model_in_use_of_which_nobody_knows_the_price_is_listed_without_one(paying: Paying) -> None:
    paying.set({"model": "openai/other"})
    (row,) = [row for row in paying.run("models", "--json").json if row["lines"]]
    assert ("openai/other", None, False) == (row["model"], row["input"], row["key"])


def test_in_a_terminal_the_tables_are_the_same_as_in_a_pipe(paying: Paying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    paying.talks(4)
    paying.run("memory", "build")
    for words in (("cost",), ("models",)):
        with terminal("--home", paying.home, *words) as (child, screen):
            shown = b""
            with suppress(OSError):  # the end of a terminal
                while piece := os.read(screen, 4_096):
                    shown += piece
            assert 0 == child.wait(60)
        assert paying.run(*words).out.splitlines() == shown.decode().splitlines()
