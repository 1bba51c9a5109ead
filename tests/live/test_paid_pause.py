"""A chat whose provider wants another key, and what makes it go on: a client that brings one, and a setting. D13."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_api import FakeApi

from tests.chat_kit import Ran, session, talk
from tests.live.live_kit import command, owner

MODEL = "anthropic/claude-haiku-5-5"
GOOD, WRONG = "a-key-that-is-good", "a-key-that-is-wrong"


class Paused:
    """A home whose owner is in the background, and waits for another key."""

    def __init__(self, home: Path, folder: Path, api: FakeApi) -> None:
        self.home = home
        home.mkdir(exist_ok=True)
        settings = {"memory": {"model": MODEL}, "anthropic": {"baseUrl": api.base_url}}
        (home / "settings.json").write_text(json.dumps(settings))
        assert 0 == self.run(WRONG, "chat", "import", "sessions", session(folder / "talk.jsonl", talk(8))).code
        self.owner = owner(home)

    def run(self, key: str, *words: str | Path) -> Ran:
        return command(self.home, *words, environment={"ANTHROPIC_API_KEY": key})

    def unbuilt(self, key: str) -> int:
        """After a build with a client's key: the lines that are still missing."""
        unbuilt: int = self.run(key, "memory", "build", "--json").json["unsummarized"]
        return unbuilt


@pytest.fixture
def paused(served: Path, tmp_path: Path) -> Iterator[Paused]:
    with FakeApi(keys=[GOOD]) as api:
        it = Paused(served, tmp_path, api)
        assert 0 < it.unbuilt(WRONG)
        assert "401" in it.run(WRONG, "chat", "status", "--json").json["lastError"]
        asked = len(api.requests)
        assert 0 < it.unbuilt(WRONG)
        assert asked == len(api.requests)  # the same key is not tried again
        yield it


@pytest.mark.rule("D13")
def test_a_client_with_another_key_makes_a_chat_go_on_that_a_401_has_paused(paused: Paused) -> None:
    assert 0 == paused.unbuilt(GOOD)
    assert paused.owner == owner(paused.home)
    assert None is paused.run(GOOD, "chat", "status", "--json").json["paused"]


@pytest.mark.rule("D13")
def test_a_setting_makes_a_chat_go_on_that_a_401_has_paused(paused: Paused) -> None:
    with FakeApi(keys=[WRONG]) as other:
        ran = paused.run(WRONG, "config", "set", "anthropic.baseUrl", other.base_url)
        assert "finishes and leaves; the next one has this" in ran.err
        assert 0 == paused.unbuilt(WRONG)
        assert len(other.requests) > 0
    assert paused.owner != owner(paused.home)
